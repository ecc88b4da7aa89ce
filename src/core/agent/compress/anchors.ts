// Owns what a summary says word for word, gathered without a model: what the record of tool calls says (files touched, commands and how they ended,
// errors, the task list), sentences in which something was decided or demanded, and exact values (paths, links, ids, names, numbers). Knows no
// tool but by the names of its arguments, no meaning and no budget. Invariants: of work only our own record counts, never what a model says it did;
// nothing is reworded; a value is there once, and none that still stands in the context; time grows with the length of the text only.
import { sentenceAt } from '#base/text/sentences.ts';
import { ellipsize, oneLine } from '#base/text.ts';
import type { Message, Part, TextPart, ToolCallPart, ToolResultPart } from '#core/model/message.ts';
import type { StoredMessage } from '../session-store.ts';
import type { Sections, ValueKind } from './summary.ts';

export interface Work {
  readonly done: readonly string[];
  readonly files: readonly string[];
  readonly errors: readonly string[];
}

interface Run {
  readonly id: number;
  readonly call: ToolCallPart;
  readonly result: ToolResultPart | undefined;
}

const PATH_KEYS = ['path', 'file_path', 'file', 'filename', 'from', 'to'];
const LINE = 160;
const ERROR_LINE = /\b(?:error|failed|failure|exception|not found|denied|refused|cannot|invalid|E[A-Z]{3,})\b/i;

export function gatherWork(messages: readonly StoredMessage[]): Work {
  const results = new Map<string, ToolResultPart>();
  for (const { message } of messages)
    if (message.role === 'tool') results.set(message.parts[0].callId, message.parts[0]);
  const runs = messages.flatMap(({ id, message }) =>
    message.parts.flatMap((part): Run[] =>
      part.type === 'tool-call' ? [{ id, call: part, result: results.get(part.callId) }] : [],
    ),
  );
  return { done: runs.map(doneLine), files: fileLines(runs), errors: runs.flatMap(errorLine) };
}

function doneLine({ id, call, result }: Run): string {
  const exit = result?.observed.exitCode;
  const end = exit === undefined ? (result?.isError ? 'failed' : 'ok') : `exit ${exit}`;
  return `${shortCall(call)} → ${end} #${id}`;
}

function shortCall({ name, arguments: given }: ToolCallPart): string {
  const told = [given.command, ...PATH_KEYS.map((key) => given[key]), ...Object.values(given)];
  const first = told.find((value) => typeof value === 'string');
  return first === undefined ? name : `${name}: ${oneLine(first, LINE)}`;
}

/** The file that was touched last comes last. */
function fileLines(runs: readonly Run[]): readonly string[] {
  const files = new Map<string, { readonly tools: ReadonlySet<string>; readonly last: number }>();
  for (const { id, call, result } of runs) {
    const given = result?.isError ? [] : PATH_KEYS.map((key) => call.arguments[key]);
    for (const path of given) {
      if (typeof path !== 'string' || path === '' || path.length > 300) continue;
      const key = oneLine(path);
      const tools = new Set([...(files.get(key)?.tools ?? []), call.name]);
      files.delete(key);
      files.set(key, { tools, last: id });
    }
  }
  return [...files].map(([path, { tools, last }]) => `${path}: ${[...tools].join(', ')} #${last}`);
}

function errorLine({ id, call, result }: Run): readonly string[] {
  if (!result || !(result.isError || (result.observed.exitCode ?? 0) !== 0)) return [];
  const lines = result.text.split('\n', 200).map((line) => line.trim());
  const telling = lines.find((line) => ERROR_LINE.test(line)) ?? lines.find((line) => line !== '') ?? '';
  return [`${ellipsize(shortCall(call), LINE / 2)}: ${ellipsize(telling, LINE)} #${id}`];
}

const TASK_LINE = /^\[([ >x-])\] \S+: ./;

