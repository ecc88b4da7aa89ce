// Owns turning what a model answered into graded sentences: what each cites, down to the source, then the gate. Makes no call by itself.
// Invariant: equal answer, handles, source and verdicts, equal sentences; total also for handles that name each other in a circle.

import { type AnswerSentence, basesOf, type ComputedHandle, type Handle } from '../outcome.ts';
import type { ByteRange } from '../repl/context-ops.ts';
import type { ContextSource } from '../repl/parted-source.ts';
import type { AnswerPart } from '../repl/repl-session.ts';
import { type CitingSentence, gradeAnswer, isUnread, type ReadByModel } from './grade-answer.ts';

export interface Conclusion {
  readonly sentences: readonly AnswerSentence[];
  /** Sentences that were too many, or rest on too much, to be judged. */
  readonly left_out: number;
}

export interface AnswerGround {
  readonly handles: readonly Handle[];
  readonly source: ContextSource;
  /** Null: no model may be asked. */
  readonly read: ReadByModel | null;
  /** Only what is quoted counts: the answer is evidence for another, or was asked for strictly. */
  readonly quotedOnly: boolean;
}

const NOT_WHOLE = 'it is no whole sentence, line, item or cell of what it cites';

const MOST_SENTENCES = 500;

export async function conclude(parts: readonly AnswerPart[], ground: AnswerGround): Promise<Conclusion> {
  const { handles, source, read, quotedOnly } = ground;
  const byId = new Map(handles.toReversed().map((handle) => [handle.id, handle]));
  const inReach = sentencesInReach(parts.slice(0, MOST_SENTENCES), handles);
  const known: Known = { byId, source, done: new Map() };
  const citing = inReach.map((part) => citingSentence(part, known));
  return {
    sentences: await gradeAnswer(citing, source, read, quotedOnly ? NOT_WHOLE : undefined),
    left_out: parts.length - inReach.length,
  };
}

/** Carries the answer: the rest is marked. */
export function isCarried({ grade }: AnswerSentence): boolean {
  return grade !== 'not-supported';
}

/** What the model is told of sentences that were refused; null: it could do nothing about them. */
export function whyRefused({ sentences }: Conclusion): string | null {
  if (sentences.length === 0)
    return 'Your answer was empty. Answer with sentences and their handles; when the material says nothing of it, end with no sentence again.';
  const refused = sentences.filter((one) => !isCarried(one) && !isUnread(one));
  if (refused.length === 0) return null;
  const shown = refused.slice(0, 5).map(({ text, why }) => `"${text.slice(0, 120)}" (${why.slice(0, 200)})`);
  const rest = refused.length > shown.length ? ` and ${refused.length - shown.length} more` : '';
  return `Not supported by what it cites: ${shown.join('; ')}${rest}. Answer once more, whole: mend these sentences or cite the lines that say them, or leave them out.`;
}

function citingSentence(part: AnswerPart, known: Known): CitingSentence {
  const handles = [...new Set(part.handles.map((id) => id.trim()))].filter((id) => id !== '');
  const unknown = handles.filter((id) => !known.byId.has(id));
  const found = handles.map((id) => restsOn(id, known, DEEPEST));
  const cited = found.flatMap(({ ranges }) => ranges);
  const computed = found.flatMap((one) => one.computed);
  const fault =
    unknown.length > 0
      ? `there is no handle ${unknown.slice(0, 5).join(', ')}`
      : cited.length + computed.length > 0
        ? null
        : handles.length === 0
          ? 'it cites nothing'
          : 'what it cites rests on nothing of the context';
  return { text: part.text, handles, cited, computed, fault };
}

interface RestsOn {
  readonly ranges: readonly ByteRange[];
  readonly computed: readonly ComputedHandle[];
}

interface Known {
  readonly byId: ReadonlyMap<string, Handle>;
  readonly source: ContextSource;
  readonly done: Map<string, RestsOn>;
}

/** Handles that rest on more than so many others, one on the other, rest on nothing. */
const DEEPEST = 40;
const ON_NOTHING: RestsOn = { ranges: [], computed: [] };

/** Each handle once; one that rests on itself rests on nothing. */
function restsOn(id: string, known: Known, depth: number): RestsOn {
  const { byId, source, done } = known;
  if (id === 'context') return { ranges: [[0, source.byte_count]], computed: [] };
  const handle = byId.get(id);
  if (handle === undefined || depth === 0) return ON_NOTHING;
  const before = done.get(id);
  if (before !== undefined) return before;
  done.set(id, ON_NOTHING);
  const found = basesUnder(handle, known, depth - 1);
  done.set(id, found);
  return found;
}

function basesUnder(handle: Handle, known: Known, depth: number): RestsOn {
  switch (handle.kind) {
    case 'span': {
      const { source_path, start_byte, end_byte } = handle.place;
      const file = known.source.files.find(({ path }) => path === source_path)?.start_byte ?? 0;
      return { ranges: [[file + start_byte, file + end_byte]], computed: [] };
    }
    case 'child': {
      const over = restsOn(handle.over, known, depth);
      return { ...over, ranges: over.ranges.map((range) => narrowed(range, handle.text, known.source)) };
    }
    case 'computed': {
      const rests = handle.inputs.map((input) => restsOn(input, known, depth));
      const isGrounded = rests.length > 0 && rests.every((one) => one.ranges.length + one.computed.length > 0);
      return isGrounded ? { ranges: [], computed: [handle] } : ON_NOTHING;
    }
  }
}

/** Where the words of a claim stand in the piece. */
function narrowed([start, end]: ByteRange, words: string, source: ContextSource): ByteRange {
  const at = source.find(words, start);
  const length = Buffer.byteLength(words);
  return at < 0 || at + length > end ? [start, end] : [at, at + length];
}

/** Characters of all that an answer rests on: the outcome holds it. */
const MOST_EVIDENCE = 8_000_000;

/** Up to the first that would need more; a long span is read to know its length, so that none behind it is. */
function sentencesInReach(parts: readonly AnswerPart[], handles: readonly Handle[]): readonly AnswerPart[] {
  const byId = new Map(handles.map((handle) => [handle.id, handle]));
  const reached = new Set<string>();
  let room = MOST_EVIDENCE;
  for (const [at, part] of parts.entries())
    for (const handle of newlyReached(part.handles, byId, reached)) {
      room -= lengthOf(handle);
      if (room < 0) return parts.slice(0, at);
    }
  return parts;
}

function lengthOf(handle: Handle): number {
  switch (handle.kind) {
    case 'span':
      return handle.quote.length;
    case 'child':
      return handle.text.length;
    case 'computed':
      return handle.code.length + handle.output.length;
  }
}

/** The handles of the answer and what they rest on, in the order of making. */
export function reachedHandles(sentences: readonly AnswerSentence[], handles: readonly Handle[]): readonly Handle[] {
  const byId = new Map(handles.map((handle) => [handle.id, handle]));
  const cited = sentences.flatMap((sentence) => [...sentence.handles]);
  const found = new Set(newlyReached(cited, byId, new Set()));
  return handles.filter((handle) => found.has(handle));
}

/** Also puts them into `reached`. */
function* newlyReached(
  ids: readonly string[],
  byId: ReadonlyMap<string, Handle>,
  reached: Set<string>,
): Generator<Handle> {
  const open = [...ids];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const handle = byId.get(id);
    if (handle === undefined || reached.has(id)) continue;
    reached.add(id);
    yield handle;
    for (const base of basesOf(handle)) open.push(base);
  }
}
