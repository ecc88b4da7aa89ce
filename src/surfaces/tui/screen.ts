// Owns the screen at a terminal: the frame of tabs, window, conversation and line, and which key does what. Knows no event and no store. Invariants: what is
// typed goes to Meta, in every window; a frame has exactly the rows and columns that the terminal has when it is drawn; the terminal is given back whatever fails.
import {
  Container,
  CURSOR_MARKER,
  decodeKittyPrintable,
  Editor,
  isKeyRelease,
  matchesKey,
  ProcessTerminal,
  type Terminal,
  TuiAltScreen,
  truncateToWidth,
  visibleWidth,
} from '@earendil-works/pi-tui';
import { errorText } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import type { CladeOutput } from '#fleet/styx/clade.ts';
import { editorTheme, Transcript } from '#surfaces/cli/chat/transcript.ts';
import { createPaint, oneLine, type Paint } from '#surfaces/cli/terminal-text.ts';
import { FLOW_STEPS, type InfraFigures, type ScreenEvent } from './board.ts';
import { drawWindow } from './drawing.ts';
import { bellOf, EVENTS, type Note, type WindowName } from './event-table.ts';
import type { Watch } from './feed.ts';
import { type Focus, followed, inFocus, standing, type View, WINDOWS, windowNames, windowOf } from './windows.ts';

/** The models of this machine. */
export interface InfraSource {
  look(signal: AbortSignal): Promise<InfraFigures>;
  /** Tells how far it is; gives one line on what came of it. */
  switchTo(id: string, tell: (figures: Pick<InfraFigures, 'reloading'>) => void, signal: AbortSignal): Promise<string>;
}

export interface ScreenOptions {
  readonly cwd: string;
  /** Golem that is in view first, as it is called; absent: all of them are. */
  readonly focus?: string;
  readonly hasColour: boolean;
  readonly hasSound: boolean;
  readonly infra?: InfraSource;
  /** Default: that of the process. */
  readonly terminal?: Terminal;
}

/** Until the owner leaves or `signal` aborts. The watch is open, and stays so. */
export async function runScreen(watch: Watch, options: ScreenOptions, signal: AbortSignal): Promise<void> {
  const screen = new Screen(watch, options);
  try {
    await screen.run(signal);
  } finally {
    await screen.close();
  }
}

/** From this width on the conversation stands beside the window. */
const BESIDE = 120;
const TALK_WIDTH = 56;
/** Below this many rows there is no line of hints, and the editor has no border. */
const LOW = 14;
const PAST_MESSAGES = 20;
const KEPT_PARTS = 300;
const FLOW_MS = 150;
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

class Screen {
  readonly #watch: Watch;
  readonly #options: ScreenOptions;
  readonly #paint: Paint;
  readonly #tui: TuiAltScreen;
  readonly #editor: Editor;
  readonly #talk: Transcript;
  readonly #ended = Promise.withResolvers<void>();
  readonly #timers = new Set<() => void>();
  readonly #leaving = new AbortController();
  #window: WindowName;
  #focus: Focus | undefined;
  #chosen = 0;
  #scroll = 0;
  /** The conversation fills the window. */
  #isTalkWide = false;
  /** Meta has asked, and a number is an answer. */
  #isAsked = false;
  /** Where the question begins. */
  #askedFrom = 0;
  #isLive = false;
  #isMeasured = false;
  #saying: AbortController | undefined;
  #work: Promise<void> = Promise.resolve();

