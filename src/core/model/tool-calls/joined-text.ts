/**
 * Owns joining the pieces of content (or reasoning) that remain when calls, reasoning and tokens are taken out: the blank
 * space around a gap shrinks to what separates the two sides. Holds white space back until it knows what follows, so that
 * deltas are final. Text without gaps comes out unchanged.
 */
import { isSpaceCode } from './reading/text-window.ts';

export class JoinedText {
  #pending = '';
  #gap = false;
  #hasText = false;
  readonly #gapBreak: string;

  /** `gapBreak` separates the sides of a gap that had no white space of its own. */
  constructor(gapBreak = '') {
    this.#gapBreak = gapBreak;
  }

  /** The text that may be shown now. */
  write(text: string): string {
    let start = 0;
    while (start < text.length && isSpaceCode(text.charCodeAt(start))) start += 1;
    this.#pending += text.slice(0, start);
    if (start === text.length) return '';
    let end = text.length;
    while (end > start && isSpaceCode(text.charCodeAt(end - 1))) end -= 1;
    const shown = this.#separator() + text.slice(start, end);
    this.#pending = text.slice(end);
    this.#gap = false;
    this.#hasText = true;
    return shown;
  }

  /** Something was taken out here. */
  gap(): void {
    this.#gap = true;
  }

  /** What remains at the end of the text. */
  end(): string {
    return this.#gap ? '' : this.#pending;
  }

  #separator(): string {
    if (!this.#gap) return this.#pending;
    if (!this.#hasText) return '';
    const breaks = this.#pending.split('\n').length - 1;
    if (breaks > 0) return breaks > 1 ? '\n\n' : '\n';
    return this.#gapBreak || (this.#pending === '' ? '' : ' ');
  }
}
