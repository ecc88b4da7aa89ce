// Owns the live conversation: one session's frozen prompt, history and journal, over the one turn function; and turns beside it (forks), on the
// same frozen prompt, shown tools and stored messages, so that the provider's cache stays warm, with other runnable tools and a journal that is
// thrown away: nothing a fork does is part of the session's messages; its spans and cost are.
// Knows no surface and no provider. Invariants: the prompt is built once and reloaded byte for byte; a conversation rebuilt from the
// store behaves as the live one; one turn at a time. Seed 001 chapters 05, 07, 15.
import { AbortedError } from '#base/abort.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import type { EventSink } from '#base/fabric.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { ellipsize } from '#base/text.ts';
import { isText, type Message, type Origin, type TextPart, type UserPart } from '#core/model/message.ts';
import type { ModelClient, Purpose } from '#core/model/model-client.ts';
import { absentAsker, denyingApprover } from './approver.ts';
import type { CompressionSettings, Compressor } from './compress/compressor.ts';
import { summaryText } from './compress/summary.ts';
import {
  countTurns,
  DEFAULT_THRESHOLD,
  isTurnStart,
  LiveContext,
  messageTokens,
  missingResults,
  redactMessage,
} from './history.ts';
import type {
  FrozenPrompt,
  SessionLease,
  SessionRecord,
  SessionStart,
  SessionStore,
  Span,
  StoredMessage,
} from './session-store.ts';
import type { AnyTool } from './tool.ts';
import { resultLimitFor } from './turn/execute-tools.ts';
import { createHookRunner } from './turn/hook-runner.ts';
import { defaultStopConditions, type StopCondition } from './turn/run-step.ts';
import {
  type OwnersCall,
  runTurn,
  type TurnInput,
  type TurnLinks,
  type TurnMachine,
  type TurnMaterial,
} from './turn/run-turn.ts';
import type { SessionEvent, TurnEvent } from './turn-event.ts';

/** What a conversation is made with; the model can be changed later by `switchModel`. */
export interface ConversationParts {
  readonly store: SessionStore;
  readonly model: ModelClient;
  /** Builds the prompt of a new session, and the new one after a compression, for a context window of `window` tokens. */
  readonly buildPrompt: (window: number) => FrozenPrompt;
  readonly machine: ConversationMachine;
  readonly events?: EventSink<SessionEvent>;
  readonly compression?: CompressionSettings;
  /** Whose words are sent, where nobody says; default `owner`. */
  readonly speaker?: Origin;
}

export type ConversationMachine = Pick<TurnMachine, 'clock' | 'place' | 'hooks' | 'stop'> & {
  readonly access: Omit<TurnMachine['access'], 'shown'>;
};

export interface SendOptions {
  readonly signal: AbortSignal;
  /** Parts before the owner's text: piped input, attached files. */
  readonly extra?: readonly UserPart[];
  readonly purpose?: Purpose;
  /** Whose words the text is; default the speaker's. Programs that send text nobody typed say `model` or `foreign`. */
  readonly origin?: Origin;
  /** Narrows what may run in this turn; it counts instead of what the conversation was opened with. */
  readonly runnable?: ReadonlySet<string>;
  /** A call that the owner spelled out: the turn makes it, with all that goes with a call, and asks no model. */
  readonly call?: OwnersCall;
}

export type GoOnOptions = Pick<SendOptions, 'signal' | 'purpose' | 'runnable'>;

