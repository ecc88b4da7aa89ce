// Owns the handles of a session: what each holds, and their ids in the order of making. The text of a span is read by us from the source,
// so that no code can make it say something else. Invariant: the same range, and the same computation, is one handle.
import type { ChildHandle, ComputedHandle, Handle, SpanHandle } from '../../ask/ask-outcome.ts';
import type { PartedSource } from '../source/parted-source.ts';
import { ApiFault } from './api-fault.ts';

const MOST_HANDLES = 10_000;
const MOST_BYTES = 32_000_000;
export const SPAN_BYTES = 1_000_000;

export interface ShelfStart {
  readonly handles: readonly Handle[];
  /** Number of the next one. */
  readonly next: number;
}

export class HandleShelf {
  readonly #source: PartedSource;
  readonly #handles = new Map<string, Handle>();
  readonly #known = new Map<string, Handle>();
  readonly #ranges = new Map<string, readonly [number, number]>();
  #fresh: Handle[] = [];
  #next: number;
  #bytes = 0;

  constructor(source: PartedSource, { handles, next }: ShelfStart) {
    this.#source = source;
    this.#next = next;
    for (const handle of handles) this.#put(handle, keyOf(handle));
  }

  span(start: number, end: number): SpanHandle {
    const { byte_count } = this.#source;
    if (end <= start || start >= byte_count) throw new ApiFault('RangeError', 'a span has at least one byte');
    if (end - start > SPAN_BYTES)
      throw new ApiFault('RangeError', `a span has at most ${SPAN_BYTES} bytes: take context.chunks or smaller ranges`);
    const { start_byte, end_byte, text: quote } = this.#source.slice(start, end);
    const place = this.#source.place(start_byte, end_byte);
    const handle = this.#make({ kind: 'span', id: '', place, quote });
    this.#ranges.set(handle.id, [start_byte, end_byte]);
    return handle;
  }

  computed(parts: Omit<ComputedHandle, 'kind' | 'id'>): ComputedHandle {
    return this.#make({ kind: 'computed', id: '', ...parts });
  }

  /** The host's: it has an id already. */
  child(handle: ChildHandle): void {
    if (!this.#handles.has(handle.id)) this.#put(handle, keyOf(handle));
  }

  get(id: string): Handle | undefined {
    return this.#handles.get(id);
  }

  /** Where the span lies in the whole. */
  rangeOf({ id, place }: SpanHandle): readonly [number, number] {
    const known = this.#ranges.get(id);
    if (known !== undefined) return known;
    const first = this.#source.files.find(({ path }) => path === place.source_path)?.start_byte ?? 0;
    return [first + place.start_byte, first + place.end_byte];
  }

  /** Made here since the last time. */
  drain(): readonly Handle[] {
    const fresh = this.#fresh;
    this.#fresh = [];
    return fresh;
  }

  get next(): number {
    return this.#next;
  }

  #make<T extends SpanHandle | ComputedHandle>(handle: T): T {
    const key = keyOf(handle);
    const known = this.#known.get(key);
    if (known !== undefined) return known as T;
    if (this.#handles.size >= MOST_HANDLES || this.#bytes > MOST_BYTES)
      throw new ApiFault('RangeError', 'too many handles: make only those that the answer cites');
    const made = { ...handle, id: `h${this.#next}` };
    this.#next += 1;
    this.#put(made, key);
    this.#fresh.push(made);
    return made;
  }

  #put(handle: Handle, key: string): void {
    this.#handles.set(handle.id, handle);
    this.#known.set(key, handle);
    this.#bytes += textOf(handle).length;
  }
}

/** What a model may quote of it. */
export function textOf(handle: Handle): string {
  switch (handle.kind) {
    case 'span':
      return handle.quote;
    case 'child':
      return handle.text;
    case 'computed':
      return handle.output;
  }
}

function keyOf(handle: Handle): string {
  switch (handle.kind) {
    case 'span':
      return JSON.stringify(['span', handle.place]);
    case 'child':
      return JSON.stringify(['child', handle.id]);
    case 'computed':
      return JSON.stringify(['computed', handle.code_hash, handle.inputs, handle.output_hash]);
  }
}
