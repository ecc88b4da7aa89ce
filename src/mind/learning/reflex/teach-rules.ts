// Owns the intents `learn` and `amend`: the steps of this conversation that worked become a skill, and the owner's correction right after a
// replay patches it. Every write goes through skill_manage, like any other.
// Invariants: a draft is made of calls that ran and of the owner's lines; an added command is run first, and kept only when it worked.
import { redactSecrets } from '#base/secrets.ts';
import type { ReflexQuote, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { quoteCommand } from '#core/tools/reflex/answers.ts';
import { bareCommand, spokenCommand } from '#core/tools/reflex/command-line.ts';
import { runStep } from '#core/tools/reflex/run-rules.ts';
import { renderStep, type StepItem } from '../procedure/steps.ts';
import { traceOf } from '../procedure/traces.ts';
import { draftSkill } from './draft-skill.ts';
import { hasFailed, lastReplay, readChange, readSkillAnswer } from './play-steps.ts';

const THIS =
  '(this|that|it|what (we|i|you) [just] did|(these|those|last|my last) (steps|commands)|steps|how to do (this|that|it))';
const DONE = '(what (we|i|you) [just] did|(these|those|last|my last) (steps|commands)|steps)';
const SKILL = '[a|my|new] (skill|procedure|recipe|routine)';
const CALLED = '(called|named|as|call it|name it|under the name|with the name) {name:title}';
const LEARN: readonly string[] = [
  `(learn|remember|save|keep|store|record|teach yourself|memorize|turn) ${THIS} (in|into|as|under) ${SKILL} [${CALLED}|{name:title}]`,
  `(learn|teach|record|teach yourself) ${THIS} (as|under|under the name|called) {name:title}`,
  `(save|keep|store|remember) ${DONE} (as|under|under the name|called) {name:title}`,
  `(make|create|write) [me] ${SKILL} [(out of|from|of) ${THIS}] [${CALLED}]`,
  `(teach|learn) [:] {name:title} [from|out of] ${DONE}`,
  `(learn|record|teach yourself) ${THIS}`,
  '/learn [{name:title}]',
  '(save|keep|store) (this|that|it) as {name:name} @0.5',
];
const FEWEST_STEPS = 2;
const TAIL = /[\s,]+(?:at the end|too|as well|next time|from now on)[.!]?$|[.!]$/i;

export const learnRule: ReflexRule = {
  purpose: 'memory',
  intent: 'learn',
  effect: 'home',
  examples: ['learn this as release', 'save these steps as a skill called release'],

  match(input) {
    const fit = input.fit(LEARN);
    return fit && { ...fit, slots: fit.slots.name === undefined ? {} : { name: fit.slots.name.toLowerCase() } };
  },

  restate: ({ slots }) => (slots.name === undefined ? 'learn what we did' : `learn this as ${slots.name}`),

  act({ slots }, { history }, [result]) {
    const trace = traceOf(history);
    if (trace.steps.length < FEWEST_STEPS)
      return {
        type: 'say',
        text: 'Nothing was done in this conversation that could be kept: a skill needs two steps that worked.',
      };
    const draft = draftSkill(trace, slots.name);
    if (!draft.ok) return notKept('Not kept.', 'skill', draft.detail);
    const { name, content } = draft.value;
    const secret = content
      .split('\n')
      .map((line) => redactSecrets(line))
      .find((line) => /\[redacted:[\w-]{1,40}\]/.test(line));
    if (secret !== undefined)
      return notKept('Not kept: what we did holds a secret, and a skill holds none. This part does:', 'skill', secret);
    if (result === undefined) return manage({ action: 'create', name, content });
    const { refusal, waiting } = readChange(result);
    if (refusal !== undefined) return notKept('Not kept.', 'skill_manage', refusal);
    const text =
      waiting === undefined
        ? `Kept as the skill ${name}:`
        : `It waits for your yes: /pending accept ${waiting} keeps the skill ${name}:`;
    return { type: 'say', text, quotes: [{ source: `skill ${name}`, text: content }] };
  },
};

function notKept(text: string, source: string, detail: string, quotes: readonly ReflexQuote[] = []): ReflexStep {
  return { type: 'say', text, quotes: [...quotes, { source, text: detail }] };
}

function manage(given: Readonly<Record<string, string>>): ReflexStep {
  return { type: 'call', calls: [{ name: 'skill_manage', arguments: given }] };
}

const NO = '(?:no\\b[\\s,.;:–-]*)?(?:(?:and|then|but|please|ok|next time)[\\s,]+)*';
const SKIP = new RegExp(
  `^${NO}(?:skip|drop|leave out|remove|omit)\\s+(?:the\\s+)?step\\s+(?:number\\s+)?(?<step>\\d{1,2})(?:\\s+(?:next time|from now on))?[.!]?$`,
  'i',
);
const ALSO = new RegExp(`^${NO}(?:also|additionally)[\\s,]+(?<run>(?:run|do|execute)\\s+)?(?<command>.+)$`, 'i');

export const amendRule: ReflexRule = {
  purpose: 'memory',
  intent: 'amend',
  effect: 'home',
  examples: ['skip step 2', 'leave out step 3 next time'],

  match(input) {
    const line = input.text.trim();
    const skip = SKIP.exec(line)?.groups;
    if (skip) return { score: 1, slots: { step: skip.step ?? '' } };
    // Without a replay before it `also` means something else.
    const said = lastReplay(input.history) === undefined ? undefined : ALSO.exec(line)?.groups;
    if (said === undefined) return undefined;
    const words = (said.command ?? '').replace(TAIL, '');
    const quoted = /^[`"]([^`"]+)[`"]$/.exec(words)?.[1];
    const isOrder = said.run !== undefined || quoted !== undefined;
    const spoken = isOrder ? spokenCommand(quoted ?? words, quoted !== undefined) : bareCommand(words);
    return spoken?.sure === true ? { score: 1, slots: { command: spoken.command } } : undefined;
  },

  restate: ({ slots }) => (slots.command === undefined ? `skip step ${slots.step}` : `also run \`${slots.command}\``),

  act(match, input, results) {
    const name = lastReplay(input.history);
    if (name === undefined)
      return { type: 'say', text: 'No skill was replayed right before this: nothing was changed.' };
    const { command, step } = match.slots;
    if (command === undefined) return patchSkill({ name, amendment: { skip: Number(step) }, quotes: [] }, results);
    const [run, ...rest] = results;
    if (run === undefined) return runStep(command, { input, results, line: amendRule.restate(match) });
    const said = quoteCommand(command, run);
    if (hasFailed(run)) return { ...said, text: notChanged(name) };
    return patchSkill({ name, amendment: { command }, quotes: said.quotes ?? [] }, rest);
  },
};

function notChanged(name: string): string {
  return `The skill ${name} was not changed.`;
}

interface Patching {
  readonly name: string;
  readonly amendment: Amendment;
  /** The run of the added command. */
  readonly quotes: readonly ReflexQuote[];
}

function patchSkill({ name, amendment, quotes }: Patching, [view, patched]: readonly ToolResultPart[]): ReflexStep {
  if (view === undefined) return { type: 'call', calls: [{ name: 'skill_view', arguments: { name } }] };
  const seen = readSkillAnswer(view);
  if (!seen.ok) return notKept(notChanged(name), 'skill_view', seen.detail);
  const patch = amendSteps(seen.value.items, amendment);
  if (patch === undefined) return { type: 'say', text: `The skill ${name} has no such step.` };
  const { oldString, newString, added } = patch;
  if (patched === undefined) return manage({ action: 'patch', name, old_string: oldString, new_string: newString });
  const { refusal, waiting } = readChange(patched);
  if (refusal !== undefined) return notKept(notChanged(name), 'skill_manage', refusal, quotes);
  const gone = 'skip' in amendment ? seen.value.items[amendment.skip - 1]?.source : undefined;
  const quote = { source: gone === undefined ? `skill ${name}` : `taken out of ${name}`, text: gone ?? added };
  const done = `Patched the skill ${name}:${'skip' in amendment ? ` step ${amendment.skip} is out.` : ''}`;
  const text =
    waiting === undefined ? done : `It waits for your yes: /pending accept ${waiting} changes the skill ${name}:`;
  return { type: 'say', text, quotes: [...quotes, quote] };
}

/** One more command at the end, or one step less. */
type Amendment = { readonly command: string } | { readonly skip: number };

interface StepPatch {
  readonly oldString: string;
  readonly newString: string;
  /** The step that is new, in words; empty when one went. */
  readonly added: string;
}

function amendSteps(items: readonly StepItem[], amendment: Amendment): StepPatch | undefined {
  const bodies = items.map(({ source }) => source.replace(/^\d{1,3}[.)]\s+/, ''));
  const added =
    'skip' in amendment
      ? ''
      : renderStep({ kind: 'call', tool: 'terminal', arguments: { command: amendment.command } });
  if ('skip' in amendment && (bodies.length < 2 || bodies[amendment.skip - 1] === undefined)) return undefined;
  const changed = 'skip' in amendment ? bodies.toSpliced(amendment.skip - 1, 1) : [...bodies, added];
  const before = items.map(({ source }) => source);
  const after = changed.map((body, index) => `${index + 1}. ${body}`);
  return { ...smallest(before.join('\n'), after.join('\n')), added };
}

/** Lines that are equal at the beginning stay out of the patch, but for the last of them: it makes the place unique. */
function smallest(oldText: string, newText: string): Pick<StepPatch, 'oldString' | 'newString'> {
  const [before, after] = [oldText.split('\n'), newText.split('\n')];
  let same = 0;
  while (same < before.length - 1 && same < after.length - 1 && before[same] === after[same]) same += 1;
  const from = Math.max(0, same - (before[same] === after[same] ? 0 : 1));
  return { oldString: before.slice(from).join('\n'), newString: after.slice(from).join('\n') };
}
