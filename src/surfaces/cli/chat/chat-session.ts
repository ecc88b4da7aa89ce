// Owns what a chat is beneath its screen: the conversation it is in, changing it, stopping what runs, the lines that wait. Plain chat
// and the screen both drive it. Knows no terminal. Invariants: one open conversation at a time; a failed change leaves the old one
// open; whatever runs can be stopped; a line waits until it is sent, taken back, or a running turn says that it took it.
import { isAborted } from '#base/abort.ts';
import { errorText } from '#base/errors.ts';
import type { Approver, Asker } from '#core/agent/approver.ts';
import type { AnyCommand, CommandContext, CommandOutput } from '#core/agent/command-spec.ts';
import { type Conversation, stopRequest } from '#core/agent/conversation.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { UserPart } from '#core/model/message.ts';
import type { Learning, LearningOffer } from '#mind/learning/learning.ts';
import type { App } from '#surfaces/app/app.ts';
import { readSlashLine } from '../mount-command.ts';
import type { Ask } from '../questions.ts';
import { asJson } from '../render-output.ts';
import { openProblem, visible } from '../terminal-text.ts';
import type { ChatControl, CommandFailure } from './session-commands.ts';
import { chatCommands } from './slash-commands.ts';
import { attach, BANG_ALONE, commandOf, linePlace, mentionsIn, withoutSigns } from './typed-line.ts';

export interface ChatOptions {
  readonly app: App;
  readonly approver: Approver;
  readonly asker: Asker;
  readonly resume?: string;
  /** Id of the session that the chat begins, when it begins one. */
  readonly newId?: string;
  readonly continueLast: boolean;
  /** Takes a line as if it had been typed, after what waits. */
  readonly submit: (line: string) => void;
  /** Gives the terminal a sequence that draws nothing; absent where there is no screen. */
  readonly writeTerminal?: (sequence: string) => void;
  /** Asks for a line in mid-command, e.g. a key; absent where nobody can answer. */
  readonly ask?: Ask;
}

interface WaitingLine {
  readonly line: string;
  /** The running turn has it, and has not taken it yet. */
  steered: boolean;
}

export class ChatSession implements ChatControl {
  readonly app: App;
  readonly #options: ChatOptions;
  readonly betweenTurns: BetweenTurns;
  readonly #commands = new Set<AbortController>();
  readonly #waiting: WaitingLine[] = [];
  #conversation: Conversation | undefined;
  #turn: AbortController | undefined;
  #leaving = false;
  #again: { readonly line: string; readonly extra: readonly UserPart[] } | undefined;

