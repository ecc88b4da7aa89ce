/**
 * Owns taking out a mark that one family (MiniMax M3) puts before each of its tags, so that the tags read as everybody
 * else's. Works on a stream: what may be the beginning of a mark is held back. Knows nothing of calls.
 */
const MARK = ']<]minimax[>[';
/** A longer beginning of it is nothing else. */
const CERTAIN = 3;

export class VendorMarkFilter {
  #held = '';

  /** The text without marks, as far as it is certain. */
  push(chunk: string): string {
    if (this.#held === '' && !chunk.includes(']')) return chunk;
    const parts = (this.#held + chunk).split(MARK);
    const last = parts.pop() ?? '';
    const size = heldSize(last);
    this.#held = last.slice(last.length - size);
    return parts.join('') + last.slice(0, last.length - size);
  }

  /** What was held back; the beginning of a mark that the end cut off is dropped. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return rest.length > CERTAIN ? '' : rest;
  }
}

function heldSize(text: string): number {
  for (let size = Math.min(MARK.length - 1, text.length); size > 0; size -= 1) {
    if (text.endsWith(MARK.slice(0, size))) return size;
  }
  return 0;
}
