// Owns the ReplSession seam: JavaScript that a model wrote, run in a sandbox that sees a context object, sub-calls and handles, and nothing
// of the host: no file, no net, no process, no clock, no chance; and taking its answer apart, sentence by sentence, with the handles
// of each. Implemented by create-repl-session.ts (QuickJS in a worker).
// Invariant: deterministic given code, context and replies; whatever the code does, the host lives and gets a typed outcome.

import { cutPassages } from '#base/text/passages.ts';
import { cutSentences } from '#base/text/sentences.ts';
import type { ChildHandle, ComputedHandle, Handle, SpanHandle } from '../outcome.ts';
import type { ByteRange } from './context-ops.ts';
import type { ContextSource, SourceDescription } from './parted-source.ts';

/** What the code asks of the host while it runs. Everything else of its API works on the context alone. */
export interface ReplHost {
  /** Asks a model about a piece; the reply with the claims that the piece holds. Never rejects: a failure is data. */
  query(query: SubQuery): Promise<SubReply>;
}

export interface SubQuery {
  readonly question: string;
  /** Text that is sent along; null when the code sent only words. */
  readonly piece: string | null;
  /** Handle of the piece when it is one: only then the reply can become evidence. */
  readonly over: string | null;
  /** Family that is to answer; null: the default. */
  readonly model: string | null;
  /** `rlm`: the sub-call gets a REPL of its own over the piece. */
  readonly kind: 'llm' | 'rlm';
  /** Order in which the code asked, from 1: fixed before any is answered. */
  readonly order: number;
}

export interface SubReply {
  readonly ok: boolean;
  /** The reply, or why there is none. */
  readonly text: string;
  /** Claims that the piece holds. */
  readonly claims: readonly { readonly text: string; readonly handle: string }[];
}

export interface ReplLimits {
  /** Of the sandbox; default 64 MB. */
  readonly memory_bytes: number;
  /** Of pure computing in one block, waiting for replies not counted. */
  readonly block_ms: number;
  /** Characters of printed output that the model sees of one block; the rest is counted and named. */
  readonly output_chars: number;
  readonly sub_calls: number;
}

type BlockFailure = 'threw' | 'out_of_memory' | 'out_of_time' | 'sub_call_limit' | 'sandbox_died' | 'cancelled';

export interface AnswerPart {
  readonly text: string;
  readonly handles: readonly string[];
}

export interface BlockOutcome {
  /** Printed output, cut as `output_chars` says. */
  readonly output: string;
  /** Characters that were cut. */
  readonly cut: number;
  readonly failure: { readonly reason: BlockFailure; readonly detail: string } | null;
  /** Set when the code has called `finish`. */
  readonly answer: readonly AnswerPart[] | null;
  /** Names of variables that the next block finds. */
  readonly variables: readonly string[];
}

export interface ReplSession {
  /** Runs one block; variables stay for the next. After a failure that kills the sandbox, a fresh one without variables. */
  run(code: string, signal: AbortSignal): Promise<BlockOutcome>;
  /** Every span and computed handle that the code has made so far, in order; child handles are those that the host named in its replies. */
  handles(): readonly Handle[];
  /** Byte ranges that were printed or sent in sub-calls, merged. */
  shown(): readonly (readonly [start: number, end: number])[];
  close(): Promise<void>;
}

/** What a thread is started with. */
export interface SandboxStart {
  readonly source: SourceDescription;
  readonly limits: ReplLimits;
  /** Those of blocks before, when it takes the place of one that was killed. */
  readonly handles: readonly StoredHandle[];
  readonly next_handle: number;
  /** Sub-calls that were made so far. */
  readonly asked: number;
}

/** The text of a long span is read by the session, when the host wants it. */
export interface ToldQuery extends SubQuery {
  readonly range: ByteRange | null;
}

export type ToSandbox =
  /** To a thread whose session before was closed: a new sandbox, with nothing of the old one. */
  | { readonly type: 'open'; readonly start: SandboxStart }
  | { readonly type: 'close' }
  | { readonly type: 'run'; readonly code: string }
  /** In the order of asking, whatever came first. */
  | { readonly type: 'reply'; readonly order: number; readonly reply: SubReply }
  | { readonly type: 'check'; readonly handle: ComputedHandle };