  constructor(options: ChatOptions) {
    this.app = options.app;
    this.#options = options;
    this.betweenTurns = new BetweenTurns(options.app.doors.learning, options.ask);
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

  get writeTerminal(): ((sequence: string) => void) | undefined {
    return this.#options.writeTerminal;
  }

  submit(line: string, extra: readonly UserPart[] = []): void {
    this.#again = extra.length > 0 ? { line, extra } : undefined;
    this.#options.submit(line);
  }

  leave(): void {
    this.#leaving = true;
  }

  /** Opens the session the chat was started for; yields what went wrong. */
  async open(): Promise<CommandFailure | undefined> {
    const { resume, newId, continueLast } = this.#options;
    const named = { ...(resume === undefined ? {} : { resume }), ...(newId === undefined ? {} : { newId }) };
    return this.#change({ continueLast, ...named });
  }

  async startNew(): Promise<CommandFailure | undefined> {
    return this.#change({});
  }

  async resume(sessionId: string): Promise<CommandFailure | undefined> {
    return this.#change({ resume: sessionId });
  }

  /** One turn: what the line says, with the files it names, or the command it is; `extra` goes along. */
  async *send(line: string, extra: readonly UserPart[] = []): AsyncGenerator<TurnEvent, void> {
    const conversation = this.#conversation;
    if (!conversation) throw new Error('the chat has no open conversation');
    const turn = new AbortController();
    this.#turn = turn;
    if (extra.length > 0) this.#again = { line, extra };
    try {
      for await (const event of this.#answer(line, conversation, turn.signal)) {
        if (event.type === 'steer') this.#dropTaken(event.text);
        yield event;
      }
    } finally {
      this.#turn = undefined;
      this.#unsteer();
    }
  }

  /** Lines that were typed while something ran, oldest first. */
  get waiting(): readonly string[] {
    return this.#waiting.map(({ line }) => line);
  }

  /** Keeps a line until it is its turn; a running turn that can be steered has it at once, unless others wait before it. */
  wait(line: string): void {
    const steered = this.#canSteer(line) && this.#waiting.every((other) => other.steered);
    this.#waiting.push({ line, steered });
    if (steered) this.#conversation?.steer(line);
  }

  /** The line that has waited longest; it waits no more. */
  next(): string | undefined {
    return this.#waiting.shift()?.line;
  }

  /** Takes back every line that waits. */
  takeBack(): readonly string[] {
    this.#unsteer();
    const left = this.#waiting.filter(({ steered }) => !steered);
    for (const one of left) this.#waiting.splice(this.#waiting.indexOf(one), 1);
    return left.map(({ line }) => line);
  }

  /** Takes back the line that was typed last. */
  takeLast(): string | undefined {
    const untaken = this.#unsteer();
    const last = this.#waiting.at(-1);
    if (last && !last.steered) this.#waiting.pop();
    for (const other of untaken.filter((one) => one !== last)) {
      other.steered = true;
      this.#conversation?.steer(other.line);
    }
    return last?.steered ? undefined : last?.line;
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
      const outputs = read.command.run(read.input as never, this.#context(control.signal));
      yield* read.json ? asJson(outputs) : outputs;
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

  async *#answer(line: string, conversation: Conversation, signal: AbortSignal): AsyncGenerator<TurnEvent, void> {
    const command = commandOf(line);
    if (command === '') {
      yield { type: 'notice', text: BANG_ALONE };
      return;
    }
    if (command !== undefined) {
      yield* conversation.send(line, { signal, call: { name: 'terminal', arguments: { command } } });
      return;
    }
    const again = this.#takeAgain(line);
    if (this.app.model().tier === 'T0') {
      yield* conversation.send(withoutSigns(line, linePlace(this.app)), { signal, extra: again });
      return;
    }
    const isAttached = again.some(({ label }) => label === 'file');
    const { parts, notes } = isAttached ? { parts: [], notes: [] } : await attach(line, this.app, signal);
    for (const text of notes) yield { type: 'notice', text };
    yield* conversation.send(line, { signal, extra: [...again, ...parts] });
  }

  /** What goes along with a line that is sent once more, once. */
  #takeAgain(line: string): readonly UserPart[] {
    const extra = this.#again?.line === line ? this.#again.extra : [];
    this.#again = undefined;
    return extra;
  }

  /** A steer is text alone, and the model-free tier reads one line a turn. */
  #canSteer(line: string): boolean {
    const isText = commandOf(line) === undefined && mentionsIn(line, linePlace(this.app)).length === 0;
    return isText && this.isRunning && !this.isStopping && this.app.model().tier !== 'T0';
  }

  #dropTaken(line: string): void {
    const index = this.#waiting.findIndex((other) => other.steered && other.line === line);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  /** What the turn has not taken, taken from it: these still wait. */
  #unsteer(): readonly WaitingLine[] {
    const { length } = this.#conversation?.takeBack() ?? [];
    const untaken = length === 0 ? [] : this.#waiting.filter(({ steered }) => steered).slice(-length);
    for (const one of untaken) one.steered = false;
    return untaken;
  }

  #context(signal: AbortSignal): CommandContext {
    const { ask } = this.#options;
    const sessionId = this.#conversation?.session.id;
    const submit = (text: string, extra?: readonly UserPart[]) => this.submit(text, extra);
    const here = { cwd: this.app.environment.cwd, signal, submit, ...(sessionId === undefined ? {} : { sessionId }) };
    if (!ask) return here;
    const askLine = async (question: string, kind?: 'secret') =>
      (await ask({ lines: visible(question).split('\n'), ...(kind === 'secret' ? { secret: true } : {}) }, signal)) ??
      '';
    return { ...here, ask: askLine };
  }

  async #change(target: {
    readonly resume?: string;
    readonly newId?: string;
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

