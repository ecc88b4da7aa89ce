// Owns what a rule can see of the memory, the snapshot in the frozen prompt with this conversation's own writes on top, and which entries a phrase
// means.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { splitWords, stemWord } from '#base/text/words.ts';
import type { ReflexInput } from '#core/agent/reflex-rule.ts';
import { type Message, type ToolCallPart, type ToolResultPart, toolCalls } from '#core/model/message.ts';

export type Target = 'memory' | 'user';

export interface KeptEntry {
  readonly target: Target;
  readonly text: string;
}

/** A memory call of this conversation that succeeded; `before` and `after` are whole entries, as far as they are known. */
export interface MemoryWrite {
  readonly action: 'add' | 'replace' | 'remove';
  readonly target: Target;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** Index of its message in the history. */
  readonly at: number;
}

export const FILES: Readonly<Record<Target, string>> = { memory: 'MEMORY.md', user: 'USER.md' };

const BLOCK = /═{20,}\n(MEMORY|USER PROFILE) [^\n]*\n═{20,}\n([\s\S]*?)(?=\n\n═{20,}|\n\n(?!§)|$)/g;

export function keptEntries(input: Pick<ReflexInput, 'system' | 'history'>): readonly KeptEntry[] {
  const entries = [...snapshotEntries(input.system)];
  for (const write of memoryWrites(input)) replay(write, entries);
  return entries;
}

function snapshotEntries(system: string): readonly KeptEntry[] {
  return [...system.matchAll(BLOCK)].flatMap(([, title, body = '']) => {
    const target: Target = title === 'MEMORY' ? 'memory' : 'user';
    return body
      .split('\n§\n')
      .flatMap((text) => (text.trim() === '' || text.startsWith('[BLOCKED') ? [] : [{ target, text: text.trim() }]));
  });
}

/** Oldest first. */
export function memoryWrites(input: Pick<ReflexInput, 'system' | 'history'>): readonly MemoryWrite[] {
  const entries: KeptEntry[] = [...snapshotEntries(input.system)];
  const writes: MemoryWrite[] = [];
  for (const done of doneCalls(input.history)) {
    if (!wroteWith('memory', done)) continue;
    for (const step of stepsOf(done.call.arguments)) {
      const write = { ...resolve(step, entries), at: done.at };
      writes.push(write);
      replay(write, entries);
    }
  }
  return writes;
}

export interface DoneCall {
  readonly call: ToolCallPart;
  readonly result: ToolResultPart;
  /** Place of the result in the messages. */
  readonly at: number;
}

export function doneCalls(messages: readonly Message[]): readonly DoneCall[] {
  const calls = new Map<string, ToolCallPart>();
  const done: DoneCall[] = [];
  for (const [at, message] of messages.entries()) {
    for (const call of toolCalls(message)) calls.set(call.callId, call);
    if (message.role !== 'tool') continue;
    const [result] = message.parts;
    const call = calls.get(result.callId);
    if (call !== undefined) done.push({ call, result, at });
  }
  return done;
}

export function succeeded({ result }: DoneCall): boolean {
  return !result.isError && result.observed.refused === undefined;
}

/** Did the agent itself write with this tool? Its answer is JSON that says so. */
export function wroteWith(tool: string, done: DoneCall): boolean {
  return done.call.name === tool && succeeded(done) && !/"success":\s*false|"staged":\s*true/.test(done.result.text);
}

export function textArgument(data: JsonObject, key: string): string {
  const value = data[key];
  return typeof value === 'string' ? value : '';
}

interface Step {
  readonly action: MemoryWrite['action'];
  readonly target: Target;
  readonly content: string | undefined;
  readonly oldText: string | undefined;
}

/** Which file the arguments of a `memory` call mean: the notes when nothing is said. */
export function memoryTarget(change: JsonObject): Target {
  return change.target === 'user' ? 'user' : 'memory';
}

/** What a `memory` call asks for, one step for each operation. */
export function stepsOf(change: JsonObject): readonly Step[] {
  const { operations } = change;
  const steps = Array.isArray(operations) && operations.length > 0 ? operations.filter(isJsonObject) : [change];
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return steps.flatMap(({ action, content, new_text, old_text }) => {
    if (action !== 'add' && action !== 'replace' && action !== 'remove') return [];
    return [{ action, target: memoryTarget(change), content: text(content ?? new_text), oldText: text(old_text) }];
  });
}

function resolve({ action, target, content, oldText }: Step, entries: readonly KeptEntry[]): Omit<MemoryWrite, 'at'> {
  const holding =
    oldText === undefined ? [] : entries.filter((entry) => entry.target === target && entry.text.includes(oldText));
  const before = action === 'add' || holding.length !== 1 ? undefined : holding[0]?.text;
  return { action, target, before, after: action === 'remove' ? undefined : content };
}

function replay(write: Omit<MemoryWrite, 'at'>, entries: KeptEntry[]): void {
  const at = entries.findIndex((entry) => entry.target === write.target && entry.text === write.before);
  if (at >= 0) entries.splice(at, 1);
  if (write.after !== undefined) entries.push({ target: write.target, text: write.after });
}

interface WithText {
  readonly text: string;
}

const SMALL = new Set(
  'the a an and or but of to in on at by for from with is are was were be been am do does did has have had i me my mine we our us you your it its this that these those he she his her they their what which who when where how about not no now any all some there than then so as if will would can could should like just also please name thing things said told'.split(
    ' ',
  ),
);
const SELF = /\b(?:i|i'm|i’m|i'd|i've|i'll|im|ive|me|my|mine|myself)\b|^(?:always|never|from now on)\b/i;

/** Words in the first person, and how the owner wants to be served, are the owner's profile; everything else is a note. */
export function targetOf(text: string): 'memory' | 'user' {
  return SELF.test(text) ? 'user' : 'memory';
}

/** 0 to 1: the share of the phrase's words that the entry holds. */
export function overlap(phrase: string, entry: string): number {
  const wanted = stemsOf(phrase);
  const own = new Set(stemsOf(entry));
  return wanted.length === 0 ? 0 : wanted.filter((stem) => own.has(stem)).length / wanted.length;
}

/** Entries with at least half of the words, best first. */
export function matchEntries<Entry extends WithText>(phrase: string, entries: readonly Entry[]): readonly Entry[] {
  const exact = entries.filter((entry) => entry.text.toLowerCase().includes(phrase.toLowerCase().trim()));
  if (exact.length > 0) return exact;
  const rated = entries
    .map((entry) => ({ entry, score: overlap(phrase, entry.text) }))
    .filter(({ score }) => score >= 0.5);
  return rated.sort((left, right) => right.score - left.score).map(({ entry }) => entry);
}

/** The one entry that stands clear of the others, or undefined. */
export function clearMatch<Entry extends WithText>(phrase: string, entries: readonly Entry[]): Entry | undefined {
  const [first, second] = matchEntries(phrase, entries);
  if (first === undefined || second === undefined) return first;
  return overlap(phrase, first.text) > overlap(phrase, second.text) ? first : undefined;
}

function stemsOf(text: string): readonly string[] {
  const words = splitWords(text).filter((word) => word.length > 1 && !SMALL.has(word));
  return words.map(stemWord);
}