/** The task list as its tool printed it last, what is still open first; undefined when it was not printed in these messages. */
export function latestTasks(messages: readonly Message[]): readonly string[] | undefined {
  const last = messages.findLast(
    ({ role, parts: [part] }) =>
      role === 'tool' && part.type === 'tool-result' && part.name === 'todo' && !part.isError,
  );
  const [printed] = last?.parts ?? [];
  if (printed?.type !== 'tool-result') return undefined;
  const lines = printed.text.split('\n').filter((line) => TASK_LINE.test(line));
  const isOpen = (line: string): boolean => /^\[[ >]/.test(line);
  return [...lines.filter(isOpen), ...lines.filter((line) => !isOpen(line))];
}

// What was decided or demanded: sentences with a telling word, as they were said, with who said them and where. What is too long to be a sentence
// is left to the search.

const OWNERS_CUES =
  /\b(?:decid|let['’]s|we(?:['’]ll| will| should| agreed)|must\b|never|always|don['’]t|do not|instead|rather than|prefer|from now on|make sure|remember|important|deadline|only use|go with|agreed)/gi;
const AGENTS_CUES = /\b(?:decided|agreed|chose|will use|went with|settled on|the plan is)\b/gi;
const LENGTH = { least: 12, most: 300 };
const MOST = 80;

/** The latest ones, oldest first. */
export function gatherSaid(messages: readonly StoredMessage[]): readonly string[] {
  const newest: string[] = [];
  for (const { id, message } of messages.toReversed()) {
    if (newest.length >= MOST) break;
    const said = message.parts.flatMap((part) =>
      part.type === 'text' ? sentencesWithCues(part).map((sentence) => `${part.origin}: ${sentence} #${id}`) : [],
    );
    newest.push(...said.reverse());
  }
  return newest.reverse();
}

function cuesFor({ origin, label }: TextPart): RegExp | undefined {
  if (origin === 'owner' && (label === undefined || label === 'steer')) return OWNERS_CUES;
  return origin === 'model' && label === undefined ? AGENTS_CUES : undefined;
}

function sentencesWithCues(part: TextPart): readonly string[] {
  const { text } = part;
  const cues = cuesFor(part);
  const found: string[] = [];
  let end = 0;
  for (const { index } of cues ? text.matchAll(cues) : []) {
    if (index < end) continue;
    const said = sentenceAt(text, index, 'said', LENGTH.most);
    end = said.isWhole ? said.end : index + LENGTH.most;
    const sentence = said.isWhole ? oneLine(text.slice(said.start, said.end)) : '';
    if (sentence.length >= LENGTH.least && sentence.length <= LENGTH.most) found.push(sentence);
  }
  return found;
}

// Exact values, most useful first: what the owner said before what a tool printed, often and late before once and long ago.

interface Gathered {
  readonly kind: ValueKind;
  weight: number;
  count: number;
  /** Place of the last mention among the messages. */
  last: number;
}

/** More than any budget holds. */
const MOST_OF_A_KIND = 400;
const RECENT_SHARE = 0.5;

/** @param kept what stays in the context: its values need no second place */
export function gatherValues(messages: readonly Message[], kept: readonly Message[]): Sections {
  const gathered = gather(messages);
  const stands = standingIn(kept, gathered.size);
  const score = ({ weight, count, last }: Gathered): number =>
    weight * (1 + Math.log2(count)) * (1 - RECENT_SHARE + (RECENT_SHARE * (last + 1)) / messages.length);
  const ranked = [...gathered]
    .filter(([value]) => !stands(value))
    .map(([value, one]) => ({ value, kind: one.kind, score: score(one) }))
    .sort((a, b) => b.score - a.score);
  const groups = Map.groupBy(ranked, ({ kind }) => kind);
  return Object.fromEntries(
    [...groups].map(([kind, values]) => [kind, values.slice(0, MOST_OF_A_KIND).map(({ value }) => value)]),
  );
}

/** A few values are looked for in the text itself; for many it is cheaper to gather what stands there, too. */
function standingIn(kept: readonly Message[], values: number): (value: string) => boolean {
  const standing = values > 60 ? gather(kept) : undefined;
  const parts = standing ? [] : kept.flatMap((message) => message.parts.filter((part) => weightOf(part) > 0));
  const text = parts.map(textOf).join('\n');
  return (value) => standing?.has(value) ?? text.includes(value);
}

function gather(messages: readonly Message[]): Map<string, Gathered> {
  const gathered = new Map<string, Gathered>();
  for (const [place, { parts }] of messages.entries()) for (const part of parts) gatherPart(gathered, part, place);
  return gathered;
}

function gatherPart(gathered: Map<string, Gathered>, part: Part, place: number): void {
  const weight = weightOf(part);
  for (const { kind, value } of weight === 0 ? [] : valuesIn(textOf(part))) {
    const known = gathered.get(value);
    if (known === undefined) gathered.set(value, { kind, weight, count: 1, last: place });
    else Object.assign(known, { weight: Math.max(known.weight, weight), count: known.count + 1, last: place });
  }
}

/** Context that is put in anew each turn, notices, summaries and thoughts hold nothing that would be lost. */
function weightOf(part: Part): number {
  switch (part.type) {
    case 'tool-call':
      return 3;
    case 'tool-result':
      return part.isError ? 1.5 : 1;
    case 'reasoning':
    case 'image':
      return 0;
    case 'text':
      if (part.label === 'context' || part.label === 'notice' || part.label === 'summary') return 0;
      return part.origin === 'owner' ? 4 : 2;
  }
}

function textOf(part: Part): string {
  if (part.type === 'image') return part.name ?? '';
  if (part.type !== 'tool-call') return part.text;
  return part.malformed ?? strings(part.arguments).join('\n');
}

function strings(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(strings);
}

// Words lie between blanks, quotes and brackets; a comma stands inside numbers (`8,192`) and, as other signs do, inside links. Looked for are those
// with a digit, a capital behind a small letter, or a sign of paths, names and addresses that is not at the end.
const TELLING_WORD =
  /(?<![^\s"'`()[\]{}<>,;|])(?=[^\s"'`()[\]{}<>,;|\d]*?(?:\d|[a-z][A-Z]|[/\\_@#$.=][^\s"'`()[\]{}<>,;|.]))(?:[a-zA-Z][a-zA-Z\d+.-]*:\/\/[^\s"'`)[\]}<>]+|(?:[^\s"'`()[\]{}<>,;|]|(?<=\d),(?=\d))+)/g;
const WORD_BEFORE = /(?<![^\s"'`()[\]{}<>,;|])[^\s"'`()[\]{}<>,;|]+(?= +$)/;
const NEXT_WORD = / ([^\s"'`()[\]{}<>,;|]{1,23})/y;
const LONGEST = 240;

/** The first that fits counts; most words are none. */
const KINDS: readonly (readonly [ValueKind, RegExp])[] = [
  ['Links', /^[a-z][a-z\d+.-]*:\/\/./i],
  ['Links', /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/],
  ['Values', /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-][\d:]+)?)?$/],
  ['Values', /^v\d+(?:\.\d+)+/],
  ['Ids', /^\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?$/],
  ['Ids', /^(?:#\d+|[A-Z][A-Z\d]+-\d+)$/],
  ['Values', /^[~≈<>$€£+-]?\d[\d.,:/-]*(?:%|[a-zA-Z°µ]{1,4})?(?:\/[a-z]+)?$/],
  ['Paths', /^(?:~|\.{1,2}|[A-Za-z]:|\$[A-Z_]+)?[\\/][\w.@~-]/],
  ['Paths', /^[\w.@~+-]+(?:[\\/][\w.@~+=-]+){2,}[\\/]?$/],
  ['Paths', /^\.?[\w@+-][\w@.+-]+\.[a-z][a-z\d]{0,5}$/],
  ['Paths', /^\.[a-z][\w.-]+$/],
  ['Paths', /^(?=.*[._\d-])[\w.@~+-]{2,}[\\/][\w.@~+-]{2,}$/],
  ['Ids', /^(?=.*\d)(?=.*[a-f])[\da-f-]{7,}$/i],
  ['Names', /^(?:--?|[$@#])?[A-Za-z_][\w.:=@-]*$/],
  ['Ids', /\d/],
];
/** `e.g`, `U.S` */
const INITIALS = /^(?:[A-Za-z]\.)+[A-Za-z]$/;
const WORDLIKE = /^[A-Za-z][A-Za-z'’-]{1,23}$/;
const EMPTY_WORDS = new Set(
  'the a an of in on at to for is was are were be been and or by with about from that this it its as than then we i you he she they not no so up out had has have will would can could just also only over under around after before my your our his her their'.split(
    ' ',
  ),
);

function* valuesIn(text: string): Generator<{ readonly kind: ValueKind; readonly value: string }> {
  for (const { 0: word, index } of text.matchAll(TELLING_WORD)) {
    const value = word.length <= LONGEST ? trimmed(word) : '';
    const kind = kindOf(value);
    if (kind === 'Values')
      yield { kind, value: withWords(value, wordBefore(text, index), wordAfter(text, index + word.length)) };
    else if (kind !== undefined) yield { kind, value };
  }
}

/** A number takes the words that say what it counts with it. */
function withWords(value: string, before: string, after: string): string {
  return [counting(before), value, counting(after)].filter((word) => word !== '').join(' ');
}

function wordBefore(text: string, start: number): string {
  const [before = ''] = text.slice(Math.max(0, start - LONGEST), start).match(WORD_BEFORE) ?? [];
  return /[.!?…]$/.test(before) ? '' : before;
}

function wordAfter(text: string, end: number): string {
  NEXT_WORD.lastIndex = end;
  return NEXT_WORD.exec(text)?.[1] ?? '';
}

/** Without the signs of a sentence around it. */
function trimmed(word: string): string {
  return word.replace(/[.,:;!?*~…]+$/, '').replace(/^(?:[*~:!?…](?!\/))+/, '');
}

function kindOf(value: string): ValueKind | undefined {
  if (value.length < 2 || INITIALS.test(value) || value.includes('·')) return undefined;
  return KINDS.find(([, pattern]) => pattern.test(value))?.[0];
}

function counting(neighbour: string): string {
  const word = trimmed(neighbour);
  return WORDLIKE.test(word) && !EMPTY_WORDS.has(word.toLowerCase()) ? word : '';
}
