// Owns what a chat is beneath its screen: the conversation it is in, changing it, and the slash commands. Plain chat and the
// screen both drive it. Knows no terminal. Invariant: one open conversation at a time; a failed change leaves the old one open.
import { Command, CommanderError } from 'commander';
import { isAborted } from '#base/abort.ts';
import { errorText } from '#base/errors.ts';
import type { Approver, Asker } from '#core/agent/approver.ts';
import type { AnyCommand, CommandOutput } from '#core/agent/command-spec.ts';
import { type Conversation, stopRequest } from '#core/agent/conversation.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { App } from '#surfaces/app/app.ts';
import { mountCommands } from '../mount-command.ts';
import type { ChatControl } from './chat-control.ts';
import { chatCommands } from './slash-commands.ts';
import { splitWords } from './split-words.ts';

export interface ChatOptions {
  readonly app: App;
  readonly approver: Approver;
  readonly asker: Asker;
  readonly resume?: string;
  readonly continueLast: boolean;
  /** Asks for a line in mid-command, e.g. a key; absent where nobody can answer. */
  readonly ask?: (question: string) => Promise<string>;
}

export class ChatSession implements ChatControl {
  readonly app: App;
  readonly #options: ChatOptions;
  #conversation: Conversation | undefined;
  #turn: AbortController | undefined;
  #leaving = false;

  constructor(options: ChatOptions) {
    this.app = options.app;
    this.#options = options;
  }

  get conversation(): Conversation | undefined {
    return this.#conversation;
  }

  get isRunning(): boolean {
    return this.#turn !== undefined;
  }

  /** True once `/quit` was typed. */
  get isLeaving(): boolean {
    return this.#leaving;
  }

  leave(): void {
    this.#leaving = true;
  }

  /** Opens the session the chat was started for; yields what went wrong. */
  async open(): Promise<string | undefined> {
    const { resume, continueLast } = this.#options;
    return this.#change({ continueLast, ...(resume === undefined ? {} : { resume }) });
  }

  async startNew(): Promise<string | undefined> {
    return this.#change({});
  }

  async resume(sessionId: string): Promise<string | undefined> {
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

  stopTurn(): void {
    this.#turn?.abort(stopRequest());
  }

  /** Runs `/name words…`. */
  async *slash(line: string, signal: AbortSignal): AsyncGenerator<CommandOutput, void> {
    const words = expandAlias(splitWords(line.slice(1)));
    const found: { command?: AnyCommand; input?: unknown } = {};
    const said: string[] = [];
    const program = chatProgram(
      await this.commands(),
      (command, input) => Object.assign(found, { command, input }),
      said,
    );
    try {
      await program.parseAsync(words, { from: 'user' });
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      yield* commanderOutput(error, said, words[0] ?? '');
      return;
    }
    if (found.command) yield* this.#run(found.command, found.input, signal);
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
    this.stopTurn();
    await this.#conversation?.close();
    this.#conversation = undefined;
  }

  async *#run(command: AnyCommand, input: unknown, signal: AbortSignal): AsyncGenerator<CommandOutput, void> {
    const { ask } = this.#options;
    try {
      yield* command.run(input as never, { cwd: this.app.environment.cwd, signal, ...(ask ? { ask } : {}) });
    } catch (error) {
      if (isAborted(error)) return;
      yield { type: 'failure', exitCode: 1, code: 'internal-error', message: errorText(error), fix: '' };
    }
  }

  async #change(target: { readonly resume?: string; readonly continueLast?: boolean }): Promise<string | undefined> {
    const { app, approver, asker } = this.#options;
    const opened = await app.openConversation({ source: 'cli', cwd: app.environment.cwd, approver, asker, ...target });
    if (!opened.ok) return opened.detail;
    await this.#conversation?.close();
    this.#conversation = opened.value;
    return undefined;
  }
}

/** Short forms: `/sessions` lists, `/search words` searches, `/memory` shows. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  sessions: ['sessions', 'list'],
  search: ['sessions', 'search'],
  memory: ['memory', 'show'],
  config: ['config', 'show'],
  exit: ['quit'],
};

function expandAlias(words: readonly string[]): string[] {
  const [first = '', second] = words;
  const alias = ALIASES[first];
  if (!alias) return [...words];
  const isPlain = first === 'search' || second === undefined || second.startsWith('-');
  return isPlain ? [...alias, ...words.slice(1)] : [...words];
}

function chatProgram(
  commands: readonly AnyCommand[],
  found: (command: AnyCommand, input: unknown) => void,
  said: string[],
): Command {
  const keep = (text: string) => {
    said.push(text.trimEnd());
  };
  const program = new Command('/')
    .exitOverride()
    .configureOutput({ writeOut: keep, writeErr: keep })
    .helpCommand(false);
  mountCommands(program, commands, ({ command, input }) => found(command, input));
  return program;
}

function* commanderOutput(
  error: CommanderError,
  said: readonly string[],
  name: string,
): Generator<CommandOutput, void> {
  if (error.code === 'commander.helpDisplayed' || error.code === 'commander.help') {
    for (const text of said) yield { type: 'line', text };
    return;
  }
  const message = error.message.replace(/^error: /, '');
  const fix =
    error.code === 'commander.unknownCommand' ? '/help lists the commands.' : `/${name} --help shows how it is typed.`;
  yield { type: 'failure', exitCode: 2, code: 'usage', message, fix };
}