  constructor(watch: Watch, options: ScreenOptions) {
    this.#watch = watch;
    this.#options = options;
    this.#focus = options.focus === undefined ? undefined : followed(watch.board, { called: options.focus });
    this.#window = options.focus === undefined ? 'clade' : 'hearth';
    this.#paint = createPaint(options.hasColour);
    this.#talk = new Transcript(this.#paint);
    this.#tui = new TuiAltScreen(options.terminal ?? new ProcessTerminal(), true, undefined, { mouse: false });
    this.#editor = new Editor(this.#tui, editorTheme(this.#paint));
    const frame = new Frame((width) => this.#frame(width));
    frame.addChild(this.#editor);
    this.#tui.setLayoutRoot(frame);
  }

  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#ended.resolve(), { once: true });
    for (const { from, text } of this.#watch.clade?.messages(PAST_MESSAGES) ?? [])
      if (from === 'owner') this.#talk.addOwner(text);
      else this.#talk.addLine(text);
    for (const { golem, text } of this.#watch.board.feed) if (golem === '') this.#talk.addLine(text, 'dim');
    if (signal.aborted) return;
    this.#editor.onSubmit = (text) => this.#submit(text.trim());
    this.#tui.setFocus(this.#editor);
    this.#tui.addInputListener((data) => (this.#onKey(data) ? { consume: true } : undefined));
    process.once('exit', this.#giveBack);
    this.#isLive = true;
    this.#watch.listener = (event) => this.#take(event);
    this.#tui.start();
    this.#look();
    this.#everyMinute();
    await this.#ended.promise;
  }

  async close(): Promise<void> {
    this.#leaving.abort();
    for (const cancel of this.#timers) cancel();
    this.#giveBack();
    this.#watch.listener = undefined;
    await this.#work;
  }

  readonly #giveBack = (): void => {
    process.off('exit', this.#giveBack);
    if (this.#isLive) this.#tui.stop({ preserveScreen: true });
    this.#isLive = false;
  };

  #take(event: ScreenEvent): void {
    if (this.#focus) this.#focus = followed(this.#watch.board, this.#focus);
    if (!this.#isLive) return;
    // An answer of a model is what moves its figures.
    if (event.type === 'tick' || event.type === 'kept') this.#measure();
    if (event.type === 'line' && event.golem === '') this.#talk.addLine(event.text, 'dim');
    if (event.type === 'mind') {
      this.#play(EVENTS[event.event.type].sound?.(event.event) ?? []);
      if (event.event.type === 'DeathSkillExport') this.#flow();
    }
    this.#tui.requestRender();
  }

  #later(ms: number, run: () => void): void {
    const cancel = this.#watch.clock.after(ms, () => {
      this.#timers.delete(cancel);
      run();
    });
    this.#timers.add(cancel);
  }

  #play([note, ...rest]: readonly Note[]): void {
    if (!note || !this.#options.hasSound) return;
    this.#tui.terminal.write(bellOf(note));
    this.#later(note.ms, () => this.#play(rest));
  }

  /** Once for all that flow. */
  #flow(): void {
    if (this.#watch.board.flows.filter(({ step }) => step < FLOW_STEPS).length !== 1) return;
    const step = () => {
      this.#watch.take({ type: 'flow' });
      if (this.#watch.board.flows.some((flow) => flow.step < FLOW_STEPS)) this.#later(FLOW_MS, step);
    };
    this.#later(FLOW_MS, step);
  }

  /** How long ago something was grows old. */
  #everyMinute(): void {
    this.#later(MINUTE_MS, () => {
      this.#tui.requestRender();
      this.#everyMinute();
    });
  }

  /** What the golem in view knows. */
  #look(): void {
    const seen = inFocus(this.#watch.board, this.#view())?.seen;
    if (seen) this.#queue(this.#watch.lookAt(seen));
  }

  /** Figures are asked for while they are in view, and not twice within a second. */
  #measure(): void {
    const { infra } = this.#options;
    if (!infra || this.#window !== 'infra' || this.#isMeasured) return;
    this.#isMeasured = true;
    this.#later(SECOND_MS, () => {
      this.#isMeasured = false;
    });
    const look = infra.look(this.#leaving.signal).then(
      (figures) => this.#watch.take({ type: 'infra', figures }),
      (error: unknown) => this.#watch.take({ type: 'absent', what: 'infra', why: oneLine(errorText(error)) }),
    );
    this.#queue(look);
  }

