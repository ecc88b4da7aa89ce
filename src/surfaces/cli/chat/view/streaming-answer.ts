// Owns showing an answer while it is written. Knows no event. Invariants: finished blocks are laid out once; laying out the rest
// takes at most a ninth of the time, however long it is and however fast it comes; `finish` shows all of it; what is no Markdown
// is shown as it is.
import { type Component, Markdown, type MarkdownTheme, Text } from '@earendil-works/pi-tui';
import { systemClock } from '#base/clock.ts';

/** Text that is laid out anew with each frame, in characters, before finished blocks are split off. */
const OPEN_LIMIT = 4_000;
/** Rest between two layouts, in times of what the last one took. */
const REST = 8;

export class StreamingAnswer implements Component {
  readonly #theme: MarkdownTheme | undefined;
  readonly #now: () => number;
  readonly #settled: (Markdown | Text)[] = [];
  #open: Markdown | Text;
  #text = '';
  #openText = '';
  #isDirty = false;
  #nextLayoutAt = Number.NEGATIVE_INFINITY;
  #shown: { readonly width: number; readonly lines: string[] } | undefined;

  /** @param theme of Markdown; without one the text is shown as it is */
  constructor(theme: MarkdownTheme | undefined, now: () => number = systemClock.monotonic) {
    this.#theme = theme;
    this.#now = now;
    this.#open = this.#block('');
  }

  /** All that was appended. */
  get text(): string {
    return this.#text;
  }

  append(text: string): void {
    const added = this.#text === '' ? text.replace(this.#theme ? /^\s+/ : /^\n+/, '') : text;
    this.#text += added;
    this.#openText += added;
    this.#isDirty = true;
    if (this.#theme && this.#openText.length > OPEN_LIMIT) this.#settle();
  }

  finish(): void {
    this.#nextLayoutAt = Number.NEGATIVE_INFINITY;
    this.#isDirty = true;
  }

  invalidate(): void {
    for (const block of [...this.#settled, this.#open]) block.invalidate();
    this.#shown = undefined;
  }

  render(width: number): string[] {
    const isKept = this.#shown?.width === width && (!this.#isDirty || this.#now() < this.#nextLayoutAt);
    if (this.#shown && isKept) return this.#shown.lines;
    const from = this.#now();
    this.#open.setText(this.#openText);
    const lines = [...this.#settled.flatMap((block) => [...block.render(width), '']), ...this.#open.render(width)];
    const until = this.#now();
    this.#nextLayoutAt = until + REST * (until - from);
    this.#isDirty = false;
    this.#shown = { width, lines };
    return lines;
  }

  #settle(): void {
    const cut = lastBlockEnd(this.#openText);
    if (cut === undefined) return;
    this.#settled.push(this.#block(this.#openText.slice(0, cut)));
    this.#openText = this.#openText.slice(cut).replace(/^\n+/, '');
    this.#shown = undefined;
    this.#open = this.#block('');
  }

  #block(text: string): Markdown | Text {
    return this.#theme ? new Markdown(text, 0, 0, this.#theme) : new Text(text, 0, 0);
  }
}

/** Where the last block ends that nothing behind it can change: before a blank line, outside code, not within a list. */
export function lastBlockEnd(text: string): number | undefined {
  const ends = [...text.matchAll(/\n\n+(?=[A-Za-z#*\p{L}])(?![*+-] )/gu)].map((match) => match.index);
  return ends.findLast((end) => end > 0 && isPlainBefore(text.slice(0, end)));
}

function isPlainBefore(text: string): boolean {
  const fences = text.match(/^ {0,3}(?:```|~~~)/gm)?.length ?? 0;
  return fences % 2 === 0;
}
