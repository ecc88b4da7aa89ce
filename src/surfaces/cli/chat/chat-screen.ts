// Owns the interactive chat: what is on the screen, and which key does what. Knows no session logic (chat-session) and no model.
// Invariants: Ctrl-C stops what runs, pressed again it leaves; the terminal is given back as it was, whatever fails.
import { Container, Editor, matchesKey, ProcessTerminal, Spacer, TuiMainScreen } from '@earendil-works/pi-tui';
import { systemClock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import type { CommandOutput } from '#core/agent/command-spec.ts';
import type { App } from '#surfaces/app/app.ts';
import { isExitLine } from '../command-words.ts';
import { QuestionQueue } from '../questions.ts';
import { failureLines } from '../render-output.ts';
import { createTerminalApprover, createTerminalAsker } from '../terminal-approver.ts';
import { createPaint } from '../terminal-text.ts';
import { ChatSession } from './chat-session.ts';
import { createCompletions } from './completions.ts';
import { type InputHistory, isSecret, openInputHistory } from './input-history.ts';
import { editorTheme } from './view/chat-theme.ts';
import { Footer } from './view/footer.ts';
import { letGoOfOldParts } from './view/let-go.ts';
import { QuestionPanel, SecretInput } from './view/question-panel.ts';
import { holdTerminal } from './view/terminal-hold.ts';
import { Transcript } from './view/transcript.ts';
import { TurnMeter } from './view/turn-meter.ts';
import { WorkingLine } from './view/working-line.ts';

export interface ChatScreenOptions {
  readonly greeting: readonly string[];
  readonly resume?: string;
  readonly continueLast: boolean;
  readonly historyFile: string;
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
  readonly #tui = new TuiMainScreen(new ProcessTerminal());
  readonly #hold = holdTerminal(this.#tui);
  readonly #transcript = new Transcript(this.#paint);
  readonly #panel = new QuestionPanel(this.#paint);
  readonly #editor = new Editor(this.#tui, editorTheme(this.#paint));
  readonly #input = new Container();
  readonly #footer = new Footer(this.#paint);
  readonly #working = new WorkingLine(this.#tui, this.#paint, (elapsed) => this.#activity(elapsed));
  readonly #questions = new QuestionQueue(() => this.#showQuestion());
  readonly #meter = new TurnMeter();
  readonly #ended = Promise.withResolvers<number>();
  readonly #leaving = new AbortController();
  readonly #chat: ChatSession;
  readonly #history: InputHistory;
  /** Turns and changes of the session, one after the other. */
  #work: Promise<void> = Promise.resolve();
  #interruptedAt = Number.NEGATIVE_INFINITY;
  #hasChosen = false;

  constructor(app: App, options: ChatScreenOptions) {
    this.#options = options;
    this.#history = openInputHistory(options.historyFile, (error) => this.#transcript.addLine(errorText(error), 'red'));
    const { ask } = this.#questions;
    this.#chat = new ChatSession({
      app,
      ask,
      approver: createTerminalApprover(ask),
      asker: createTerminalAsker(ask),
      continueLast: options.continueLast,
      ...(options.resume === undefined ? {} : { resume: options.resume }),
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
    if (session !== undefined) process.stdout.write(`session ${session} · talaria --resume ${session}\n`);
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
    for (const part of [container, this.#working.container, this.#panel.container, new Spacer(1), this.#input])
      this.#tui.addChild(part);
    this.#tui.addChild(this.#footer);
    this.#tui.setFocus(this.#editor);
    this.#tui.addInputListener((data) => this.#onKey(data));
  }

  #onKey(data: string): { consume: boolean } | undefined {
    if (matchesKey(data, 'ctrl+c')) return this.#interrupt();
    if (matchesKey(data, 'ctrl+d') && this.#editor.getText() === '') return this.#leave();
    if (matchesKey(data, 'ctrl+z')) {
      this.#hold.suspend();
      return { consume: true };
    }
    if (matchesKey(data, 'escape') && this.#chat.isBusy && !this.#editor.isShowingAutocomplete()) {
      this.#chat.stop();
      return { consume: true };
    }
    this.#keepTyped(data);
    return undefined;
  }

  /** Enter runs a command with the words as they were typed; what is offered counts when it was chosen with an arrow key. */
  #keepTyped(data: string): void {
    if (!this.#editor.isShowingAutocomplete()) return;
    if (matchesKey(data, 'up') || matchesKey(data, 'down')) this.#hasChosen = true;
    const hasWords = /^\/\S+\s/.test(this.#editor.getText());
    if (matchesKey(data, 'enter') && hasWords && !this.#hasChosen) this.#editor.handleInput(ESCAPE);
  }

  #interrupt(): { consume: boolean } {
    const now = systemClock.monotonic();
    const again = now - this.#interruptedAt < LEAVE_WITHIN_MS;
    this.#interruptedAt = now;
    if (again) return this.#leave();
    if (this.#chat.isBusy) this.#chat.stop();
    else if (this.#editor.getText() !== '') this.#editor.setText('');
    else this.#transcript.addLine('Ctrl-C again leaves', 'dim');
    this.#tui.requestRender();
    return { consume: true };
  }

  #leave(): { consume: boolean } {
    this.#ended.resolve(0);
    return { consume: true };
  }

  #submit(text: string): void {
    const line = text.trim();
    const { current } = this.#questions;
    if (current) {
      for (const said of current.lines) this.#transcript.addLine(said, 'yellow');
      this.#transcript.addLine(`› ${current.secret || isSecret(line) ? '(hidden)' : line}`, 'dim');
      this.#questions.answer(line);
    } else if (line !== '') this.#take(line);
    this.#tui.requestRender();
  }

  #take(line: string): void {
    this.#history.add(line);
    if (!isSecret(line)) this.#editor.addToHistory(line);
    if (isExitLine(line)) return void this.#leave();
    const isCommand = line.startsWith('/');
    if (this.#chat.isRunning && !isCommand) {
      this.#chat.steer(line);
      this.#transcript.addLine(`› ${line} (at the next step)`, 'dim');
      return;
    }
    this.#transcript.addOwner(isSecret(line) ? `${line.split(/\s+/).slice(0, 2).join(' ')} (hidden)` : line);
    this.#queue(async () => {
      await (isCommand ? this.#runSlash(line) : this.#runTurn(line));
      await this.#between();
    });
  }

  #queue(work: () => Promise<void>): void {
    const before = this.#chat.isRunning ? Promise.resolve() : this.#work;
    const done = before.then(work).catch((error: unknown) => {
      if (!this.#leaving.signal.aborted) this.#transcript.addLine(errorText(error), 'red');
    });
    this.#work = Promise.all([this.#work, done]).then(() => undefined);
  }

  /** What was learned, and what waits for a yes; a line typed instead of an answer is taken as any other. */
  async #between(): Promise<void> {
    if (this.#chat.isRunning) return;
    const { betweenTurns } = this.#chat;
    for await (const text of betweenTurns.say(this.#leaving.signal)) {
      for (const row of text.split('\n')) this.#transcript.addLine(row, 'dim');
      this.#tui.requestRender();
    }
    const instead = betweenTurns.takeLine();
    if (instead !== undefined) this.#take(instead);
  }

  async #runTurn(line: string): Promise<void> {
    for (const text of await this.#chat.betweenTurns.news()) this.#transcript.addLine(text, 'dim');
    this.#working.show();
    try {
      for await (const event of this.#chat.send(line)) {
        this.#meter.take(event);
        this.#transcript.addEvent(event);
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
    if (conversation && conversation !== before) this.#transcript.addPast(conversation.history);
    if (this.#chat.isLeaving) this.#leave();
    this.#update();
  }

  #showOutput(output: CommandOutput): void {
    if (output.type === 'failure') for (const text of failureLines(output)) this.#transcript.addLine(text, 'red');
    else if (output.type === 'line') this.#transcript.addLine(output.text, output.tone && TONES[output.tone]);
    else if (output.type === 'table') this.#transcript.addTable(output);
    this.#tui.requestRender();
  }

  #showQuestion(): void {
    const { current } = this.#questions;
    this.#panel.show(current);
    this.#input.clear();
    const input = current?.secret ? this.#secretInput() : this.#editor;
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
    if (this.#questions.current) return `waiting for your answer · ${elapsed} · Ctrl-C stops`;
    if (this.#chat.isStopping) return `stopping · ${elapsed} · Ctrl-C leaves`;
    return `${this.#meter.activity} · ${elapsed} · Ctrl-C stops`;
  }

  #update(): void {
    const { app, conversation } = this.#chat;
    const { id, contextWindow } = app.model();
    const session = conversation?.session.id ?? '';
    this.#footer.show({ model: id, cost: this.#meter.cost, context: this.#meter.contextOf(contextWindow), session });
    this.#tui.requestRender();
  }
}
