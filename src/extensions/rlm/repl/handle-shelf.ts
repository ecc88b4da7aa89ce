// Owns the handles of a session: what each holds, and their ids in the order of making. The text of a span is read by us from the source,
// so that no code can make it say something else. Invariant: the same range, and the same computation, is one handle.
import type { ChildHandle, ComputedHandle } from '../outcome.ts';
import { ApiFault } from './context-ops.ts';
import type { PartedSource } from './parted-source.ts';
import { KEPT_BYTES, type StoredHandle, type StoredSpan } from './repl-session.ts';

const MOST_HANDLES = 10_000;
const MOST_BYTES = 32_000_000;
/** Long spans are read again by whoever looks at them: all of the context twice, and some more. */
const MOST_TIMES = 2;
export const SPAN_BYTES = 1_000_000;

export interface ShelfStart {
  readonly handles: readonly StoredHandle[];
  /** Number of the next one. */
  readonly next: number;
}

export class HandleShelf {
  readonly #source: PartedSource;
  readonly #handles = new Map<string, StoredHandle>();
  readonly #known = new Map<string, StoredHandle>();
  #fresh: StoredHandle[] = [];
  #next: number;
  #bytes = 0;
  #ranged = 0;

  constructor(source: PartedSource, { handles, next }: ShelfStart) {
    this.#source = source;
    this.#next = next;
    for (const handle of handles) this.#put(handle, keyOf(handle));
  }

  span(start: number, end: number): StoredSpan {
    const { byte_count } = this.#source;
    if (end <= start || start >= byte_count) throw new ApiFault('RangeError', 'a span has at least one byte');
    if (end - start > SPAN_BYTES)
      throw new ApiFault('RangeError', `a span has at most ${SPAN_BYTES} bytes: take context.chunks or smaller ranges`);
    const { start_byte, end_byte, text } = this.#source.slice(start, end);
    const place = this.#source.place(start_byte, end_byte);
    const quote = end_byte - start_byte > KEPT_BYTES ? null : text;
    return this.#make({ kind: 'span', id: '', place, start: start_byte, end: end_byte, quote });
  }

  computed(parts: Omit<ComputedHandle, 'kind' | 'id'>): ComputedHandle {
    return this.#make({ kind: 'computed', id: '', ...parts });
  }

  /** The host's: it has an id already. */
  child(handle: ChildHandle): void {
    if (!this.#handles.has(handle.id)) this.#put(handle, keyOf(handle));
  }

  get(id: string): StoredHandle | undefined {
    return this.#handles.get(id);
  }

  /** What a model may quote of it. */
  textOf(handle: StoredHandle): string {
    switch (handle.kind) {
      case 'span':
        return handle.quote ?? this.#source.slice(handle.start, handle.end).text;
      case 'child':
        return handle.text;
      case 'computed':
        return handle.output;
    }
  }

  /** Made here since the last time. */
  drain(): readonly StoredHandle[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }

  #make<T extends StoredSpan | ComputedHandle>(handle: T): T {
    const key = keyOf(handle);
    const known = this.#known.get(key);
    if (known !== undefined) return known as T;
    if (this.#isFull()) throw new ApiFault('RangeError', 'too many handles: make only those that the answer cites');
    const made = { ...handle, id: `h${this.#next}` };
    this.#next += 1;
    this.#put(made, key);
    this.#fresh.push(made);
    return made;
  }

  #isFull(): boolean {
    const mostRanged = MOST_BYTES + MOST_TIMES * this.#source.byte_count;
    return this.#handles.size >= MOST_HANDLES || this.#bytes > MOST_BYTES || this.#ranged > mostRanged;
  }

  #put(handle: StoredHandle, key: string): void {
    this.#handles.set(handle.id, handle);
    this.#known.set(key, handle);
    if (handle.kind === 'span' && handle.quote === null) this.#ranged += handle.end - handle.start;
    else this.#bytes += this.textOf(handle).length;
  }
}

function keyOf(handle: StoredHandle): string {
  switch (handle.kind) {
    case 'span':
      return JSON.stringify(['span', handle.start, handle.end]);
    case 'child':
      return JSON.stringify(['child', handle.id]);
    case 'computed':
      return JSON.stringify(['computed', handle.code_hash, handle.inputs, handle.output_hash]);
  }
}
