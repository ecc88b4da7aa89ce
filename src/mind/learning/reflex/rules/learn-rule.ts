// Owns the intent `learn`: the steps of this conversation that worked become a skill, through skill_manage like any other write.
// Invariant: the draft is made of the calls that ran and of the owner's lines, nothing else.

import { parseJsonObject } from '#base/json.ts';
import { redactSecrets } from '#base/secrets.ts';
import type { ReflexInput, ReflexMatch, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import { draftSkill } from '../procedure/draft-skill.ts';
import { type Trace, traceOf } from '../procedure/trace.ts';
import { fill, forms, patterns, texts } from './english.ts';
import { namedIn } from './named-in.ts';
import { pendingId } from './skill-answer.ts';

const FEWEST_STEPS = 2;

export const learnRule: ReflexRule = {
  purpose: 'memory',
  intent: 'learn',
  effect: 'home',
  examples: ['learn this as release', 'save these steps as a skill called release', '/learn release'],

  match(input) {
    const named = namedIn(input.words, patterns.learnNamed);
    if (named !== undefined) return { score: 0.98, slots: { name: named } };
    const fit = input.fit(forms.learn);
    if (fit === undefined) return undefined;
    const { name } = fit.slots;
    const slots: ReflexMatch['slots'] = name === undefined ? {} : { name };
    // Without the word skill or a name it may be a fact that is to be remembered.
    const clear = name !== undefined || /\b(?:skill|procedure|steps|learn)\b/i.test(input.words);
    return { score: clear ? Math.max(fit.score, 0.97) : 0.4, slots };
  },

  restate: ({ slots }) => (slots.name === undefined ? 'learn what we did' : `learn this as ${slots.name}`),

  act(match, input, results) {
    const [result] = results;
    const trace = recentTrace(input);
    if (trace === undefined) return { type: 'say', text: texts.noTrace };
    const draft = draftSkill(trace, match.slots.name);
    if (!draft.ok) return { type: 'say', text: texts.notLearned, quotes: [{ source: 'skill', text: draft.detail }] };
    const { name, content } = draft.value;
    const secret = secretLine(content);
    if (secret !== undefined)
      return { type: 'say', text: texts.holdsSecret, quotes: [{ source: 'skill', text: secret }] };
    if (result === undefined)
      return { type: 'call', calls: [{ name: 'skill_manage', arguments: { action: 'create', name, content } }] };
    return answer(name, content, result);
  },
};

/** The first line with a key, or with the mark of one that was taken out; the key itself is not shown. */
function secretLine(content: string): string | undefined {
  return content
    .split('\n')
    .map((line) => redactSecrets(line))
    .find((line) => /\[redacted:[\w-]{1,40}\]/.test(line));
}

function recentTrace({ history }: ReflexInput): Trace | undefined {
  const trace = traceOf(history);
  return trace.steps.length < FEWEST_STEPS ? undefined : trace;
}

function answer(name: string, content: string, result: Parameters<ReflexRule['act']>[2][number]): ReflexStep {
  const parsed = parseJsonObject(result.text);
  const failed =
    result.isError || result.observed.refused !== undefined || (parsed.ok && parsed.value.success === false);
  if (!failed) {
    const waiting = pendingId(result);
    const text = waiting === undefined ? fill(texts.learned, name) : fill(texts.waits, waiting, name);
    return { type: 'say', text, quotes: [{ source: `skill ${name}`, text: content }] };
  }
  const why = parsed.ok && typeof parsed.value.error === 'string' ? parsed.value.error : result.text;
  return { type: 'say', text: texts.notLearned, quotes: [{ source: 'skill_manage', text: why }] };
}
