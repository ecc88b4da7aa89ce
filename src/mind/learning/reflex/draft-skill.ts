// Owns writing a skill out of a trace by rule: name, when to use, steps, constraints, each from the owner's words or from a call.
// Knows no model and no door. Invariant: it invents nothing: every sentence quotes a line, a command, a path or an exit status.
import type { Result } from '#base/result.ts';
import { stemWord } from '#base/text/stem-word.ts';
import { isStopStem } from '#base/text/stop-words.ts';
import { sliceText } from '#base/text.ts';
import { type WriteSkillReason, writeSkill } from '#mind/skills/format/write-skill.ts';
import { isCorrection } from '../counters/correction-line.ts';
import type { DoneCall } from '../counters/done-calls.ts';
import { parametersOf, renderSteps } from '../procedure/steps.ts';
import { actWord, shortStep, stepOf, type Trace } from '../procedure/traces.ts';

const NAME_WORDS = 4;
const LONGEST_NAME = 40;
const LONGEST_DESCRIPTION = 60;
const LONGEST_LINE = 200;
const MOST_LINES = 5;
const MOST_CONSTRAINTS = 5;

/** What a spoken request consists of beside its topic. */
const REQUEST_WORDS =
  /^(?:please|run|execute|do|now|then|also|read|show|find|list|check|use|start|make|go|no|yes|ok|and|the)$/i;

export interface SkillDraft {
  readonly name: string;
  /** Whole SKILL.md. */
  readonly content: string;
}

export function draftSkill(trace: Trace, wanted?: string): Result<SkillDraft, WriteSkillReason> {
  const name = skillName(wanted ?? '') || nameOf(trace);
  const body = [
    `# ${name}`,
    `## When to use\n\n${whenToUse(trace, name)}`,
    ...parameterSection(trace),
    `## Steps\n\n${renderSteps(trace.steps)}`,
    ...constraintSection(trace),
  ].join('\n\n');
  const written = writeSkill(
    { name, description: descriptionOf(trace, name), body, metadata: { version: '1.0.0', author: 'reflex/1' } },
    { longestDescription: LONGEST_DESCRIPTION },
  );
  return written.ok ? { ok: true, value: { name, content: written.value } } : written;
}

/** Kebab-case out of any words; empty when nothing is left. */
function skillName(words: string): string {
  return sliceText(
    words
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, ''),
    LONGEST_NAME,
  ).replace(/-+$/, '');
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
  return [...quotedLines(asked), `- "do ${name}"`].join('\n');
}

function parameterSection({ steps }: Trace): readonly string[] {
  const names = parametersOf(steps);
  return names.length === 0 ? [] : [`## Parameters\n\n${names.map((name) => `- \`{${name}}\``).join('\n')}`];
}

function constraintSection({ deadEnds }: Trace): readonly string[] {
  const commands = deadEnds
    .slice(-MOST_CONSTRAINTS)
    .map(commandOf)
    .filter((command) => command !== '');
  return commands.length === 0
    ? []
    : [`## Constraints\n\n${commands.map((command) => `- Failed: \`${command}\``).join('\n')}`];
}

function commandOf(done: DoneCall): string {
  return oneLine(shortStep(stepOf(done)).replace(/^\$ /, '')).replaceAll('`', "'");
}

function quotedLines(lines: readonly string[]): readonly string[] {
  return lines
    .map(oneLine)
    .filter((text) => text !== '')
    .map((text) => `- "${text}"`);
}

function oneLine(text: string): string {
  return wholeWords(text.replace(/\s+/g, ' ').trim(), LONGEST_LINE);
}
