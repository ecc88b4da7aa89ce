// Owns what a chat is beneath its screen: the conversation it is in, changing it, stopping what runs. Plain chat and the
// screen both drive it. Knows no terminal. Invariants: one open conversation at a time; a failed change leaves the old one
// open; whatever runs can be stopped.
import { isAborted } from '#base/abort.ts';
import { errorText } from '#base/errors.ts';
import type { Approver, Asker } from '#core/agent/approver.ts';
import type { AnyCommand, CommandContext, CommandOutput } from '#core/agent/command-spec.ts';
import { type Conversation, stopRequest } from '#core/agent/conversation.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { App } from '#surfaces/app/app.ts';
import { openProblem } from '../open-problem.ts';
import type { Ask } from '../questions.ts';
import { type BetweenTurns, createBetweenTurns } from './between-turns.ts';
import type { ChatControl, CommandFailure } from './chat-control.ts';
import { chatCommands } from './slash-commands.ts';
import { readSlashLine } from './slash-line.ts';

export interface ChatOptions {
  readonly app: App;
  readonly approver: Approver;
  readonly asker: Asker;
  readonly resume?: string;
  readonly continueLast: boolean;
  /** Asks for a line in mid-command, e.g. a key; absent where nobody can answer. */
  readonly ask?: Ask;
}

export class ChatSession implements ChatControl {
  readonly app: App;
  readonly #options: ChatOptions;
  readonly betweenTurns: BetweenTurns;
  readonly #commands = new Set<AbortController>();
  #conversation: Conversation | undefined;
  #turn: AbortController | undefined;
  #leaving = false;

  constructor(options: ChatOptions) {
    this.app = options.app;
    this.#options = options;
    this.betweenTurns = createBetweenTurns(options.app, options.ask);
  }

  get conversation(): Conversation | undefined {
    return this.#conversation;
  }

  /** A turn is under way. */
  get isRunning(): boolean {
    return this.#turn !== undefined;
  }

  /** A turn or a command is under way: there is something to stop. */
  get isBusy(): boolean {
    return this.isRunning || this.#commands.size > 0;
  }

  /** True once what runs was asked to stop. */
  get isStopping(): boolean {
    return this.#turn?.signal.aborted === true;
  }

  /** True once `/quit` was typed. */
  get isLeaving(): boolean {
    return this.#leaving;
  }

  /** Id of the session that a later start can go on with; undefined while nothing was said. */
  resumable(): string | undefined {
    return this.#conversation && this.#conversation.history.length > 0 ? this.#conversation.session.id : undefined;
  }

  leave(): void {
    this.#leaving = true;
  }

  /** Opens the session the chat was started for; yields what went wrong. */
  async open(): Promise<CommandFailure | undefined> {
    const { resume, continueLast } = this.#options;
    return this.#change({ continueLast, ...(resume === undefined ? {} : { resume }) });
  }

  async startNew(): Promise<CommandFailure | undefined> {
    return this.#change({});
  }

  async resume(sessionId: string): Promise<CommandFailure | undefined> {
    return this.#change({ resume: sessionId });
  }

  async *send(text: string): AsyncGenerator<TurnEvent, void> {
    const conversation = this.#conversation;
    if (!conversation) throw new Error('the chat has no open conversation');
    const turn = new AbortController();
    this.#turn = turn;
    try {
      yield* conversation.send(text, { signal: turn.signal });
    } finally {
      this.#turn = undefined;
    }
  }

  steer(text: string): void {
    this.#conversation?.steer(text);
  }

  /** Stops the turn and the commands that run. */
  stop(): void {
    this.#turn?.abort(stopRequest());
    for (const command of this.#commands) command.abort(stopRequest());
  }

  /** Runs `/name words…`. */
  async *slash(line: string): AsyncGenerator<CommandOutput, void> {
    const read = await readSlashLine(line, await this.commands());
    if (read.type === 'said') {
      yield* read.outputs;
      return;
    }
    const control = new AbortController();
    this.#commands.add(control);
    try {
      yield* read.command.run(read.input as never, this.#context(control.signal));
    } catch (error) {
      yield isAborted(error) ? failure('stopped', 'stopped on request') : failure('failed', errorText(error));
    } finally {
      this.#commands.delete(control);
    }
  }

  /** Commands that can be typed after a slash, the chat's own first. */
  async commands(): Promise<readonly AnyCommand[]> {
    const own = chatCommands(this);
    const names = new Set(own.map((command) => command.name));
    const others = (await this.app.commands()).filter(
      (command) => command.surfaces.includes('chat') && !names.has(command.name),
    );
    return [...own, ...others];
  }

  async close(): Promise<void> {
    this.stop();
    await this.#conversation?.close();
    this.#conversation = undefined;
  }

  #context(signal: AbortSignal): CommandContext {
    const { ask } = this.#options;
    const sessionId = this.#conversation?.session.id;
    const here = { cwd: this.app.environment.cwd, signal, ...(sessionId === undefined ? {} : { sessionId }) };
    if (!ask) return here;
    const askLine = async (question: string, kind?: 'secret') =>
      (await ask({ lines: [question], ...(kind === 'secret' ? { secret: true } : {}) }, signal)) ?? '';
    return { ...here, ask: askLine };
  }

  async #change(target: {
    readonly resume?: string;
    readonly continueLast?: boolean;
  }): Promise<CommandFailure | undefined> {
    if (this.isRunning)
      return { ...failure('turn-running', 'a turn is running in this session'), fix: 'Ctrl-C stops it.' };
    const { app, approver, asker } = this.#options;
    const opened = await app.openConversation({ source: 'cli', cwd: app.environment.cwd, approver, asker, ...target });
    if (!opened.ok) return { type: 'failure', exitCode: 3, ...openProblem(opened) };
    await this.#conversation?.close();
    this.#conversation = opened.value;
    return undefined;
  }
}

function failure(code: string, message: string): CommandFailure {
  return { type: 'failure', exitCode: 1, code, message, fix: '' };
}
