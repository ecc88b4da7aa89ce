// Owns the intents `learn` and `amend`, and writing a skill out of a trace by rule: the steps of this conversation that worked become a skill, the
// owner's correction right after a replay patches it.

import { ok, type Result } from '#base/result.ts';
import { redactSecrets } from '#base/secrets.ts';
import { isStopStem, stemWord } from '#base/text/words.ts';
import { oneLine, sliceText } from '#base/text.ts';
import type { ReflexQuote, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { bareCommand, runStep, spokenCommand } from '#core/tools/reflex-commands.ts';
import { quoteCommand } from '#core/tools/reflex-files.ts';
import { type WriteSkillReason, writeSkill } from '#mind/skills/format/write-skill.ts';
import { isCorrection } from './learning.rules.ts';
import {
  actWord,
  parametersOf,
  renderStep,
  renderSteps,
  type StepItem,
  shortStep,
  stepOf,
  type Trace,
  traceOf,
} from './procedure.ts';
import { callTool, hasFailed, lastReplay, readChange, readSkillAnswer, replayRule } from './replay-rules.ts';

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
const NO_STEPS = 'Nothing was done in this conversation that could be kept: a skill needs two steps that worked.';
const TAIL = /[\s,]+(?:at the end|too|as well|next time|from now on)[.!]?$|[.!]$/i;

const learnRule: ReflexRule = {
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
    if (trace.steps.length < FEWEST_STEPS) return { type: 'say', text: NO_STEPS };
    const draft = draftSkill(trace, slots.name);
    if (!draft.ok) return notKept('Not kept.', 'skill', draft.detail);
    const { name, content } = draft.value;
    const secret = content
      .split('\n')
      .map((line) => redactSecrets(line))
      .find((line) => /\[redacted:[\w-]{1,40}\]/.test(line));
    if (secret !== undefined)
      return notKept('Not kept: what we did holds a secret, and a skill holds none. This part does:', 'skill', secret);
    if (result === undefined) return callTool('skill_manage', { action: 'create', name, content });
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

const NO = '(?:no\\b[\\s,.;:–-]*)?(?:(?:and|then|but|please|ok|next time)[\\s,]+)*';
const SKIP = new RegExp(
  `^${NO}(?:skip|drop|leave out|remove|omit)\\s+(?:the\\s+)?step\\s+(?:number\\s+)?(?<step>\\d{1,2})(?:\\s+(?:next time|from now on))?[.!]?$`,
  'i',
);
const ALSO = new RegExp(`^${NO}(?:also|additionally)[\\s,]+(?<run>(?:run|do|execute)\\s+)?(?<command>.+)$`, 'i');

const amendRule: ReflexRule = {
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
    if (command === undefined) return patchSkill(name, { skip: Number(step) }, [], results);
    const [run, ...rest] = results;
    if (run === undefined) return runStep(command, { input, results, line: amendRule.restate(match) });
    const said = quoteCommand(command, run);
    if (hasFailed(run)) return { ...said, text: notChanged(name) };
    return patchSkill(name, { command }, said.quotes ?? [], rest);
  },
};

function notChanged(name: string): string {
  return `The skill ${name} was not changed.`;
}

/** One more command at the end, or one step less. */
type Amendment = { readonly command: string } | { readonly skip: number };

/** `quotes`: the run of the added command. */
function patchSkill(
  name: string,
  amendment: Amendment,
  quotes: readonly ReflexQuote[],
  [view, patched]: readonly ToolResultPart[],
): ReflexStep {
  if (view === undefined) return callTool('skill_view', { name });
  const seen = readSkillAnswer(view);
  if (!seen.ok) return notKept(notChanged(name), 'skill_view', seen.detail);
  const patch = amendSteps(seen.value.items, amendment);
  if (patch === undefined) return { type: 'say', text: `The skill ${name} has no such step.` };
  const { oldString, newString, added } = patch;
  if (patched === undefined)
    return callTool('skill_manage', { action: 'patch', name, old_string: oldString, new_string: newString });
  const { refusal, waiting } = readChange(patched);
  if (refusal !== undefined) return notKept(notChanged(name), 'skill_manage', refusal, quotes);
  const gone = 'skip' in amendment ? seen.value.items[amendment.skip - 1]?.source : undefined;
  const quote = { source: gone === undefined ? `skill ${name}` : `taken out of ${name}`, text: gone ?? added };
  const done = `Patched the skill ${name}:${'skip' in amendment ? ` step ${amendment.skip} is out.` : ''}`;
  const text =
    waiting === undefined ? done : `It waits for your yes: /pending accept ${waiting} changes the skill ${name}:`;
  return { type: 'say', text, quotes: [...quotes, quote] };
}

/** `added`: the step that is new, in words; empty when one went. */
function amendSteps(items: readonly StepItem[], amendment: Amendment) {
  const before = items.map(({ source }) => source);
  const bodies = before.map((source) => source.replace(/^\d{1,3}[.)]\s+/, ''));
  const isLess = 'skip' in amendment;
  if (isLess && (bodies.length < 2 || bodies[amendment.skip - 1] === undefined)) return undefined;
  const added = isLess ? '' : renderStep({ kind: 'call', tool: 'terminal', arguments: { command: amendment.command } });
  const changed = isLess ? bodies.toSpliced(amendment.skip - 1, 1) : [...bodies, added];
  const after = changed.map((body, index) => `${index + 1}. ${body}`);
  return { ...smallest(before.join('\n'), after.join('\n')), added };
}