export interface Conversation {
  readonly session: SessionRecord;
  /** The same until a compression or the end. */
  readonly prompt: FrozenPrompt;
  readonly model: ModelClient;
  /** Messages of the live context, oldest first. */
  readonly history: readonly Message[];
  /** Runs one turn. Throws TalariaError `turn-running` when one is under way: use `steer` then. */
  send(text: string, options: SendOptions): AsyncGenerator<TurnEvent, void>;
  /**
   * Goes on with a turn that was cut off: without a new line, with the request that it was cut off at. Calls that have no result are answered
   * `interrupted` first, and not made again. Throws TalariaError `nothing-to-do` where the last word is an answer, `turn-running` as `send` does.
   */
  goOn(options: GoOnOptions): AsyncGenerator<TurnEvent, void>;
  /** A line for the turn under way, taken between two steps; without a turn it is the first of the next. */
  steer(text: string): void;
  /** Gives back the lines of `steer` that no step has taken, oldest first; they are not taken any more. */
  takeBack(): readonly string[];
  /** Counts from the next step on. */
  switchModel(model: ModelClient): void;
  /**
   * Compresses on request, whatever the size: yields notices, and a `prefix-break` when it was done. It is no turn and has no `turn-end`.
   * Throws TalariaError `turn-running` while a turn runs, and what the store or the signal throws; the old state then stands.
   */
  compress(signal: AbortSignal): AsyncGenerator<TurnEvent, void>;
  /**
   * Takes the last turn back, however it ended, as if it had not been asked: live context and store stay equal. What its tools did stays done.
   * Undefined: there is none, or it was compressed away. Throws TalariaError `turn-running` while a turn runs.
   */
  takeBackTurn(): Promise<TakenBack | undefined>;
  /** Ends the session's life in this process: hooks, lease. Idempotent. */
  close(): Promise<void>;
  /** Gives the lease back, and no hook hears of an end: the session's life goes on with whoever opens it next. Idempotent, and no `close` follows. */
  leave(): Promise<void>;
}

/** What was said to a turn that is taken back. */
export interface TakenBack {
  /** The owner's text, with the lines that steered the turn. */
  readonly text: string;
  /** What was piped in with it, and its pictures. */
  readonly extra: readonly UserPart[];
  /** Tools ran, and what they did stays done. */
  readonly acted: boolean;
}

export type OpenRequest = { readonly start: SessionStart } | { readonly resume: string };

export async function openConversation(
  request: OpenRequest,
  parts: ConversationParts,
  signal: AbortSignal,
): Promise<Result<Conversation, 'no-such-session' | 'owned-elsewhere'>> {
  const session = 'start' in request ? await parts.store.create(request.start) : await parts.store.get(request.resume);
  if (!session) return refuse('no-such-session', `There is no session ${'resume' in request ? request.resume : ''}.`);
  const lease = await parts.store.claim(session.id);
  if (!lease.ok) return lease;
  try {
    await tellStart(parts, session, signal);
    const prompt = (await parts.store.loadPrompt(session.id)) ?? (await freeze(parts, session.id));
    const history = 'start' in request ? [] : await parts.store.messages(session.id);
    const context = new LiveContext(prompt, history);
    return ok(new LiveConversation({ session, parts, context, lease: lease.value }));
  } catch (error) {
    await lease.value.release();
    throw error;
  }
}

/** Before the prompt is built: what a hook starts may have a block in it. */
async function tellStart(
  { machine: { hooks, clock }, events }: ConversationParts,
  { id: sessionId, source, cwd }: SessionRecord,
  signal: AbortSignal,
): Promise<void> {
  const runner = createHookRunner({ hooks, clock, emit: (event) => events?.emit({ sessionId, event }) });
  await runner.sessionStart({ sessionId, source, cwd }, signal);
}

async function freeze(parts: ConversationParts, sessionId: string): Promise<FrozenPrompt> {
  const prompt = parts.buildPrompt(parts.model.traits.contextWindow);
  await parts.store.savePrompt(sessionId, prompt);
  return prompt;
}

interface LiveOptions {
  readonly session: SessionRecord;
  readonly parts: ConversationParts;
  readonly context: LiveContext;
  readonly lease: SessionLease;
}

class LiveConversation implements Conversation {
  readonly session: SessionRecord;
  readonly #parts: ConversationParts;
  readonly #lease: SessionLease;
  readonly #context: LiveContext;
  #compressor: Compressor | undefined;
  readonly #steers: string[] = [];
  #model: ModelClient;
  #running = false;
  #closed = false;
  #titled: boolean;
  #strategySwitched = false;

  constructor(options: LiveOptions) {
    this.session = options.session;
    this.#parts = options.parts;
    this.#lease = options.lease;
    this.#context = options.context;
    this.#model = options.parts.model;
    this.#titled = options.session.title !== undefined;
  }

  get model(): ModelClient {
    return this.#model;
  }

  get prompt(): FrozenPrompt {
    return this.#context.prompt;
  }

  get history(): readonly Message[] {
    return this.#context.messages;
  }

  steer(text: string): void {
    this.#steers.push(text);
  }

  takeBack(): readonly string[] {
    return this.#steers.splice(0);
  }

