/**
 * Owns what the parser remembers of the content that it has passed: the current line, the last line with text, open
 * inline code, whether any text or call came yet. Fed every piece of content in order; the pieces' lengths do not matter
 * as long as a run of backticks comes whole.
 */

const KEPT = 400;

export class ProseContext {
  /** The current line up to here (its last 400 characters). */
  line = '';
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

  feed(text: string): void {
    if (/\S/.test(text)) {
      this.hasText = true;
      this.afterCall = false;
    }
    const lines = text.split('\n');
    for (const [index, part] of lines.entries()) {
      if (index > 0) this.#breakLine();
      this.line = (this.line + part).slice(-KEPT);
      this.#feedInline(part);
    }
  }

  noteCalls(count: number): void {
    this.calls += count;
    this.afterCall = true;
  }

  get atLineStart(): boolean {
    return !/\S/.test(this.line);
  }

  #breakLine(): void {
    if (/\S/.test(this.line)) this.lastLine = this.line;
    this.line = '';
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