/** Lines that are equal at the beginning stay out of the patch, but for the last of them: it makes the place unique. */
function smallest(oldText: string, newText: string) {
  const [before, after] = [oldText.split('\n'), newText.split('\n')];
  let same = 0;
  while (same < before.length - 1 && same < after.length - 1 && before[same] === after[same]) same += 1;
  const from = Math.max(0, same - (before[same] === after[same] ? 0 : 1));
  return { oldString: before.slice(from).join('\n'), newString: after.slice(from).join('\n') };
}

const NAME_WORDS = 4;
const LONGEST_NAME = 40;
const LONGEST_DESCRIPTION = 60;
const LONGEST_LINE = 200;
const MOST_LINES = 5;

/** What a spoken request consists of beside its topic. */
const REQUEST_WORDS =
  /^(?:please|run|execute|do|now|then|also|read|show|find|list|check|use|start|make|go|no|yes|ok|and|the)$/i;

/** `content`: whole SKILL.md. */
export function draftSkill(
  trace: Trace,
  wanted = '',
): Result<{ readonly name: string; readonly content: string }, WriteSkillReason> {
  const name = skillName(wanted) || nameOf(trace);
  const body = [
    `# ${name}`,
    `## When to use\n\n${whenToUse(trace, name)}`,
    ...parameterSection(trace),
    `## Steps\n\n${renderSteps(trace.steps)}`,
    ...constraintSection(trace),
  ].join('\n\n');
  const fields = { name, description: descriptionOf(trace, name), body };
  const written = writeSkill({ ...fields, metadata: { version: '1.0.0', author: 'reflex/1' } }, LONGEST_DESCRIPTION);
  return written.ok ? ok({ name, content: written.value }) : written;
}

/** Kebab-case out of any words; empty when nothing is left. */
function skillName(words: string): string {
  const kebab = words
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
  return sliceText(kebab.replace(/^-+|-+$/g, ''), LONGEST_NAME).replace(/-+$/, '');
}

/** The content words of what was asked for, else what the commands do: an answer such as `1` names nothing. */
function nameOf(trace: Trace): string {
  const acts = trace.steps.map(actWord).filter((word) => word !== '');
  const words =
    goalLines(trace)
      .map(contentWords)
      .find((found) => found.length > 1) ?? (acts.length > 0 ? acts : trace.steps.map(shortStep));
  return skillName([...new Set(words)].slice(0, NAME_WORDS).join(' ')) || 'procedure';
}

function contentWords(line: string): readonly string[] {
  const words = line.match(/\p{L}[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => !REQUEST_WORDS.test(word) && !isStopStem(stemWord(word.toLowerCase())));
}

/** Lines that say what is wanted rather than spelling out a command. */
function goalLines({ lines, steps }: Trace): readonly string[] {
  const commands = steps.map((step) => shortStep(step).replace(/^\S+ /, '')).filter((command) => command !== '');
  return lines
    .filter(({ text, worked }) => worked && !isCorrection(text) && !commands.some((command) => text.includes(command)))
    .map(({ text }) => text)
    .filter((text) => contentWords(text).length > 0);
}

function descriptionOf(trace: Trace, name: string): string {
  const text = goalLines(trace)[0] ?? trace.steps.map((step) => shortStep(step).replace(/^\$ /, '')).join(', ');
  const line = text.split('\n')[0]?.trim() ?? '';
  if (line !== '' && line.length <= LONGEST_DESCRIPTION) return line;
  const begin = wholeWords(line, LONGEST_DESCRIPTION - 2);
  return begin === '' ? `do ${name}` : `${begin} …`;
}

/** Never a part of a word, a path or a name: that would say something else. Empty when the first word is too long. */
function wholeWords(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.slice(0, most + 1).search(/\s\S*$/);
  return end <= 0 ? '' : text.slice(0, end).trim();
}

/** What was asked for; where only commands were given, the one that it began with. */
function whenToUse(trace: Trace, name: string): string {
  const goals = goalLines(trace).slice(0, MOST_LINES);
  const first = trace.lines.find(({ worked }) => worked)?.text;
  const asked = goals.length > 0 || first === undefined ? goals : [first];
  const lines = asked.map(stepLine).filter((text) => text !== '');
  return [...lines, `do ${name}`].map((text) => `- "${text}"`).join('\n');
}

function parameterSection({ steps }: Trace): readonly string[] {
  const names = parametersOf(steps);
  return names.length === 0 ? [] : [`## Parameters\n\n${names.map((name) => `- \`{${name}}\``).join('\n')}`];
}

function constraintSection({ deadEnds }: Trace): readonly string[] {
  const failed = deadEnds.slice(-MOST_LINES).map((done) => stepLine(shortStep(stepOf(done)).replace(/^\$ /, '')));
  const lines = failed.filter((text) => text !== '').map((text) => `- Failed: \`${text.replaceAll('`', "'")}\``);
  return lines.length === 0 ? [] : [`## Constraints\n\n${lines.join('\n')}`];
}

function stepLine(text: string): string {
  return wholeWords(oneLine(text), LONGEST_LINE);
}

export const learningRules: readonly ReflexRule[] = [replayRule, amendRule, learnRule];
