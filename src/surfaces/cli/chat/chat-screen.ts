// Owns the interactive chat: editor, transcript, spinner, footer, keys. Knows no session logic (chat-session) and no model.
// Invariants: Ctrl-C stops a turn, pressed again it leaves; the terminal is given back as it was, whatever fails.
import {
  CombinedAutocompleteProvider,
  Editor,
  Loader,
  matchesKey,
  ProcessTerminal,
  Spacer,
  Text,
  TuiMainScreen,
} from '@earendil-works/pi-tui';
import { systemClock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { messageText } from '#core/model/message.ts';
import type { App } from '#surfaces/app/app.ts';
import { failureLines, outputLines } from '../render-output.ts';
import { createTerminalApprover, createTerminalAsker } from '../terminal-approver.ts';
import { createPaint, formatCost, formatMs, oneLine } from '../terminal-text.ts';
import { ChatSession } from './chat-session.ts';
import { editorTheme } from './chat-theme.ts';
import { type InputHistory, isSecret, openInputHistory } from './input-history.ts';
import { Transcript } from './transcript.ts';

export interface ChatScreenOptions {
  readonly greeting: readonly string[];
  readonly colour: boolean;
  readonly resume?: string;
  readonly continueLast: boolean;
  readonly historyFile: string;
}

const LEAVE_WITHIN_MS = 2_000;

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
  readonly #paint: ReturnType<typeof createPaint>;
  readonly #tui = new TuiMainScreen(new ProcessTerminal());
  readonly #transcript: Transcript;
  readonly #editor: Editor;
  readonly #loader: Loader;
  readonly #footer = new Text('', 0, 0);
  readonly #chat: ChatSession;
  readonly #history: InputHistory;
  readonly #questions: ((answer: string | undefined) => void)[] = [];
  readonly #ended = Promise.withResolvers<number>();
  #cost = 0;
  #interruptedAt = Number.NEGATIVE_INFINITY;
  #work: Promise<void> = Promise.resolve();
  #stopTicking: (() => void) | undefined;

  constructor(app: App, options: ChatScreenOptions) {
    this.#options = options;
    this.#paint = createPaint(options.colour);
    this.#transcript = new Transcript(this.#paint);
    this.#editor = new Editor(this.#tui, editorTheme(this.#paint));
    this.#loader = new Loader(
      this.#tui,
      (text) => this.#paint('cyan', text),
      (text) => this.#paint('dim', text),
      '',
    );
    this.#history = openInputHistory(options.historyFile, (error) => this.#transcript.addProblem(errorText(error)));
    const ask = (lines: readonly string[]) => this.#ask(lines);
    this.#chat = new ChatSession({
      app,
      approver: createTerminalApprover(ask),
      asker: createTerminalAsker(ask),
      continueLast: options.continueLast,
      ...(options.resume === undefined ? {} : { resume: options.resume }),
      ask: async (question) => (await ask([question])) ?? '',
    });
  }

  async run(signal: AbortSignal): Promise<number> {
    signal.addEventListener('abort', () => this.#ended.resolve(0), { once: true });
    const problem = await this.#chat.open();
    await this.#lay();
    if (problem !== undefined) this.#transcript.addProblem(problem);
    if (problem !== undefined) await this.#chat.startNew();
    this.#showPast();
    this.#updateFooter();
    this.#tui.start();
    return this.#ended.promise;
  }

  async close(): Promise<void> {
    for (const answer of this.#questions.splice(0)) answer(undefined);
    this.#chat.stopTurn();
    this.#loader.stop();
    this.#stopTicking?.();
    await this.#work;
    const session = this.#chat.conversation?.session.id;
    this.#tui.removeChild(this.#editor);
    this.#tui.removeChild(this.#footer);
    this.#tui.renderNow();
    this.#tui.stop();
    await this.#chat.close();
    if (session) process.stdout.write(`\nsession ${session} · talaria --resume ${session}\n`);
  }

  async #lay(): Promise<void> {
    for (const line of this.#options.greeting) this.#transcript.addLine(line);
    const commands = (await this.#chat.commands()).map(({ name, summary }) => ({ name, description: summary }));
    this.#editor.setAutocompleteProvider(new CombinedAutocompleteProvider(commands, process.cwd()));
    for (const line of this.#history.lines) this.#editor.addToHistory(line);
    this.#editor.onSubmit = (text) => this.#submit(text);
    for (const part of [this.#transcript.container, new Spacer(1), this.#editor, this.#footer])
      this.#tui.addChild(part);
    this.#tui.setFocus(this.#editor);
    this.#tui.addInputListener((data) => this.#onKey(data));
  }

  #showPast(): void {
    const past = this.#chat.conversation?.history ?? [];
    for (const message of past.slice(-12)) {
      const text = messageText(message);
      if (text === '' || message.role === 'tool') continue;
      if (message.role === 'user') this.#transcript.addOwner(text);
      else this.#transcript.addLine(text);
    }
    if (past.length > 0) this.#transcript.addDim(`(${past.length} messages so far in this session)`);
  }

  #onKey(data: string): { consume: boolean } | undefined {
    if (matchesKey(data, 'ctrl+c')) return this.#interrupt();
    if (matchesKey(data, 'ctrl+d') && this.#editor.getText() === '') return this.#leave();
    if (matchesKey(data, 'escape') && this.#chat.isRunning && !this.#editor.isShowingAutocomplete()) {
      this.#chat.stopTurn();
      return { consume: true };
    }
    return undefined;
  }

  #interrupt(): { consume: boolean } {
    const now = systemClock.monotonic();
    const again = now - this.#interruptedAt < LEAVE_WITHIN_MS;
    this.#interruptedAt = now;
    if (again) return this.#leave();
    if (this.#chat.isRunning) {
      for (const answer of this.#questions.splice(0)) answer(undefined);
      this.#chat.stopTurn();
    } else if (this.#editor.getText() !== '') this.#editor.setText('');
    else this.#transcript.addDim('Ctrl-C again leaves');
    this.#tui.requestRender();
    return { consume: true };
  }

  #leave(): { consume: boolean } {
    this.#ended.resolve(0);
    return { consume: true };
  }

  #submit(text: string): void {
    const line = text.trim();
    const waiting = this.#questions.shift();
    if (waiting) {
      this.#transcript.addDim(`› ${isSecret(line) ? '(hidden)' : line}`);
      waiting(line);
    } else if (line !== '') this.#take(line);
    this.#tui.requestRender();
  }

  #take(line: string): void {
    this.#history.add(line);
    if (!isSecret(line)) this.#editor.addToHistory(line);
    if (this.#chat.isRunning && !line.startsWith('/')) {
      this.#chat.steer(line);
      this.#transcript.addDim(`› ${line} (at the next step)`);
      return;
    }
    if (['exit', 'quit', '/quit', '/exit'].includes(line)) return void this.#leave();
    this.#transcript.addOwner(isSecret(line) ? `${line.split(/\s+/).slice(0, 2).join(' ')} (hidden)` : line);
    const work = line.startsWith('/') ? () => this.#runSlash(line) : () => this.#runTurn(line);
    this.#work = this.#work.then(work).catch((error: unknown) => this.#transcript.addProblem(errorText(error)));
  }

  async #runTurn(line: string): Promise<void> {
    this.#showWorking();
    try {
      for await (const event of this.#chat.send(line)) {
        this.#transcript.addEvent(event);
        if (event.type === 'turn-end') this.#cost += event.cost ?? 0;
        this.#tui.requestRender();
      }
    } finally {
      this.#hideWorking();
      this.#updateFooter();
    }
  }

  async #runSlash(line: string): Promise<void> {
    for await (const output of this.#chat.slash(line, new AbortController().signal)) {
      if (output.type === 'failure') for (const text of failureLines(output)) this.#transcript.addProblem(text);
      else if (output.type !== 'data') for (const text of outputLines(output)) this.#transcript.addLine(text);
      this.#tui.requestRender();
    }
    if (this.#chat.isLeaving) this.#leave();
    this.#updateFooter();
  }

  #ask(lines: readonly string[]): Promise<string | undefined> {
    for (const line of lines) this.#transcript.addQuestion(line);
    this.#tui.requestRender();
    return new Promise((resolve) => this.#questions.push(resolve));
  }

  #showWorking(): void {
    const from = systemClock.monotonic();
    const tick = () => {
      const waits = this.#questions.length > 0 ? 'waiting for your answer' : 'working';
      this.#loader.setMessage(
        `${waits} · ${formatMs(Math.floor((systemClock.monotonic() - from) / 1_000) * 1_000)} · Ctrl-C stops`,
      );
      this.#stopTicking = systemClock.after(500, tick);
    };
    this.#tui.children.splice(1, 0, this.#loader);
    this.#loader.start();
    tick();
  }

  #hideWorking(): void {
    this.#stopTicking?.();
    this.#loader.stop();
    this.#tui.removeChild(this.#loader);
  }

  #updateFooter(): void {
    const { app, conversation } = this.#chat;
    const model = app.model();
    const facts = [
      `${model.id} (${oneLine(model.reason, 60)})`,
      conversation?.session.id ?? '',
      formatCost(this.#cost),
      '/help',
    ];
    this.#footer.setText(this.#paint('dim', facts.join(' · ')));
    this.#tui.requestRender();
  }
}
