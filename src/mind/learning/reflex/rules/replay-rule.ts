// Owns the intent `replay`: a recorded procedure, by its name and with its values, step by step (reflex 5).
// Invariant: the steps are those of the skill as it stands now, read by skill_view, so that the use is recorded.
import type { ReflexInput, ReflexMatch, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { type CallStep, fillStep, parametersOf } from '../procedure/step.ts';
import { fill, patterns, texts } from './english.ts';
import { playSteps } from './play-steps.ts';
import { isKnownSkill, readSkillAnswer, type SeenSkill } from './skill-answer.ts';

export const replayRule: ReflexRule = {
  purpose: 'act',
  intent: 'replay',
  effect: 'write',
  examples: ['do the skill release', 'replay deploy-site with host=staging'],

  match(input) {
    const words = input.words.replace(/[.!\s]+$/, '');
    const named = patterns.namedSkill.exec(words)?.groups;
    if (named) return matchOf(0.97, named);
    const plain = (patterns.nameFirst.exec(words) ?? patterns.plainSkill.exec(words))?.groups;
    if (!plain?.name) return undefined;
    if (isKnownSkill(plain.name, input)) return matchOf(0.98, plain);
    return /[a-z]-[a-z]/i.test(plain.name) && !patterns.nameFirst.test(words) ? matchOf(0.8, plain) : undefined;
  },

  restate: ({ slots }) => replayLine(slots.name ?? '', valuesOf(slots.with ?? '')),

  act(match, input, results) {
    const [view, ...played] = results;
    if (view === undefined)
      return { type: 'call', calls: [{ name: 'skill_view', arguments: { name: match.slots.name ?? '' } }] };
    return playSkill({ view, played, values: valuesOf(match.slots.with ?? ''), input });
  },
};

interface SkillPlay {
  readonly view: ToolResultPart;
  readonly played: readonly ToolResultPart[];
  readonly values: Readonly<Record<string, string>>;
  readonly input: ReflexInput;
}

/** After skill_view: asks for what is missing, then plays. */
export function playSkill({ view, played, values, input }: SkillPlay): ReflexStep {
  const seen = readSkillAnswer(view);
  if (!seen.ok) return { type: 'say', text: '', quotes: [{ source: 'skill_view', text: seen.detail }] };
  const steps = stepsOf(seen.value);
  if (!Array.isArray(steps)) return steps as ReflexStep;
  const missing = parametersOf(steps).filter((name) => values[name] === undefined);
  if (missing.length > 0) return askFor(seen.value.name, missing, values);
  const filled = steps.map((step: CallStep) => fillStep(step, values));
  return playSteps({
    title: seen.value.name,
    steps: filled,
    results: played,
    input,
    line: replayLine(seen.value.name, values),
  });
}

/** Every step, or the answer that says why they cannot be played. */
function stepsOf({ name, items }: SeenSkill): readonly CallStep[] | ReflexStep {
  if (items.length === 0) return { type: 'say', text: fill(texts.noSteps, name) };
  const steps = items.flatMap(({ step }) => (step.kind === 'call' ? [step] : []));
  const at = items.findIndex(({ step }) => step.kind === 'words');
  if (at < 0) return steps;
  return {
    type: 'say',
    text: fill(texts.notByRule, at + 1, name),
    quotes: [{ source: `skill ${name}`, text: items[at]?.source ?? '' }],
  };
}

function askFor(name: string, missing: readonly string[], values: Readonly<Record<string, string>>): ReflexStep {
  const [first = ''] = missing;
  const text = fill(texts.needs, name, missing.join(', '));
  const line = replayLine(name, values);
  const joint = Object.keys(values).length > 0 ? ', ' : ' with ';
  return { type: 'ask', question: text, choices: [`show the skill ${name}`], fill: `${line}${joint}${first}={}` };
}

function replayLine(name: string, values: Readonly<Record<string, string>>): string {
  const given = Object.entries(values).map(
    ([key, value]) => `${key}=${/[\s,"]/.test(value) ? JSON.stringify(value) : value}`,
  );
  return `do the skill ${name}${given.length > 0 ? ` with ${given.join(', ')}` : ''}`;
}

const VALUE = /([a-z][\w-]*)=(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|`([^`]*)`|([^\s,]+))/gi;

/** `host=staging, tag="v 2"` */
function valuesOf(text: string): Readonly<Record<string, string>> {
  const pairs = [...text.matchAll(VALUE)].map(([, key = '', ...found]) => {
    const [quoted, ...others] = found;
    const value = quoted === undefined ? others.find((one) => one !== undefined) : quoted.replace(/\\(.)/g, '$1');
    return [key.toLowerCase(), value ?? ''];
  });
  return Object.fromEntries(pairs);
}

function matchOf(score: number, groups: Readonly<Record<string, string | undefined>>): ReflexMatch {
  const { name = '', with: values } = groups;
  return { score, slots: { name, ...(values === undefined ? {} : { with: values }) } };
}
