// Owns what stands around the editor: the lines that wait above it, the keys that `?` shows, the search in earlier lines that takes its
// place. Knows no session. Invariant: a line of text is one line of the screen, whatever it holds and however narrow the screen is.
import { type Component, Input, matchesKey, truncateToWidth } from '@earendil-works/pi-tui';
import { oneLine, type Paint } from '../../terminal-text.ts';
import { shownLine } from '../input-history.ts';
import { KEYS } from '../typed-line.ts';

/** Lines that wait and are shown; the others are counted. */
const WAITING_SHOWN = 3;
/** Longer than any screen is wide. */
const LINE_MAX = 1_000;

export class WaitingPanel implements Component {
  readonly #paint: Paint;
  #lines: readonly string[] = [];

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  show(lines: readonly string[]): void {
    this.#lines = lines;
  }

  invalidate(): void {
    // Nothing is kept between two looks.
  }

  render(width: number): string[] {
    if (this.#lines.length === 0) return [];
    const shown = this.#lines.slice(0, WAITING_SHOWN).map((line) => `› ${oneLine(shownLine(line), LINE_MAX)}`);
    const left = this.#lines.length - shown.length;
    const rows = ['waiting, Up takes the last one back:', ...shown, ...(left > 0 ? [`and ${left} more`] : [])];
    return ['', ...rows.map((row) => this.#paint('dim', truncateToWidth(row, width, '…')))];
  }
}

const KEY_COLUMN = 14;

/** What the keys do, until the next one is pressed. */
export function keysPanel(paint: Paint): Component {
  const rows = KEYS.map(([keys, what]) => [keys.padEnd(KEY_COLUMN), what] as const);
  return {
    invalidate: () => undefined,
    render: (width) => [
      '',
      ...rows.map(([keys, what]) => truncateToWidth(`${paint('cyan', keys)}${paint('dim', what)}`, width, '…')),
    ],
  };
}

/** Earlier lines that are shown at once. */
const FOUND_SHOWN = 8;

export class HistorySearch extends Input {
  readonly #paint: Paint;
  readonly #lines: readonly string[];
  #chosen = 0;

  /** @param lines oldest first */
  constructor(lines: readonly string[], paint: Paint, onPick: (line: string | undefined) => void) {
    super({ prompt: 'search: ' });
    this.#paint = paint;
    this.#lines = [...new Set(lines.toReversed())];
    this.onSubmit = () => onPick(this.#found()[this.#chosen]);
    this.onEscape = () => onPick(undefined);
  }

  override handleInput(data: string): void {
    const step = matchesKey(data, 'up') || matchesKey(data, 'ctrl+r') ? 1 : matchesKey(data, 'down') ? -1 : 0;
    if (step === 0) super.handleInput(data);
    const last = this.#found().length - 1;
    this.#chosen = step === 0 ? 0 : Math.max(0, Math.min(last, this.#chosen + step));
  }

  override render(width: number): string[] {
    const found = this.#found();
    const first = Math.max(0, this.#chosen - FOUND_SHOWN + 1);
    const rows = found.slice(first, first + FOUND_SHOWN).map((line, i) => {
      const isChosen = first + i === this.#chosen;
      const row = truncateToWidth(`${isChosen ? '→' : ' '} ${oneLine(line, LINE_MAX)}`, width, '…');
      return this.#paint(isChosen ? 'cyan' : 'dim', row);
    });
    if (rows.length === 0) rows.push(this.#paint('dim', '  no earlier line has this'));
    return [...rows.toReversed(), ...super.render(width)];
  }

  /** Newest first. */
  #found(): readonly string[] {
    const wanted = this.getValue().toLowerCase();
    return this.#lines.filter((line) => line.toLowerCase().includes(wanted));
  }
}