// What is said between two turns: what learning did, and the drafts that wait for a yes. Plain chat and the screen both use it.
// Knows no screen and no rule of learning. Invariants: each draft is asked about once a chat; no answer leaves it waiting; a line that
// is no answer is the owner's next line.

type Wish = 'keep' | 'drop' | 'show' | 'always' | 'later';

const WISHES: readonly (readonly [RegExp, Wish])[] = [
  [/^y(?:es)?$|^keep$|^ok(?:ay)?$/i, 'keep'],
  [/^n(?:o)?$|^drop$/i, 'drop'],
  [/^s(?:how)?$/i, 'show'],
  [/^a(?:lways)?$/i, 'always'],
];

/** Drafts that are shown between two turns. */
const MOST_OFFERS = 5;

/** What it asks of learning. */
export interface LearningSource {
  readonly load: () => Promise<Pick<Learning, 'announcements' | 'offers' | 'accept' | 'reject'>>;
  readonly mayHaveNews: () => boolean;
}

export class BetweenTurns {
  readonly #source: LearningSource;
  readonly #ask: Ask | undefined;
  readonly #asked = new Set<string>();
  #line: string | undefined;

  constructor(source: LearningSource, ask: Ask | undefined) {
    this.#source = source;
    this.#ask = ask;
  }

  /** What learning did since the last look; asks nothing. */
  async news(): Promise<readonly string[]> {
    return this.#source.mayHaveNews() ? (await this.#source.load()).announcements() : [];
  }

  /** A line that was typed instead of an answer; once. */
  takeLine(): string | undefined {
    const line = this.#line;
    this.#line = undefined;
    return line;
  }

  /** Lines to show now; asks about drafts where a person can answer. */
  async *say(signal: AbortSignal): AsyncGenerator<string, void> {
    yield* await this.news();
    const offers = (await this.#offers()).filter(({ id }) => !this.#asked.has(id));
    for (const offer of offers.slice(0, MOST_OFFERS)) {
      this.#asked.add(offer.id);
      if (this.#ask) yield* this.#decide(offer, this.#ask, signal);
      else yield* [offer.line, `/pending accept ${offer.id} keeps it, /pending show ${offer.id} shows it`];
      if (this.#line !== undefined) return;
    }
    if (offers.length > MOST_OFFERS) yield `and ${offers.length - MOST_OFFERS} more: /pending list`;
  }

  async #offers(): Promise<readonly LearningOffer[]> {
    return this.#source.mayHaveNews() ? (await this.#source.load()).offers() : [];
  }

  async *#decide(offer: LearningOffer, ask: Ask, signal: AbortSignal): AsyncGenerator<string, void> {
    for (;;) {
      const answer = (await ask({ lines: [offer.line], keys: 'y / n / show / always' }, signal))?.trim() ?? '';
      const wish = WISHES.find(([pattern]) => pattern.test(answer))?.[1] ?? 'later';
      if (wish === 'show') {
        yield offer.text;
        continue;
      }
      if (wish === 'later' && answer !== '') this.#line = answer;
      yield await this.#carryOut(offer.id, wish, signal);
      return;
    }
  }

  /** Gives what to say about it. */
  async #carryOut(id: string, wish: Exclude<Wish, 'show'>, signal: AbortSignal): Promise<string> {
    if (wish === 'later') return `It waits: /pending accept ${id}`;
    const learning = await this.#source.load();
    const done =
      wish === 'drop'
        ? await learning.reject(id)
        : await learning.accept(id, wish === 'always' ? { always: true } : {}, signal);
    return done.ok ? done.value : `Not done: ${done.detail}`;
  }
}
