// Owns the interactive chat: what is on the screen, and which key does what. Knows no session logic (chat-session) and no model.
// Invariants: Ctrl-C stops what runs, pressed again on an empty line it leaves; no line that was typed is lost: it is answered, or comes
// back to the editor; the terminal is given back as it was, whatever fails.
import {
  Container,
  decodeKittyPrintable,
  Editor,
  matchesKey,
  ProcessTerminal,
  Spacer,
  type Terminal,
  TuiMainScreen,
} from '@earendil-works/pi-tui';
import { systemClock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import type { CommandOutput } from '#core/agent/command-spec.ts';
import type { App } from '#surfaces/app/app.ts';
import { isExitLine, waitsForTurn } from '../mount-command.ts';
import { createTerminalApprover, createTerminalAsker, QuestionQueue } from '../questions.ts';
import { failureLines } from '../render-output.ts';
import { commandLines, createPaint, eventLines } from '../terminal-text.ts';
import { ChatSession } from './chat-session.ts';
import { createCompletions } from './completions.ts';
import {
  Footer,
  HistorySearch,
  keysPanel,
  letGoOfOldParts,
  QuestionPanel,
  SecretInput,
  TurnMeter,
  WaitingPanel,
  WorkingLine,
} from './screen-parts.ts';
import { holdTerminal, type TerminalHold } from './terminal-hold.ts';
import { editorTheme, Transcript } from './transcript.ts';
import { commandOf, type InputHistory, isSecret, linePlace, mentionsIn, openInputHistory } from './typed-line.ts';

export interface ChatScreenOptions {
  readonly greeting: readonly string[];
  readonly resume?: string;
  readonly newId?: string;
  /** The first line, taken as if it had been typed. */
  readonly prompt?: string;
  readonly continueLast: boolean;
  readonly historyFile: string;
  /** Default: that of the process. */
  readonly terminal?: Terminal;
}

const LEAVE_WITHIN_MS = 2_000;
const ESCAPE = '\u001b';
const TONES = { added: 'green', removed: 'red' } as const;

/** Runs until the person leaves or `signal` aborts; resolves to the exit code. */
export async function runChatScreen(app: App, options: ChatScreenOptions, signal: AbortSignal): Promise<number> {
  const screen = new ChatScreen(app, options);
  try {
    return await screen.run(signal);
  } finally {
    await screen.close();
  }
}

class ChatScreen {
  readonly #options: ChatScreenOptions;
  readonly #paint = createPaint(true);
  readonly #tui: TuiMainScreen;
  readonly #hold: TerminalHold;
  readonly #transcript = new Transcript(this.#paint);
  readonly #panel = new QuestionPanel(this.#paint);
  readonly #editor: Editor;
  readonly #input = new Container();
  readonly #waiting = new WaitingPanel(this.#paint);
  /** What `?` shows; empty otherwise. */
  readonly #keys = new Container();
  readonly #footer = new Footer(this.#paint);
  readonly #working: WorkingLine;
  readonly #questions: QuestionQueue;
  /** What stood in the editor when a question came: it is no answer, and comes back. */
  #draft = '';
  readonly #meter = new TurnMeter();
  readonly #ended = Promise.withResolvers<number>();
  readonly #leaving = new AbortController();
  readonly #chat: ChatSession;
  readonly #history: InputHistory;
  /** Turns and changes of the session, one after the other. */
  #work: Promise<void> = Promise.resolve();
  #interruptedAt = Number.NEGATIVE_INFINITY;
  #hasChosen = false;
  #isSearching = false;

  constructor(app: App, options: ChatScreenOptions) {
    this.#options = options;
    this.#tui = new TuiMainScreen(options.terminal ?? new ProcessTerminal());
    this.#hold = holdTerminal(this.#tui);
    this.#editor = new Editor(this.#tui, editorTheme(this.#paint));
    this.#working = new WorkingLine(this.#tui, this.#paint, (elapsed) => this.#activity(elapsed));
    this.#history = openInputHistory(options.historyFile, (error) => this.#transcript.addLine(errorText(error), 'red'));
    const onOpen = () => this.#showKeys();
    this.#questions = new QuestionQueue({ onChange: () => this.#showQuestion(), onOpen, clock: app.clock });
    const { ask } = this.#questions;
    this.#chat = new ChatSession({
      app,
      ask,
      approver: createTerminalApprover(ask),
      asker: createTerminalAsker(ask),
      submit: (line) => this.#take(line),
      writeTerminal: (sequence) => this.#tui.terminal.write(sequence),
      continueLast: options.continueLast,
      ...(options.resume === undefined ? {} : { resume: options.resume }),
      ...(options.newId === undefined ? {} : { newId: options.newId }),
    });
  }

  async run(signal: AbortSignal): Promise<number> {
    signal.addEventListener('abort', () => this.#ended.resolve(0), { once: true });
    const problem = await this.#chat.open();
    if (problem !== undefined) {
      for (const text of failureLines(problem)) process.stderr.write(`talaria: ${text}\n`);
      return problem.exitCode;
    }
    await this.#lay();
    this.#transcript.addPast(this.#chat.conversation?.history ?? []);
    this.#update();
    if (!signal.aborted) this.#hold.start();
    this.#queue(() => this.#between());
    if (this.#options.prompt !== undefined) this.#take(this.#options.prompt);
    return this.#ended.promise;
  }

  async close(): Promise<void> {
    this.#leaving.abort();
    this.#questions.close();
    this.#chat.stop();
    await this.#work;
    this.#working.hide();
    const session = this.#chat.resumable();
    this.#hold.end(this.#transcript.container);
    await this.#chat.close();
    if (session !== undefined) this.#tui.terminal.write(`session ${session} · talaria --resume ${session}\n`);
  }

  async #lay(): Promise<void> {
    for (const line of this.#options.greeting) this.#transcript.addLine(line);
    this.#editor.setAutocompleteProvider(await createCompletions(this.#chat));
    for (const line of this.#history.lines) this.#editor.addToHistory(line);
    this.#editor.onSubmit = (text) => this.#submit(text);
    this.#editor.onChange = () => {
      this.#hasChosen = false;
    };
    this.#input.addChild(this.#editor);
    const { container } = this.#transcript;
    const { container: working } = this.#working;
    const { container: question } = this.#panel;
    for (const part of [
      container,
      working,
      this.#waiting,
      question,
      this.#keys,
      new Spacer(1),
      this.#input,
      this.#footer,
    ])
      this.#tui.addChild(part);
    this.#tui.setFocus(this.#editor);
    this.#tui.addInputListener((data) => this.#onKey(data));
  }

  #onKey(data: string): { consume: boolean } | undefined {
    if (this.#closesKeys(data)) return { consume: true };
    if (matchesKey(data, 'ctrl+c')) return this.#interrupt();
    if (matchesKey(data, 'ctrl+z')) {
      this.#hold.suspend();
      return { consume: true };
    }
    // Not even the keys that would stop or search: what comes now was meant for something else.
    if (this.#questions.isUnread) return { consume: true };
    if (this.#isSearching) return undefined;
    if (this.#editor.getText() === '' && this.#onKeyOfEmptyLine(data)) return { consume: true };
    if (matchesKey(data, 'ctrl+r') && !this.#questions.current) return this.#search();
    if (matchesKey(data, 'escape') && this.#chat.isBusy && !this.#editor.isShowingAutocomplete()) {
      this.#stop();
      return { consume: true };
    }
    this.#keepTyped(data);
    return undefined;
  }

  /** True when the key did something that an empty line alone lets it do. */
  #onKeyOfEmptyLine(data: string): boolean {
    if (matchesKey(data, 'ctrl+d')) this.#leave();
    else if (this.#questions.current) return false;
    else if (data === '?' || decodeKittyPrintable(data) === '?') this.#keys.addChild(keysPanel(this.#paint));
    else if (matchesKey(data, 'up') && this.#chat.waiting.length > 0) this.#editor.setText(this.#chat.takeLast() ?? '');
    else return false;
    this.#update();
    return true;
  }

  /** The next key closes what `?` has opened, and is taken as any other unless that is all it is for. */
  #closesKeys(data: string): boolean {
    if (this.#keys.children.length === 0) return false;
    this.#keys.clear();
    this.#tui.requestRender();
    return data === '?' || matchesKey(data, 'escape') || matchesKey(data, 'ctrl+c');
  }

  /**
   * Enter runs a command with the words as they were typed, and sends a line that names a file; what is offered counts when it was
   * chosen with an arrow key.
   */
  #keepTyped(data: string): void {
    if (!this.#editor.isShowingAutocomplete()) return;
    if (matchesKey(data, 'up') || matchesKey(data, 'down')) this.#hasChosen = true;
    if (!matchesKey(data, 'enter') || this.#hasChosen) return;
    const { line, col } = this.#editor.getCursor();
    const before = this.#editor.getLines()[line]?.slice(0, col) ?? '';
    const isWhole = mentionsIn(before, linePlace(this.#chat.app)).some(({ to }) => to === col);
    if (isWhole || /^\/\S+\s/.test(this.#editor.getText())) this.#editor.handleInput(ESCAPE);
  }

  #interrupt(): { consume: boolean } {
    const now = systemClock.monotonic();
    const again = now - this.#interruptedAt < LEAVE_WITHIN_MS;
    this.#interruptedAt = now;
    const draft = this.#editor.getExpandedText().trim();
    if (this.#isSearching) this.#showInput();
    else if (again && draft === '') return this.#leave();
    else if (this.#chat.isBusy && !this.#chat.isStopping) this.#stop();
    else if (draft !== '') this.#setAside(draft);
    else this.#transcript.addLine('Ctrl-C again leaves', 'dim');
    this.#tui.requestRender();
    return { consume: true };
  }

  /** What waits comes back to the editor, before what stands there. */
  #stop(): void {
    const lines = this.#chat.takeBack();
    if (lines.length > 0) this.#editor.setText([...lines, this.#editor.getExpandedText()].join('\n').trimEnd());
    this.#chat.stop();
    this.#update();
  }

  /** Clears the line; Up brings it back. */
  #setAside(draft: string): void {
    this.#interruptedAt = Number.NEGATIVE_INFINITY;
    this.#history.add(draft);
    this.#editor.addToHistory(draft);
    this.#editor.setText('');
  }

  #search(): { consume: boolean } {
    this.#showInput(
      new HistorySearch(this.#history.lines, this.#paint, (line) => {
        this.#showInput();
        if (line !== undefined) this.#editor.setText(line);
      }),
    );
    return { consume: true };
  }

  /** What waits is not sent any more. */
  #leave(): { consume: boolean } {
    this.#chat.takeBack();
    this.#ended.resolve(0);
    return { consume: true };
  }

  #submit(text: string): void {
    const line = text.trim();
    const { current } = this.#questions;
    // A command is no answer: the question waits for one.
    if (current && (current.secret || !line.startsWith('/'))) {
      for (const said of current.lines) this.#transcript.addLine(said, 'yellow');
      this.#transcript.addLine(`› ${current.secret || isSecret(line) ? '(hidden)' : line}`, 'dim');
      this.#questions.answer(line);
    } else if (line !== '') this.#take(line);
    this.#tui.requestRender();
  }

  /** A command runs at once, also beside a turn, unless it changes the conversation; any other line waits until it is its turn. */
  #take(line: string): void {
    this.#interruptedAt = Number.NEGATIVE_INFINITY;
    this.#history.add(line);
    if (!isSecret(line)) this.#editor.addToHistory(line);
    if (isExitLine(line)) return void this.#leave();
    if (line.startsWith('/')) {
      this.#transcript.addOwner(line);
      const isBeside = this.#chat.isRunning && !waitsForTurn(line);
      if (this.#chat.isRunning && !isBeside) this.#transcript.addLine('after this turn', 'dim');
      this.#queue(() => this.#runSlash(line), isBeside ? Promise.resolve() : this.#work);
      return;
    }
    this.#chat.wait(line);
    this.#update();
    this.#queue(() => this.#runNext());
  }

  #queue(work: () => Promise<void>, before = this.#work): void {
    const done = before.then(work).catch((error: unknown) => {
      if (!this.#leaving.signal.aborted) this.#transcript.addLine(errorText(error), 'red');
    });
    this.#work = Promise.all([this.#work, done]).then(() => undefined);
  }

  /** What was learned, and what waits for a yes; a line typed instead of an answer is taken as any other. */
  async #between(): Promise<void> {
    if (this.#chat.isRunning || this.#chat.waiting.length > 0) return;
    const { betweenTurns } = this.#chat;
    for await (const text of betweenTurns.say(this.#leaving.signal)) {
      for (const row of text.split('\n')) this.#transcript.addLine(row, 'dim');
      this.#tui.requestRender();
    }
    const instead = betweenTurns.takeLine();
    if (instead !== undefined) this.#take(instead);
  }

  /** The line that has waited longest, unless it was taken meanwhile. */
  async #runNext(): Promise<void> {
    const line = this.#chat.next();
    if (line === undefined) return;
    this.#transcript.addOwner(line);
    this.#update();
    await this.#runTurn(line);
    await this.#between();
  }

  async #runTurn(line: string): Promise<void> {
    const linesOf = commandOf(line) === undefined ? eventLines : commandLines;
    for (const text of await this.#chat.betweenTurns.news()) this.#transcript.addLine(text, 'dim');
    this.#working.show();
    try {
      for await (const event of this.#chat.send(line)) {
        this.#meter.take(event);
        this.#transcript.addEvent(event, linesOf(event));
        if (event.type === 'steer') this.#update();
        letGoOfOldParts(this.#tui, this.#transcript.container);
        this.#tui.requestRender();
      }
    } finally {
      this.#working.hide();
      this.#update();
    }
  }

  async #runSlash(line: string): Promise<void> {
    const before = this.#chat.conversation;
    const isAlone = !this.#chat.isRunning;
    if (isAlone) this.#working.show();
    try {
      for await (const output of this.#chat.slash(line)) this.#showOutput(output);
    } finally {
      if (isAlone) this.#working.hide();
    }
    const { conversation } = this.#chat;
    if (conversation && conversation !== before) {
      this.#meter.forgetContext();
      this.#transcript.addPast(conversation.history);
    }
    if (this.#chat.isLeaving) this.#leave();
    this.#update();
    await this.#between();
  }

  #showOutput(output: CommandOutput): void {
    if (output.type === 'failure') for (const text of failureLines(output)) this.#transcript.addLine(text, 'red');
    else if (output.type === 'line') this.#transcript.addLine(output.text, output.tone && TONES[output.tone]);
    else if (output.type === 'table') this.#transcript.addTable(output);
    this.#tui.requestRender();
  }

  #showQuestion(): void {
    const { current } = this.#questions;
    const typed = this.#editor.getExpandedText();
    this.#draft = current ? [this.#draft, typed].filter(Boolean).join('\n') : this.#draft;
    if (current) this.#editor.setText('');
    else if (this.#draft !== '') this.#editor.setText([this.#draft, typed].filter(Boolean).join('\n'));
    if (!current) this.#draft = '';
    this.#panel.show(current);
    this.#showInput(current?.secret ? this.#secretInput() : this.#editor);
    if (!current) return;
    this.#tui.renderNow();
    this.#questions.drawn();
  }

  #showKeys(): void {
    this.#panel.showKeys();
    this.#tui.requestRender();
  }

  #showInput(input: Editor | SecretInput | HistorySearch = this.#editor): void {
    this.#isSearching = input instanceof HistorySearch;
    this.#input.clear();
    this.#input.addChild(input);
    this.#tui.setFocus(input);
    this.#tui.requestRender();
  }

  #secretInput(): SecretInput {
    const input = new SecretInput();
    input.onSubmit = (text) => this.#submit(text);
    return input;
  }

  #activity(elapsed: string): string {
    if (this.#questions.isOpen) return `waiting for your answer · ${elapsed} · Ctrl-C stops`;
    if (this.#chat.isStopping) return `stopping · ${elapsed} · Ctrl-C leaves`;
    return `${this.#meter.activity} · ${elapsed} · Ctrl-C stops`;
  }

  #update(): void {
    const { app, conversation } = this.#chat;
    const { id, contextWindow } = app.model();
    const session = conversation?.session.id ?? '';
    this.#waiting.show(this.#chat.waiting);
    this.#footer.show({ model: id, cost: this.#meter.cost, context: this.#meter.contextOf(contextWindow), session });
    this.#tui.requestRender();
  }
}
