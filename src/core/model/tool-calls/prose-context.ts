/**
 * Owns what the parser remembers of the content that it has passed: the current line, the last line with text, open
 * inline code, whether any text or call came yet. Fed every piece of content in order; the pieces' lengths do not matter
 * as long as a run of backticks comes whole.
 */

/** Zero-width spaces are no text: models leak them. */
const TEXT = /[^\s\u200b]/;
const KEPT = 400;
const TRIM_AT = 4_000;

export class ProseContext {
  /** The last line before it that was not blank. */
  lastLine = '';
  /** Length of the run of backticks that opened inline code on this line, 0 outside. */
  inlineRun = 0;
  hasText = false;
  calls = 0;
  /** No text since the last call. */
  afterCall = false;
  /** An invented tool result has been dropped. */
  imitated = false;
  #line = '';
  #lineHasText = false;

  feed(text: string): void {
    if (TEXT.test(text)) {
      this.hasText = true;
      this.afterCall = false;
    }
    const lines = text.split('\n');
    for (const [index, part] of lines.entries()) {
      if (index > 0) this.#breakLine();
      this.#extendLine(part);
      this.#feedInline(part);
    }
  }

  noteCalls(count: number): void {
    this.calls += count;
    this.afterCall = true;
  }

  /** The current line up to here (its last 400 characters). */
  get line(): string {
    return this.#line.slice(-KEPT);
  }

  /** Nothing but white space stands on the line yet. */
  get atLineStart(): boolean {
    return !this.#lineHasText;
  }

  #extendLine(part: string): void {
    this.#line += part;
    if (this.#line.length > TRIM_AT) this.#line = this.line;
    if (!this.#lineHasText && TEXT.test(part)) this.#lineHasText = true;
  }

  #breakLine(): void {
    if (this.#lineHasText) this.lastLine = this.line;
    this.#line = '';
    this.#lineHasText = false;
    this.inlineRun = 0;
  }

  #feedInline(text: string): void {
    if (!text.includes('`')) return;
    for (const [run] of text.matchAll(/`+/g)) {
      if (this.inlineRun === 0) this.inlineRun = run.length;
      else if (this.inlineRun === run.length) this.inlineRun = 0;
    }
  }
}