export type FromSandbox =
  | { readonly type: 'ready' }
  | { readonly type: 'queries'; readonly queries: readonly ToldQuery[]; readonly shown: readonly ByteRange[] }
  /** Nothing runs until the next message. */
  | { readonly type: 'waiting' }
  | {
      readonly type: 'done';
      readonly outcome: BlockOutcome;
      readonly handles: readonly StoredHandle[];
      readonly shown: readonly ByteRange[];
    }
  | { readonly type: 'checked'; readonly output: string | null; readonly detail: string | null }
  /** What is no fault of the code: the context was changed or cannot be read any more. */
  | { readonly type: 'fault'; readonly code: string; readonly message: string };

/** Up to so many bytes the text is kept. */
export const KEPT_BYTES = 16_384;

export interface StoredSpan extends Omit<SpanHandle, 'quote'> {
  /** Of the whole. */
  readonly start: number;
  readonly end: number;
  /** Null: it is read from the source. */
  readonly quote: string | null;
}

export type StoredHandle = StoredSpan | ChildHandle | ComputedHandle;

/** `quote` of a long span is read anew whenever it is asked for: throws TalariaError `context-changed` when the file has changed. */
export function shownHandle(handle: StoredHandle, source: ContextSource): Handle {
  if (handle.kind !== 'span') return handle;
  const { kind, id, place, start, end, quote } = handle;
  if (quote !== null) return { kind, id, place, quote };
  return {
    kind,
    id,
    place,
    get quote() {
      return source.slice(start, end).text;
    },
  };
}

/** One that comes from outside: its text is what it says. */
export function storedHandle(handle: Handle): StoredHandle {
  if (handle.kind !== 'span') return handle;
  const { kind, id, place, quote } = handle;
  return { kind, id, place, start: place.start_byte, end: place.end_byte, quote };
}

export type DeadlyFailure = Exclude<BlockFailure, 'threw' | 'sub_call_limit'>;

const DETAILS: Readonly<Record<DeadlyFailure, string>> = {
  out_of_memory: 'the block took more memory than the sandbox has',
  out_of_time: 'the block computed for too long',
  sandbox_died: 'the engine of the sandbox broke down',
  cancelled: 'stopped on request',
};
const GONE = '; its output, its handles and all variables are gone';

export function deadOutcome(reason: DeadlyFailure): BlockOutcome {
  const detail = reason === 'cancelled' ? DETAILS[reason] : DETAILS[reason] + GONE;
  return { output: '', cut: 0, failure: { reason, detail }, answer: null, variables: [] };
}

export function isDeadly(outcome: BlockOutcome): boolean {
  const reason = outcome.failure?.reason;
  return reason !== undefined && Object.hasOwn(DETAILS, reason);
}

const MOST_CHARACTERS = 200_000;
const MARK = /[ \t]*\[([\w.:#-]{1,64}(?:[ \t]*[,;][ \t]*[\w.:#-]{1,64}){0,31})\]/gu;
const OWN_ID = /^h\d{1,9}$/;

/** @param isKnown a mark that is neither a known id nor formed like one of ours is a word of the text */
export function answerParts(given: readonly AnswerPart[], isKnown: (id: string) => boolean): readonly AnswerPart[] {
  const isId = (id: string) => isKnown(id) || OWN_ID.test(id);
  let room = MOST_CHARACTERS;
  return given.flatMap(({ text, handles }) => {
    const kept = text.slice(0, room);
    room -= kept.length;
    const own = handles.map((id) => (/^\[([^\]]*)\]$/.exec(id)?.[1] ?? id).slice(0, 64));
    return sentencesOf(kept, own, isId);
  });
}

function sentencesOf(given: string, own: readonly string[], isId: (id: string) => boolean): readonly AnswerPart[] {
  const marks: { readonly at: number; readonly ids: readonly string[] }[] = [];
  let taken = 0;
  const text = given.replace(MARK, (mark, list: string, index: number) => {
    const ids = list.split(/[,;]/).map((id) => id.trim());
    if (!ids.every(isId)) return mark;
    marks.push({ at: index - taken, ids });
    taken += mark.length;
    return '';
  });
  const cut = cutPassages(text).flatMap((passage) =>
    passage.kind === 'code' ? [passage] : cutSentences(text, 'prose', { within: passage }),
  );
  const said = cut.filter(({ start, end }) => /[\p{L}\p{N}]/u.test(text.slice(start, end)));
  return said.map(({ start, end }, at) => {
    const from = at === 0 ? -1 : start;
    const to = said[at + 1]?.start ?? Number.POSITIVE_INFINITY;
    const cited = marks.filter((mark) => from < mark.at && mark.at <= to).flatMap(({ ids }) => ids);
    return { text: text.slice(start, end).replace(/\s+/g, ' '), handles: [...new Set([...own, ...cited])] };
  });
}