  #queue(work: Promise<void>): void {
    const said = work.catch((error: unknown) => this.#talk.addLine(errorText(error), 'red'));
    this.#work = Promise.all([this.#work, said]).then(() => {
      if (this.#isLive) this.#tui.requestRender();
    });
  }

  #inView(): Pick<View, 'focus'> {
    return this.#focus === undefined ? {} : { focus: this.#focus.called };
  }

  #view(): View {
    const chosen = Math.min(this.#chosen, this.#watch.board.golems.length - 1);
    return { chosen, now: this.#watch.clock.now(), ...this.#inView() };
  }

  // Keys.

  /** True: it was a key of the screen, and not of the line. */
  #onKey(data: string): boolean {
    // A terminal may tell of keys that are let go, too.
    if (isKeyRelease(data)) return false;
    const isEmpty = this.#editor.getText() === '';
    if (matchesKey(data, 'ctrl+c')) this.#interrupt(isEmpty);
    else if (matchesKey(data, 'tab')) this.#turn(1);
    else if (matchesKey(data, 'shift+tab')) this.#turn(-1);
    else if (matchesKey(data, 'escape')) this.#back();
    else if (matchesKey(data, 'pageDown')) this.#scroll += this.#page();
    else if (matchesKey(data, 'pageUp')) this.#scroll = Math.max(0, this.#scroll - this.#page());
    else if (matchesKey(data, 'ctrl+o')) this.#isTalkWide = !this.#isTalkWide;
    else if (!isEmpty || !this.#onKeyOfEmptyLine(data)) return false;
    this.#tui.requestRender();
    return true;
  }

  #onKeyOfEmptyLine(data: string): boolean {
    if (matchesKey(data, 'up')) this.#choose(-1);
    else if (matchesKey(data, 'down')) this.#choose(1);
    else if (matchesKey(data, 'left')) this.#next(-1);
    else if (matchesKey(data, 'right')) this.#next(1);
    else if (matchesKey(data, 'enter') && !this.#isAsked) this.#drill();
    else if (this.#window === 'infra' && !this.#isAsked) return this.#switch(decodeKittyPrintable(data) ?? data);
    else return false;
    return true;
  }

  #interrupt(isEmpty: boolean): void {
    if (this.#saying) this.#saying.abort();
    else if (isEmpty) this.#ended.resolve();
    else this.#editor.setText('');
  }

  #turn(by: number): void {
    const names = windowNames(this.#watch.board);
    const at = names.indexOf(this.#window) + by + names.length;
    this.#show(names[at % names.length] ?? 'clade');
  }

  #show(window: WindowName): void {
    this.#window = window;
    this.#scroll = 0;
    this.#isTalkWide = false;
    this.#measure();
  }

  #back(): void {
    if (this.#saying) this.#saying.abort();
    else if (this.#isTalkWide) this.#isTalkWide = false;
    else {
      this.#focus = undefined;
      this.#show('clade');
    }
  }

  #choose(by: number): void {
    const last = this.#watch.board.golems.length - 1;
    if (this.#window === 'clade' && last >= 0) this.#chosen = Math.max(0, Math.min(last, this.#chosen + by));
    else this.#scroll = Math.max(0, this.#scroll + by);
  }

  #next(by: number): void {
    const { golems } = this.#watch.board;
    const at = golems.findIndex(({ seen }) => seen === inFocus(this.#watch.board, this.#view())?.seen);
    this.#focusOn((at + by + golems.length) % Math.max(1, golems.length));
  }

  #drill(): void {
    if (this.#window !== 'clade') return;
    this.#focusOn(this.#view().chosen);
    if (this.#focus !== undefined) this.#show('hearth');
  }

  #focusOn(at: number): void {
    const one = this.#watch.board.golems[at];
    if (!one) return;
    this.#focus = one.seen;
    this.#chosen = at;
    this.#look();
  }

  /** True: it was one of the three keys. */
  #switch(key: string): boolean {
    if (!/^[123]$/.test(key)) return false;
    const { infra } = this.#options;
    const figures = this.#watch.board.infra;
    const id = figures?.installed[Number(key) - 1];
    if (!infra || id === undefined || figures?.reloading) return true;
    const tell = (part: Pick<InfraFigures, 'reloading'>) => {
      const now = this.#watch.board.infra;
      if (now) this.#watch.take({ type: 'infra', figures: { ...now, ...part } });
    };
    const done = infra.switchTo(id, tell, this.#leaving.signal).then(async (line) => {
      this.#talk.addLine(line);
      this.#watch.take({ type: 'infra', figures: await infra.look(this.#leaving.signal) });
    });
    this.#queue(done);
    return true;
  }

  // The conversation.

  #submit(line: string): void {
    if (line === '') return;
    if (/^(?:q|quit|exit|\/quit|\/exit)$/i.test(line)) {
      this.#ended.resolve();
      return;
    }
    this.#editor.addToHistory(line);
    this.#talk.addOwner(line);
    const before = this.#work;
    this.#queue(before.then(() => this.#say(line)));
  }

  async #say(line: string): Promise<void> {
    const { clade } = this.#watch;
    if (!clade) {
      this.#talk.addLine(this.#watch.board.absent.clade ?? 'Meta is not there.', 'yellow');
      return;
    }
    this.#saying = new AbortController();
    this.#isAsked = false;
    const signal = AbortSignal.any([this.#saying.signal, this.#leaving.signal]);
    try {
      for await (const output of clade.say(line, { ...this.#inView(), signal, cwd: this.#options.cwd }))
        this.#showSaid(output);
    } catch (error) {
      if (!signal.aborted) throw error;
      this.#talk.addLine('stopped', 'dim');
    } finally {
      this.#saying = undefined;
    }
    await this.#watch.refresh();
  }

  #showSaid(output: CladeOutput): void {
    const { children } = this.#talk.container;
    const said = saidLines(output);
    for (const [text, style] of said) this.#talk.addLine(text, style);
    this.#isAsked = output.type === 'question' && output.choices.length > 0;
    if (children.length > KEPT_PARTS) children.splice(0, children.length - KEPT_PARTS);
    this.#askedFrom = children.length - said.length;
    if (this.#isLive) this.#tui.requestRender();
  }

  // The frame.

  #page(): number {
    return Math.max(1, this.#tui.terminal.rows - LOW);
  }

  #frame(width: number): string[] {
    const height = Math.max(1, this.#tui.terminal.rows);
    const isLow = height < LOW;
    const line = fitted(
      isLow ? this.#editor.render(width).slice(1, -1) : this.#editor.render(width),
      Math.ceil(height / 3),
    );
    const hints = isLow ? [] : [this.#paint('dim', truncateToWidth(this.#hints(), width, '…'))];
    const head = [this.#tabs(width)];
    const room = Math.max(0, height - head.length - line.length - hints.length);
    const middle = this.#middle(width, room);
    return [...head, ...middle, ...line, ...hints].slice(0, height);
  }

  #middle(width: number, height: number): readonly string[] {
    const isBeside = width >= BESIDE && !this.#isTalkWide;
    if (isBeside) {
      const left = width - TALK_WIDTH - 3;
      const talk = padded(this.#talkLines(TALK_WIDTH).slice(-height), height);
      const bar = this.#paint('dim', ' │ ');
      return this.#windowLines(left, height).map(
        (text, at) => `${text}${' '.repeat(Math.max(0, left - visibleWidth(text)))}${bar}${talk[at]}`,
      );
    }
    const talk = this.#talkLines(width);
    if (this.#isTalkWide) return this.#part(talk, height);
    // A question is seen whole, whatever becomes of the window.
    const asked = this.#isAsked ? Math.min(height - 2, talk.length - this.#talkBefore(width)) : 0;
    const most = Math.min(talk.length, Math.max(Math.floor(height / 3), height > 4 ? 2 : 1, asked));
    const rule = most > 0 && height > LOW ? [this.#paint('dim', '─'.repeat(width))] : [];
    const top = Math.max(0, height - most - rule.length);
    return [...this.#windowLines(width, top), ...rule, ...talk.slice(talk.length - most)];
  }

  #windowLines(width: number, height: number): readonly string[] {
    const { lines, chosenAt } = drawWindow(windowOf(this.#window, this.#watch.board, this.#view()), width, this.#paint);
    if (this.#window === 'clade' && chosenAt >= 0) this.#keepInView(chosenAt, height);
    return this.#part(lines, height);
  }

  #keepInView(at: number, height: number): void {
    const last = Math.max(1, height - 1);
    if (at >= this.#scroll + last - 1) this.#scroll = at - last + 2;
    else if (at < this.#scroll) this.#scroll = at;
  }

  /** As much as there is room for, and how much there is besides. */
  #part(lines: readonly string[], height: number): readonly string[] {
    if (lines.length <= height) {
      this.#scroll = 0;
      return padded(lines, height);
    }
    const shown = Math.max(0, height - 1);
    this.#scroll = Math.max(0, Math.min(this.#scroll, lines.length - shown));
    const below = lines.length - shown - this.#scroll;
    const more = this.#paint('dim', `↑ ${this.#scroll} ↓ ${below}`);
    return height === 0 ? [] : [...lines.slice(this.#scroll, this.#scroll + shown), more];
  }

  #talkLines(width: number): readonly string[] {
    return this.#talk.container.render(width);
  }

  /** Lines of the conversation above the question. */
  #talkBefore(width: number): number {
    return this.#talk.container.children.slice(0, this.#askedFrom).flatMap((one) => one.render(width)).length;
  }

  #tabs(width: number): string {
    const names = windowNames(this.#watch.board);
    const tabs = names
      .map((name) => {
        const title = WINDOWS[name];
        return name === this.#window ? this.#paint('bold', `[${title}]`) : this.#paint('dim', ` ${title} `);
      })
      .join('');
    const one = inFocus(this.#watch.board, this.#view());
    const isOne = this.#focus !== undefined && one !== undefined;
    const about = isOne ? standing(one, this.#view()) : 'all golems';
    const place = `[${WINDOWS[this.#window]}] ${names.indexOf(this.#window) + 1}/${names.length}`;
    return truncateToWidth(
      visibleWidth(tabs) > width ? `${place} ${about}` : `${tabs}  ${this.#paint('dim', about)}`,
      width,
      '…',
    );
  }

  #hints(): string {
    if (this.#saying) return 'Meta is at work · Esc stops it';
    if (this.#isAsked) return 'a number is an answer';
    const infra = this.#window === 'infra' ? ' · 1 2 3 switch' : '';
    return `Tab window · ↑↓ Enter golem · ←→ next${infra} · Esc back · Ctrl-O talk · Ctrl-C leaves`;
  }
}

class Frame extends Container {
  readonly #lines: (width: number) => string[];

  constructor(lines: (width: number) => string[]) {
    super();
    this.#lines = lines;
  }

  override render(width: number): string[] {
    return this.#lines(width);
  }
}

/** Exactly `height` lines. */
function padded(lines: readonly string[], height: number): readonly string[] {
  return [...lines, ...Array.from({ length: Math.max(0, height - lines.length) }, () => '')].slice(0, height);
}

/** At most `most` lines, the one with the cursor among them. */
function fitted(lines: readonly string[], most: number): readonly string[] {
  const at = lines.findIndex((line) => line.includes(CURSOR_MARKER));
  const from = Math.max(0, Math.min(at - Math.floor(most / 2), lines.length - most));
  return lines.slice(from, from + Math.max(1, most));
}

const LONGEST = 4_000;

/** Its type, and its words. */
function actionText({ type, ...rest }: JsonObject): string {
  const words = Object.values(rest).filter((value) => typeof value === 'string' && value !== '');
  return oneLine([type, ...words].join(' · '));
}

/** What Meta said or did, as lines of the conversation. */
function saidLines(output: CladeOutput): readonly (readonly [text: string, style?: 'dim' | 'yellow' | 'red'])[] {
  switch (output.type) {
    case 'text':
      return [[output.text.slice(0, LONGEST)]];
    case 'action':
      return [[`→ ${actionText(output.action)} (${output.why})`, 'dim']];
    case 'question':
      return [
        [output.text, 'yellow'],
        ...output.choices.map((choice, at) => [`${at + 1} ${choice}`, 'yellow'] as const),
      ];
    case 'failed':
      return [[`${output.text} (${output.reason})`, 'red']];
  }
}
