// Owns the intent `read`: a file, a range of its lines, its first or its last lines, quoted with their place.
import type { JsonObject } from '#base/json.ts';
import type { ReflexMatch, ReflexQuestion, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { joinPath, quoteCommand, quoteResult, shellWord, spokenPath } from './answers.ts';
import { forms } from './english.ts';
import { filePage } from './file-lines.ts';
import { lastPath } from './history.ts';

type Slots = Readonly<Record<string, string>>;

export const readRule: ReflexRule = {
  purpose: 'act',
  intent: 'read',
  effect: 'read',
  examples: [
    'read README.md',
    'show me lines 10 to 20 of package.json',
    'first 5 lines of README.md',
    'what does package.json say',
  ],

  match(input) {
    const fit = input.fit(forms.read);
    if (fit === undefined) return undefined;
    const named = fit.slots['path.sure'] !== undefined && /^[^\s@]+$/.test(fit.slots.path ?? '');
    if (fit.score < NAMED && named && POLITE.test(input.text))
      return { ...fit, score: NAMED, slots: normalize(fit.slots) };
    const same = fit.slots.path === '@same' ? lastPath(input.history) : fit.slots.path;
    if (fit.slots.path === '@same' && same === undefined) return { score: fit.score, slots: {}, missing: 'path' };
    return { ...fit, slots: normalize({ ...fit.slots, ...(same === undefined ? {} : { path: same }) }) };
  },

  restate: ({ slots }) => `read ${spanWords(slots)}${spokenPath(slots.path ?? '')}`,

  missing: (): ReflexQuestion => ({
    type: 'ask',
    question: 'Read which file?',
    choices: ['list the files here'],
    fill: 'read {}',
  }),

  act(match, _input, results) {
    const { slots } = match;
    const [result] = results;
    if (slots.tail !== undefined) return readTail(slots, result);
    if (result !== undefined) return quoteFile(slots, result);
    return { type: 'call', calls: [{ name: 'read_file', arguments: readArguments(match) }] };
  },
};

/** A bare name is a question of ours, a bare name with `please` is a request. */
const NAMED = 0.7;
const POLITE = /\b(?:please|pls|plz)\W*$/i;

function readTail(slots: Slots, result: Parameters<typeof quoteCommand>[1] | undefined): ReturnType<ReflexRule['act']> {
  const command = `tail -n ${slots.tail} ${shellWord(slots.path ?? '')}`;
  if (result !== undefined) return quoteCommand(command, result);
  return { type: 'call', calls: [{ name: 'terminal', arguments: { command } }] };
}

/** Every way of naming lines becomes `from` and `to`, or `head` alone, or `tail`. */
function normalize(slots: Slots): Slots {
  const path = joinPath(slots.folder, slots.path ?? '');
  const [first, last] = slots.range?.match(/\d+/g) ?? [];
  const from = slots.line ?? first ?? slots.from;
  const to =
    slots.line ??
    last ??
    slots.to ??
    (from !== undefined && slots.head !== undefined ? String(Number(from) + Number(slots.head) - 1) : undefined);
  return {
    path,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(from === undefined && slots.head !== undefined ? { head: slots.head } : {}),
    ...(slots.tail === undefined ? {} : { tail: slots.tail }),
  };
}

function readArguments({ slots }: ReflexMatch): JsonObject {
  const path = slots.path ?? '';
  if (slots.head !== undefined) return { path, limit: Number(slots.head) };
  if (slots.from === undefined) return { path };
  const offset = Number(slots.from);
  return slots.to === undefined
    ? { path, offset }
    : { path, offset, limit: Math.max(1, Number(slots.to) - offset + 1) };
}

/** The lines under `path:from-to`, and how to go on when there are more. */
function quoteFile(slots: Slots, result: ToolResultPart): ReflexStep {
  const path = slots.path ?? '';
  if (result.isError) return quoteResult(path, result);
  const from = Number(slots.from ?? 1);
  const { lines, next } = filePage(result.text, from);
  const source = lines.length === 0 ? path : `${path}:${from}-${from + lines.length - 1}`;
  const more =
    next === undefined || slots.to !== undefined || slots.head !== undefined
      ? ''
      : `More is left: read lines ${next} to ${next + lines.length} of ${spokenPath(path)}`;
  return { type: 'say', text: more, quotes: [{ source, text: lines.map((line) => line.text).join('\n') }] };
}

function spanWords(slots: Slots): string {
  if (slots.head !== undefined) return `the first ${slots.head} lines of `;
  if (slots.tail !== undefined) return `the last ${slots.tail} lines of `;
  if (slots.from === undefined) return '';
  return slots.to === undefined ? `lines ${slots.from} to 1000000 of ` : `lines ${slots.from} to ${slots.to} of `;
}