  switchModel(model: ModelClient): void {
    if (model.traits.toolCalling !== this.#model.traits.toolCalling && this.history.length > 0)
      this.#strategySwitched = true;
    this.#model = model;
  }

  async *send(text: string, options: SendOptions): AsyncGenerator<TurnEvent, void> {
    yield* this.#alone(() => this.#turn(options, text));
  }

  async *goOn(options: GoOnOptions): AsyncGenerator<TurnEvent, void> {
    yield* this.#alone(() => {
      if (!isCutOff(this.history)) throw new TalariaError('no turn was cut off here', { code: 'nothing-to-do' });
      return this.#turn(options);
    });
  }

  async *compress(signal: AbortSignal): AsyncGenerator<TurnEvent, void> {
    const compressor = await this.#loadCompressor();
    yield* this.#alone(() => compressor.byHand(signal));
  }

  async takeBackTurn(): Promise<TakenBack | undefined> {
    this.#begin();
    try {
      const { stored, prompt } = this.#context;
      const from = stored.findLastIndex(({ message }) => isTurnStart(message) || summaryText(message) !== undefined);
      const first = stored[from];
      if (!first || !isTurnStart(first.message)) return undefined;
      const { store } = this.#parts;
      await store.rewind(this.session.id, first.id);
      const ids = stored.map(({ id }) => id);
      this.#context.replace(ids, await store.messages(this.session.id), prompt);
      return saidIn(stored.slice(from).map(({ message }) => message));
    } finally {
      this.#running = false;
    }
  }

  /** One at a time, on a legal history; what it yields goes to the event sink too. */
  async *#alone(run: () => AsyncGenerator<TurnEvent, void>): AsyncGenerator<TurnEvent, void> {
    this.#begin();
    try {
      await this.#repair();
      for await (const event of run()) {
        this.#emit(event);
        yield event;
      }
    } finally {
      this.#running = false;
    }
  }

  #emit(event: TurnEvent): void {
    this.#parts.events?.emit({ sessionId: this.session.id, event });
  }

  #begin(): void {
    if (this.#closed) throw new TalariaError('this conversation is closed', { code: 'conversation-closed' });
    if (this.#running)
      throw new TalariaError('a turn is running in this conversation', {
        code: 'turn-running',
        fix: 'Steer it or wait for its end.',
      });
    this.#running = true;
  }

  close(): Promise<void> {
    return this.#end(() => this.#tellEnd());
  }

  leave(): Promise<void> {
    return this.#end(async () => undefined);
  }

  async #end(before: () => Promise<void>): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      await before();
    } finally {
      await this.#lease.release();
    }
  }

  async #tellEnd(): Promise<void> {
    const { hooks, clock } = this.#parts.machine;
    await createHookRunner({ hooks, clock, emit: (event) => this.#emit(event) }).sessionEnd(this.#info());
    await this.#parts.store.end(this.session.id);
  }

  /** Without a text it goes on with what stands there. */
  async *#turn(options: SendOptions, text?: string): AsyncGenerator<TurnEvent, void> {
    if (this.#strategySwitched) {
      this.#strategySwitched = false;
      yield { type: 'prefix-break', reason: 'strategy-switch' };
    }
    const { machine } = this.#parts;
    const input = text === undefined ? undefined : inputOf(text, { origin: this.#speaker, ...options });
    const material = {
      info: { ...this.#info(), turn: countTurns(this.history) + (input ? 1 : 0) },
      purpose: options.purpose ?? ('answer' as const),
      prompt: this.prompt,
      history: [...this.history],
      ...(input ? { input } : {}),
    };
    const shown = new Set(this.prompt.tools.map((tool) => tool.name));
    const access = { ...machine.access, shown, ...(options.runnable ? { runnable: options.runnable } : {}) };
    const links = {
      journal: this.#journal,
      recordSpans: this.#recordSpans,
      takeSteers: () => this.#nextSteers(),
      makeRoom: this.#makeRoomFor(input),
    };
    const place = { ...machine.place, resultLimit: resultLimitFor(this.#model.traits.contextWindow) };
    const whole = { ...machine, ...links, access, place, model: () => this.#model };
    for await (const event of runTurn(material, whole, options.signal)) {
      if (event.type === 'step-end') this.#context.counted(event.model, event.usage.inputTokens);
      if (event.type === 'turn-end') yield* this.#giveTitle(text ?? '');
      yield event;
    }
  }

  get #speaker(): Origin {
    return this.#parts.speaker ?? 'owner';
  }

  *#nextSteers(): Generator<TextPart, void> {
    for (let text = this.#steers.shift(); text !== undefined; text = this.#steers.shift())
      yield { type: 'text', text, origin: this.#speaker };
  }

  async *#giveTitle(text: string): AsyncGenerator<TurnEvent, void> {
    if (this.#titled) return;
    this.#titled = true;
    const line = text.split('\n').find((candidate) => candidate.trim() !== '');
    if (!line) return;
    try {
      // A title that was given before the first turn stands.
      if ((await this.#parts.store.get(this.session.id))?.title !== undefined) return;
      await this.#parts.store.setTitle(this.session.id, ellipsize(this.#parts.machine.place.redact(line.trim()), 60));
    } catch (error) {
      yield { type: 'notice', text: `the session has no title: ${errorText(error)}` };
    }
  }

  /** After a crash, or a consumer that left in mid-turn: answer the calls that have no result. */
  async #repair(): Promise<void> {
    for (const message of missingResults(this.history)) await this.#journal(message, []);
  }

  /** Before the turn its input counts as if it were there already. */
  #makeRoomFor({ text = '', extra = [] }: Partial<TurnInput> = {}): NonNullable<TurnLinks['makeRoom']> {
    const incoming = messageTokens({ role: 'user', parts: [...extra, { type: 'text', text, origin: 'owner' }] });
    const { enabled = true, threshold = DEFAULT_THRESHOLD } = this.#parts.compression ?? {};
    const hasRoom = (more: number, isTurn: boolean) => this.#context.hasRoom(more, this.#model, { threshold, isTurn });
    const load = () => this.#loadCompressor();
    return async function* makeRoom(at, signal) {
      const more = at === 'turn' ? incoming : 0;
      if (!enabled || (at !== 'full' && hasRoom(more, at === 'turn'))) return undefined;
      return yield* (await load()).makeRoom(at, more, signal);
    };
  }

  /** When it may be needed: most conversations have room for sure. */
  async #loadCompressor(): Promise<Compressor> {
    const { store, buildPrompt, machine, compression: settings = {} } = this.#parts;
    const ways = { store, buildPrompt, machine, settings, context: this.#context };
    const { Compressor: Made } = await import('./compress/compressor.ts');
    this.#compressor ??= new Made({ ...ways, session: this.#info(), model: () => this.#model });
    return this.#compressor;
  }

  readonly #journal = async (message: Message, spans: readonly Span[]) => {
    const { store, machine } = this.#parts;
    const safe = redactMessage(message, machine.place.redact);
    const [stored] = await Promise.all([store.append(this.session.id, safe), this.#recordSpans(spans)]);
    this.#context.push(stored);
    return stored;
  };

  readonly #recordSpans = async (spans: readonly Span[]) => {
    if (spans.length > 0) await this.#parts.store.recordSpans(spans);
  };

  #info() {
    const { id, source, cwd } = this.session;
    return { sessionId: id, source, cwd };
  }
}

function inputOf(text: string, { extra, call, origin = 'owner' }: SendOptions): TurnInput {
  return { text, origin, ...(extra ? { extra } : {}), ...(call ? { call } : {}) };
}

/** The model had the word: a line that nobody answered, or results that nobody read. */
function isCutOff(history: readonly Message[]): boolean {
  const last = history.at(-1);
  return last !== undefined && last.role !== 'assistant' && summaryText(last) === undefined;
}

/** The reason a surface gives when it stops a turn on the owner's request. */
export function stopRequest(): AbortedError {
  return new AbortedError('stopped by the owner');
}

/** Of the messages of one turn: the words that began it come last in their message, after what was added to them. */
function saidIn([first, ...rest]: readonly Message[]): TakenBack {
  const partsOf = (message: Message | undefined) => (message?.role === 'user' ? message.parts : []);
  const own = partsOf(first)
    .filter(isText)
    .findLast(({ label }) => label === undefined);
  const steers = rest
    .flatMap(partsOf)
    .filter(isText)
    .filter(({ label }) => label === 'steer');
  const text = [own, ...steers].flatMap((part) => (part ? [part.text] : [])).join('\n');
  return {
    text,
    extra: partsOf(first).filter(({ label, type }) => label === 'stdin' || type === 'image'),
    acted: rest.some(({ role }) => role === 'tool'),
  };
}

// Forks: reviews, the flush and recall summaries run them.

export interface ForkRequest {
  readonly sessionId: string;
  /** The user message that is put behind the conversation; origin `model`, since nobody typed it. */
  readonly text: string;
  readonly purpose: Purpose;
  /** What may run, by name; also what runs: a tool here stands in for the session's tool of that name. Everything else is `tool-not-allowed`. */
  readonly runnable: ReadonlyMap<string, AnyTool>;
  readonly maxSteps: number;
  /** Further reasons to stop it before a step. */
  readonly stop?: readonly StopCondition[];
  /** Instead of the conversation's model. */
  readonly model?: ModelClient;
  /** Instead of the session's prompt; nothing of it is sent then, and no tool is shown. */
  readonly system?: string;
  /** Instead of the stored messages: a digest for a model with another window. */
  readonly messages?: readonly Message[];
}

/** As `runTurn`: yields events, ends with exactly one `turn-end`. Hooks do not run. Throws `no-such-session`. */
export type ForkTurn = (request: ForkRequest, signal: AbortSignal) => AsyncGenerator<TurnEvent, void>;

export interface ForkParts {
  readonly store: SessionStore;
  /** The conversation's model now; asked at the start of each fork. */
  readonly model: () => ModelClient;
  readonly machine: Pick<TurnMachine, 'clock' | 'place'> & {
    /** The session's tools by name: what a fork may not run is refused as `tool-not-allowed`, not as unknown. */
    readonly access: Pick<TurnMachine['access'], 'tools'>;
  };
}

async function promptOf(store: SessionStore, { sessionId, system }: ForkRequest): Promise<FrozenPrompt> {
  if (system !== undefined) return { system, tools: [] };
  return (await store.loadPrompt(sessionId)) ?? { system: '', tools: [] };
}

/** Nobody sits at a fork: whatever needs an approval or an answer is denied, and no approval of the owner counts for it. */
export function createForkTurn(parts: ForkParts): ForkTurn {
  return async function* forkTurn(request, signal) {
    const { store } = parts;
    const session = await store.get(request.sessionId);
    if (!session) throw noSuchSession(request.sessionId);
    const prompt = await promptOf(store, request);
    const history = request.messages ?? (await store.messages(session.id)).map((stored) => stored.message);
    const { id: sessionId, source, cwd } = session;
    const material: TurnMaterial = {
      info: { sessionId, source, cwd, turn: countTurns(history) },
      purpose: request.purpose,
      prompt,
      history: [...history, ...missingResults(history)],
      input: { text: request.text, origin: 'model' },
    };
    const whole = { ...forkMachine(parts, request, { cwd, prompt }), ...forkLinks(parts, sessionId) };
    yield* runTurn(material, whole, signal);
  };
}

function forkMachine(
  parts: ForkParts,
  request: ForkRequest,
  { cwd, prompt }: { readonly cwd: string; readonly prompt: FrozenPrompt },
): TurnMachine {
  const { clock, place, access } = parts.machine;
  const model = request.model ?? parts.model();
  return {
    clock,
    model: () => model,
    hooks: [],
    stop: [...defaultStopConditions(request.maxSteps), ...(request.stop ?? [])],
    place: { ...place, cwd, asker: absentAsker, resultLimit: resultLimitFor(model.traits.contextWindow) },
    access: {
      tools: new Map([...access.tools, ...request.runnable]),
      shown: new Set(prompt.tools.map((tool) => tool.name)),
      runnable: new Set(request.runnable.keys()),
      approver: denyingApprover,
      allowList: { has: () => false, add: () => undefined },
    },
  };
}

/** What a fork says is kept for its next step only; message ids are negative, since no such message is stored. */
function forkLinks({ store, machine }: ForkParts, sessionId: string) {
  let lastId = 0;
  const recordSpans: TurnLinks['recordSpans'] = async (spans) => {
    if (spans.length > 0) await store.recordSpans(spans);
  };
  const journal: TurnLinks['journal'] = async (message, spans): Promise<StoredMessage> => {
    await recordSpans(spans);
    lastId -= 1;
    const { redact } = machine.place;
    return { id: lastId, sessionId, at: machine.clock.now(), message: redactMessage(message, redact) };
  };
  return { journal, recordSpans, takeSteers: () => [] };
}

function noSuchSession(id: string): TalariaError {
  return new TalariaError(`there is no session ${id}`, { code: 'no-such-session', fix: 'See `talaria sessions`.' });
}
