// Owns handles as the session keeps them: a long span is a range, its text is read from the source when somebody wants it. So may a run send
// all of a long context to sub-calls without holding it.
import type { ChildHandle, ComputedHandle, Handle, SpanHandle } from '../ask/ask-outcome.ts';
import type { ContextSource } from './context-source.ts';

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
