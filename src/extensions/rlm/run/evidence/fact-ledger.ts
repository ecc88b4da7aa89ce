// Owns the evidence of a run: every checked quotation once, under an id that is unique in the run, with its place in the source.
// Invariant: the same quotation of the same chunk has one id, whoever reports it; ids follow from the order in which replies are taken.
import type { FreshFact, SourcePlace } from '../run-outcome.ts';
import type { CheckedFact, ChunkText } from './check-facts.ts';

export class FactLedger {
  readonly #order: ReadonlyMap<string, number>;
  readonly #byKey = new Map<string, FreshFact>();
  readonly #ids = new Set<string>();
  readonly #counts = new Map<string, number>();

  /** `chunk_ids`: in the order of the run. */
  constructor(chunk_ids: readonly string[]) {
    this.#order = new Map(chunk_ids.map((id, at) => [id, at + 1]));
  }

  add(facts: readonly CheckedFact[], child_call_id: string): readonly FreshFact[] {
    return facts.map((fact) => this.#addOne(fact, child_call_id));
  }

  /** In the order of chunks, then of places. */
  all(): readonly FreshFact[] {
    return [...this.#byKey.values()].sort((left, right) => {
      const [one, other] = [this.#order.get(left.chunk_id) ?? 0, this.#order.get(right.chunk_id) ?? 0];
      return one - other || (left.place?.start_byte ?? 0) - (right.place?.start_byte ?? 0);
    });
  }

  #addOne(fact: CheckedFact, child_call_id: string): FreshFact {
    const { chunk_id } = fact.chunk;
    const text = fact.text.trim();
    const key = JSON.stringify([chunk_id, text.replace(/\s+/g, ' ')]);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const fact_id = this.#freeId(fact.fact_id, chunk_id);
    const fresh: FreshFact = { fact_id, chunk_id, text, child_call_id, place: sourcePlace(fact) };
    this.#ids.add(fact_id);
    this.#byKey.set(key, fresh);
    return fresh;
  }

  #freeId(own: string | null, chunk_id: string): string {
    if (own !== null && !this.#ids.has(own)) return own;
    for (;;) {
      const count = (this.#counts.get(chunk_id) ?? 0) + 1;
      this.#counts.set(chunk_id, count);
      const id = `f${String(this.#order.get(chunk_id) ?? 0).padStart(3, '0')}.${String(count).padStart(2, '0')}`;
      if (!this.#ids.has(id)) return id;
    }
  }
}

function sourcePlace({ chunk, place }: CheckedFact): SourcePlace | null {
  if (chunk.source_path === null) return null;
  const before = chunk.text.slice(0, place.start);
  const quote = chunk.text.slice(place.start, place.end);
  const start_line = chunk.start_line + lineEnds(before);
  // Bytes that are no text have no place of their own; the chunk's is right in any case.
  const [start_byte, end_byte] = chunk.lossy ? [chunk.start_byte, chunk.end_byte] : byteRange(chunk, before, quote);
  return {
    source_path: chunk.source_path,
    start_line,
    end_line: start_line + lineEnds(quote),
    start_byte,
    end_byte,
  };
}

function byteRange(chunk: ChunkText, before: string, quote: string): readonly [number, number] {
  const start = chunk.start_byte + Buffer.byteLength(before);
  return [start, start + Buffer.byteLength(quote)];
}

function lineEnds(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}
