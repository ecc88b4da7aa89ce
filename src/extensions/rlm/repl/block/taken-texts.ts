// Owns which ranges of the context a model has seen. Texts that code got out of the context are remembered; a range counts as shown when such a
// text stands whole in printed output or in a text sent to a model, or its beginning where the output was cut. The rest only code has seen.
// Invariant: never claims more than was shown; texts of fewer than 12 characters, and all but the newest 2,000, do not count.

const SHORTEST = 12;
const MOST_TEXTS = 2_000;
const MOST_CHARACTERS = 8_000_000;
/** Enough of a text to find where its cut beginning stands. */
const PROBE = 64;

export type ByteRange = readonly [start: number, end: number];

export class TakenTexts {
  readonly #texts = new Map<string, ByteRange>();
  readonly #shown: ByteRange[] = [];
  #characters = 0;

  take(text: string, start: number, end: number): void {
    if (text.length < SHORTEST) return;
    if (this.#texts.delete(text)) this.#characters -= text.length;
    this.#texts.set(text, [start, end]);
    this.#characters += text.length;
    for (const [oldest] of this.#texts) {
      if (this.#texts.size <= MOST_TEXTS && this.#characters <= MOST_CHARACTERS) break;
      this.#texts.delete(oldest);
      this.#characters -= oldest.length;
    }
  }

  /** @param isCut more was to follow: the last text may stand there with its beginning alone */
  show(text: string, isCut = false): void {
    if (text.length < SHORTEST) return;
    const exact = this.#texts.get(text);
    if (exact !== undefined) this.#shown.push(exact);
    else for (const [taken, range] of this.#texts) this.#showIn(text, taken, range, isCut);
  }

  showRange(start: number, end: number): void {
    this.#shown.push([start, end]);
  }

  /** What was shown since the last time, merged. */
  drain(): readonly ByteRange[] {
    return mergeRanges(this.#shown.splice(0));
  }

  #showIn(text: string, taken: string, range: ByteRange, isCut: boolean): void {
    if (text.includes(taken)) this.#shown.push(range);
    else if (isCut) {
      const at = text.lastIndexOf(taken.slice(0, PROBE));
      if (at < 0 || !taken.startsWith(text.slice(at))) return;
      this.#shown.push([range[0], Math.min(range[1], range[0] + Buffer.byteLength(text.slice(at)))]);
    }
  }
}

export function mergeRanges(ranges: readonly ByteRange[]): readonly ByteRange[] {
  const merged: [number, number][] = [];
  for (const [start, end] of [...ranges].sort((left, right) => left[0] - right[0] || left[1] - right[1])) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else if (end > start) merged.push([start, end]);
  }
  return merged;
}
