// Owns the small parts of the chat's screen: its last line, the line that something is under way, what turns add up to, the place of a question,
// what stands around the editor, and letting go of what has scrolled out of sight. Knows no turn and no tool. Invariants: no timer runs while its
// line is hidden; of a secret answer the screen holds as many dots as it has characters; what is in sight does not move; a line is one line.

import {
  type Component,
  Container,
  Input,
  Loader,
  matchesKey,
  Spacer,
  Text,
  type TUI,
  type TuiMainScreen,
  truncateToWidth,
} from '@earendil-works/pi-tui';
import { systemClock } from '#base/clock.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { TerminalQuestion } from '../questions.ts';
import { formatCost, oneLine, type Paint, plain } from '../terminal-text.ts';
import { KEYS, shownLine } from './typed-line.ts';

export interface FooterFacts {
  readonly model: string;
  /** US dollars since the chat was started; null when a price is unknown. */
  readonly cost: number | null;
  /** Share of the context window that the last request took, 0 to 1. */
  readonly context: number | undefined;
  readonly session: string;
}

export class Footer implements Component {
  readonly #paint: Paint;
  #text = '';

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  show({ model, cost, context, session }: FooterFacts): void {
    const parts = [
      plain(model),
      formatCost(cost),
      context === undefined ? undefined : `context ${Math.round(context * 100)} %`,
      '/help',
      session,
    ];
    this.#text = parts.filter((part) => part !== undefined && part !== '').join(' · ');
  }

  invalidate(): void {
    // Nothing is kept between two looks.
  }

  render(width: number): string[] {
    return [this.#paint('dim', truncateToWidth(this.#text, width, '…'))];
  }
}

export class WorkingLine {
  /** Empty while nothing is under way. */
  readonly container = new Container();
  readonly #loader: Loader;
  readonly #label: (elapsed: string) => string;
  #from = 0;
  #stopTicking: (() => void) | undefined;

  /** @param label what is under way, asked anew for each look */
  constructor(tui: TUI, paint: Paint, label: (elapsed: string) => string) {
    this.#label = label;
    this.#loader = new Loader(
      tui,
      (text) => paint('cyan', text),
      (text) => paint('dim', text),
      '',
    );
    this.#loader.stop();
  }

  show(): void {
    if (this.container.children.length > 0) return;
    this.#from = systemClock.monotonic();
    this.container.addChild(this.#loader);
    this.#loader.start();
    this.#tick();
  }

  hide(): void {
    this.#stopTicking?.();
    this.#loader.stop();
    this.container.clear();
  }

  #tick(): void {
    this.#loader.setMessage(this.#label(elapsed(systemClock.monotonic() - this.#from)));
    this.#stopTicking = systemClock.after(250, () => this.#tick());
  }
}

export function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

export class TurnMeter {
  #cost: number | null = 0;
  #inputTokens: number | undefined;
  #activity = 'working';

  /** US dollars since the start; null once a price was unknown. */
  get cost(): number | null {
    return this.#cost;
  }

  /** One word for what goes on. */
  get activity(): string {
    return this.#activity;
  }

  /** Share of a window of `tokens` that the last request took; undefined before the first. */
  contextOf(tokens: number): number | undefined {
    return this.#inputTokens === undefined || tokens <= 0 ? undefined : this.#inputTokens / tokens;
  }

  /** Another conversation: its last request is not known. */
  forgetContext(): void {
    this.#inputTokens = undefined;
  }

  take(event: TurnEvent): void {
    switch (event.type) {
      case 'reasoning-delta':
        this.#activity = 'thinking';
        return;
      case 'text-delta':
        this.#activity = 'answering';
        return;
      case 'tool-start':
        this.#activity = 'running';
        return;
      case 'turn-start':
      case 'step-start':
        this.#activity = 'working';
        return;
      case 'step-end':
        if (event.usage.inputTokens > 0) this.#inputTokens = event.usage.inputTokens;
        return;
      case 'turn-end':
        this.#cost = this.#cost === null || event.cost === null ? null : this.#cost + event.cost;
        return;
      default:
        return;
    }
  }
}

export class QuestionPanel {
  readonly container = new Container();
  readonly #paint: Paint;
  #keys: string | undefined;

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  show(question: TerminalQuestion | undefined): void {
    this.container.clear();
    this.#keys = question?.keys;
    if (!question) return;
    this.container.addChild(new Spacer(1));
    const text = question.lines.map((line) => this.#paint('yellow', plain(line))).join('\n');
    this.container.addChild(new Text(text, 0, 0));
  }

  /** Under the question, now that an answer counts. */
  showKeys(): void {
    if (this.#keys !== undefined) this.container.addChild(new Text(this.#paint('yellow', plain(this.#keys)), 0, 0));
  }
}

export class SecretInput extends Input {
  constructor() {
    super({ prompt: '› ' });
  }

  override render(width: number): string[] {
    const value = this.getValue();
    this.setValue('•'.repeat(value.length));
    try {
      return super.render(width);
    } finally {
      this.setValue(value);
    }
  }
}

/** Parts that are kept, at least; a quarter more before anything is done. */
const KEPT = 400;

/** @param container the first child of `tui` */
export function letGoOfOldParts(tui: TuiMainScreen, container: Container, kept = KEPT): void {
  const { children } = container;
  if (children.length <= kept * 1.25) return;
  const state = tui.captureRenderState();
  const { columns, rows } = tui.terminal;
  if (state.previousWidth !== columns || state.previousHeight !== rows) return;
  const count = children.length - kept;
  const gone = children.slice(0, count).reduce((sum, child) => sum + child.render(columns).length, 0);
  if (gone > state.previousViewportTop) return;
  children.splice(0, count);
  tui.restoreRenderState({
    ...state,
    previousLines: state.previousLines.slice(gone),
    cursorRow: state.cursorRow - gone,
    hardwareCursorRow: state.hardwareCursorRow - gone,
    maxLinesRendered: state.maxLinesRendered - gone,
    previousViewportTop: state.previousViewportTop - gone,
  });
}

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
