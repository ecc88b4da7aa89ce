// Owns the turn: from one line of the owner to exactly one `turn-end`. Everything that talks to a model runs this generator.
// Knows no surface, no provider, no database. Invariants: a message is durable before its effect is visible; call and result are
// never parted; the prefix sent to the model only grows. Seed 001 chapter 03.
import { AbortedError, isAborted, throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { newId } from '#base/ids.ts';
import {
  type AssistantMessage,
  imagesIn,
  type Message,
  messageText,
  type Origin,
  type TextPart,
  type ToolCallPart,
  type ToolResultPart,
  toolCalls,
  type UserMessage,
  type UserPart,
} from '#core/model/message.ts';
import type { ModelClient, Purpose, Tier, Usage } from '#core/model/model-client.ts';
import { ModelError, NO_USAGE } from '#core/model/model-client.ts';
import type { Hooks, TurnInfo } from '../hooks.ts';
import type { FrozenPrompt, Span, StoredMessage } from '../session-store.ts';
import type { TurnError, TurnEvent, TurnOutcome } from '../turn-event.ts';
import { executeTools, type ToolPlace, type ToolRun } from './execute-tools.ts';
import { createHookRunner, createSpanRecorder, type HookRunner, type SpanRecorder } from './hook-runner.ts';
import type { ToolAccess } from './permit-call.ts';
import {
  type FinishedCall,
  firstReason,
  type PartialStep,
  runStep,
  type StepResult,
  type StopCondition,
  type StopReason,
} from './run-step.ts';

/** What the turn works on. */
export interface TurnMaterial {
  readonly info: TurnInfo;
  readonly purpose: Purpose;
  readonly prompt: FrozenPrompt;
  /** Messages before this turn, legal: every call has its result. */
  readonly history: readonly Message[];
  /** The line that starts the turn, with extra parts (piped input) before it. Absent: the history ends with what is to be answered. */
  readonly input?: TurnInput;
}

export interface TurnInput {
  readonly text: string;
  readonly extra?: readonly UserPart[];
  /** Whose words the text is; `owner` only for what a person typed or handed over as the message. */
  readonly origin: Origin;
  /** A call that the owner spelled out: it is made, and no model is asked. */
  readonly call?: OwnersCall;
}

export type OwnersCall = Pick<ToolCallPart, 'name' | 'arguments'>;

/** What the turn works with. */
export interface TurnMachine {
  readonly clock: Clock;
  /** Asked before every step, so that a model switch in mid-turn counts from the next step on. */
  readonly model: () => ModelClient;
  readonly access: ToolAccess;
  readonly place: ToolPlace;
  readonly hooks: readonly Hooks[];
  readonly stop: readonly StopCondition[];
}

/** What the turn tells to others. */
export interface TurnLinks {
  /** Resolves when message and spans are durable. */
  readonly journal: (message: Message, spans: readonly Span[]) => Promise<StoredMessage>;
  readonly recordSpans: (spans: readonly Span[]) => Promise<void>;
  /** Lines that the owner typed while the turn runs; taken between steps, each when it is asked for. */
  readonly takeSteers: () => Iterable<TextPart>;
  /** Compresses the conversation when it must; gives what the turn goes on with, undefined when nothing has changed. */
  readonly makeRoom?: (at: RoomPoint, signal: AbortSignal) => AsyncGenerator<TurnEvent, Room | undefined>;
}

/** `turn`: before its input is taken; `step`: before a model call; `full`: a model has refused the conversation as too long. */
export type RoomPoint = 'turn' | 'step' | 'full';

export interface Room {
  readonly messages: readonly Message[];
  readonly prompt: FrozenPrompt;
}

interface TurnState {
  messages: Message[];
  prompt: FrozenPrompt;
  readonly calls: FinishedCall[];
  readonly pending: TurnEvent[];
  readonly spans: SpanRecorder;
  readonly hooks: HookRunner;
  steps: number;
  saidUnseen: boolean;
  /** The answer before was cut at the length limit. */
  cutBefore: boolean;
  usage: Usage;
  cost: number | null;
  /** What of the cost is known. */
  spent: number;
  model: string;
  tier: Tier;
}

interface TurnScope {
  readonly material: TurnMaterial;
  readonly machine: TurnMachine;
  readonly links: TurnLinks;
  readonly state: TurnState;
  readonly signal: AbortSignal;
}

interface Ending {
  readonly outcome: TurnOutcome;
  readonly text: string;
  readonly stopped?: StopReason;
  readonly error?: TurnError;
}

export async function* runTurn(
  material: TurnMaterial,
  machine: TurnMachine & TurnLinks,
  signal: AbortSignal,
): AsyncGenerator<TurnEvent, void> {
  const left = new AbortController();
  const scope: TurnScope = {
    material,
    machine,
    links: machine,
    state: openState(material, machine),
    signal: AbortSignal.any([signal, left.signal]),
  };
  try {
    yield* wholeTurn(scope);
  } finally {
    left.abort(new AbortedError('nobody listens to this turn any more'));
  }
}

async function* wholeTurn(scope: TurnScope): AsyncGenerator<TurnEvent, void> {
  const { material, machine, state, signal } = scope;
  const from = machine.clock.monotonic();
  const { purpose, info } = material;
  const span = state.spans.start(
    'turn',
    purpose === 'answer' ? `turn ${info.turn}` : `${purpose} in turn ${info.turn}`,
  );
  yield { type: 'turn-start', sessionId: material.info.sessionId, turn: material.info.turn, at: machine.clock.now() };
  let ending: Ending;
  try {
    ending = yield* steps(scope);
  } catch (error) {
    ending = endingOf(error, signal);
  }
  await state.hooks.afterTurn(material.info, { outcome: ending.outcome, messages: state.messages });
  yield* drain(state);
  span.end(SPAN_STATUS[ending.outcome], ending.error ? { detail: ending.error.message } : {});
  ending = await flushSpans(scope, ending);
  yield turnEnd(scope, ending, machine.clock.monotonic() - from);
}

function openState(material: TurnMaterial, machine: TurnMachine): TurnState {
  const pending: TurnEvent[] = [];
  const { sessionId, turn } = material.info;
  const { clock } = machine;
  const spans = createSpanRecorder({ sessionId, turn, clock });
  const hooks = createHookRunner({ hooks: machine.hooks, clock, spans, emit: (event) => pending.push(event) });
  const { id, tier } = machine.model();
  return {
    messages: [...material.history],
    prompt: material.prompt,
    calls: [],
    pending,
    spans,
    hooks,
    steps: 0,
    saidUnseen: false,
    cutBefore: false,
    usage: NO_USAGE,
    cost: 0,
    spent: 0,
    model: id,
    tier,
  };
}

async function* steps(scope: TurnScope): AsyncGenerator<TurnEvent, Ending> {
  const { machine, state, signal } = scope;
  yield* makeRoom(scope, 'turn');
  const { input } = scope.material;
  if (input) yield* receiveInput(scope, input);
  const call = input?.call;
  if (call) return yield* makeOwnersCall(scope, call);
  for (;;) {
    throwIfAborted(signal);
    const answer = yield* answerStep(scope);
    yield* runCalls(scope, toolCalls(answer), refuseCut(answer));
    const steered = yield* takeSteers(scope);
    const ending = steered ? undefined : endingWith(answer, state.cutBefore);
    if (ending) return ending;
    state.cutBefore = answer.cut === 'length';
    throwIfAborted(signal);
    const stopped = firstReason(machine.stop, {
      steps: state.steps,
      calls: state.calls,
      outputTokens: state.usage.outputTokens,
      cost: state.spent,
    });
    if (stopped) return { outcome: 'stopped', text: (yield* lastWord(scope, stopped)) ?? messageText(answer), stopped };
  }
}

/** Undefined while there is something to go on with; a model whose answers are cut again and again has nothing. */
function endingWith(answer: AssistantMessage, cutBefore: boolean): Ending | undefined {
  const cut = answer.cut === 'length';
  if (toolCalls(answer).length > 0 && !(cut && cutBefore)) return undefined;
  return { outcome: cut ? 'length' : 'done', text: messageText(answer) };
}

type Refuse = NonNullable<ToolRun['refuse']>;

/** The last call of an answer that was cut was cut with it, however whole it reads; what came before it is whole. */
function refuseCut(answer: AssistantMessage): Refuse | undefined {
  if (answer.cut !== 'length') return undefined;
  const last = toolCalls(answer).at(-1);
  const detail =
    'Not run: the answer was cut at the length limit in the middle of this call. Say less in one answer: make the call shorter, or do it in parts.';
  return (call) => (call === last ? { reason: 'cut', detail } : undefined);
}

/** At the cap of steps the model may still say what it found: one more step, in which nothing runs. Undefined: it said nothing. */
async function* lastWord(
  scope: TurnScope,
  { code, detail }: StopReason,
): AsyncGenerator<TurnEvent, string | undefined> {
  const { machine, material, signal } = scope;
  if (code !== 'max-steps' || material.purpose !== 'answer' || machine.model().tier === 'T0') return undefined;
  yield { type: 'notice', text: `${detail}; the model was asked for a last word` };
  const text = `The turn is ${detail}. No tool runs any more in this turn. Say now, in words, what you found, what is done and what is left.`;
  yield await keep(scope, { role: 'user', parts: [{ type: 'text', text, origin: 'observed', label: 'notice' }] });
  try {
    const answer = yield* answerStep(scope);
    yield* runCalls(scope, toolCalls(answer), () => ({ reason: code, detail: 'Not run: the turn is over.' }));
    return messageText(answer);
  } catch (error) {
    throwIfAborted(signal);
    yield { type: 'notice', text: `there was no last word: ${errorText(error)}` };
    return undefined;
  }
}

async function* receiveInput(
  scope: TurnScope,
  { text, origin, extra = [] }: TurnInput,
): AsyncGenerator<TurnEvent, void> {
  const { material, state, signal } = scope;
  const context = await state.hooks.beforeTurn({ ...material.info, text, origin }, signal);
  yield* drain(state);
  const typed: TextPart = { type: 'text', text: text.toWellFormed(), origin };
  const message: UserMessage = { role: 'user', parts: [...context.map(asContext), ...extra, typed] };
  yield await keep(scope, message);
  yield* saidUnseen(scope, message);
}

/** Once a turn. */
function* saidUnseen({ machine, state }: TurnScope, message: Message): Generator<TurnEvent, void> {
  const { id, traits } = machine.model();
  if (traits.images || state.saidUnseen || imagesIn(message).length === 0) return;
  state.saidUnseen = true;
  yield { type: 'notice', text: `${id} reads no images; it is told that one is there` };
}

async function* makeOwnersCall(scope: TurnScope, call: OwnersCall): AsyncGenerator<TurnEvent, Ending> {
  const part: ToolCallPart = { type: 'tool-call', callId: newId('call'), ...call, origin: 'model' };
  yield await keep(scope, { role: 'assistant', model: 'owner', parts: [part] });
  yield* runCalls(scope, [part]);
  throwIfAborted(scope.signal);
  return { outcome: 'done', text: '' };
}

function asContext(part: TextPart): TextPart {
  return { ...part, text: part.text.toWellFormed(), label: part.label ?? 'context' };
}

async function* answerStep(scope: TurnScope): AsyncGenerator<TurnEvent, Extract<Message, { role: 'assistant' }>> {
  const first = yield* fittingStep(scope);
  if (first.message.parts.some((part) => part.type !== 'reasoning')) return yield* keepAnswer(scope, first);
  const reason = 'it answered with nothing';
  yield { type: 'model-retry', model: first.message.model, reason, attempt: 1, delayMs: 0 };
  const second = yield* fittingStep(scope);
  if (second.message.parts.some((part) => part.type !== 'reasoning')) return yield* keepAnswer(scope, second);
  throw new ModelError(`${second.message.model} answered with nothing, twice`, {
    code: 'model-bad-response',
    fix: 'Say it in other words, or choose another model with /model.',
  });
}

async function* keepAnswer(scope: TurnScope, step: StepResult): AsyncGenerator<TurnEvent, StepResult['message']> {
  yield await keep(scope, step.message);
  return step.message;
}

/** A step that is refused as too long is tried once more when room could be made. */
async function* fittingStep(scope: TurnScope): AsyncGenerator<TurnEvent, StepResult> {
  yield* makeRoom(scope, 'step');
  try {
    return yield* oneStep(scope);
  } catch (error) {
    if (scope.signal.aborted || errorCode(error) !== 'model-context-full') throw error;
    if (!(yield* makeRoom(scope, 'full'))) throw error;
    return yield* oneStep(scope);
  }
}

async function* makeRoom(scope: TurnScope, at: RoomPoint): AsyncGenerator<TurnEvent, boolean> {
  const { links, state, signal } = scope;
  const room = links.makeRoom && (yield* links.makeRoom(at, signal));
  if (room === undefined) return false;
  state.messages = [...room.messages];
  state.prompt = room.prompt;
  return true;
}

async function* oneStep(scope: TurnScope): AsyncGenerator<TurnEvent, StepResult> {
  const { material, machine, state, signal } = scope;
  const client = machine.model();
  state.steps += 1;
  yield { type: 'step-start', step: state.steps, model: client.id };
  const from = machine.clock.monotonic();
  const span = state.spans.start('step', client.id);
  const partial: PartialStep = {};
  const request = {
    system: state.prompt.system,
    tools: state.prompt.tools,
    messages: [...state.messages],
    purpose: material.purpose,
    sessionId: material.info.sessionId,
  };
  try {
    const result = yield* runStep(
      { client, request, spans: state.spans, usedCallIds: usedCallIds(state.messages), partial },
      signal,
    );
    const { model, tier, usage, cost, reason } = result.finish;
    addUsage(state, result.finish);
    span.end('ok', { purpose: material.purpose, tier, usage, cost, detail: model });
    yield {
      type: 'step-end',
      step: state.steps,
      model,
      tier,
      finish: reason,
      usage,
      cost,
      ms: machine.clock.monotonic() - from,
    };
    return result;
  } catch (error) {
    span.end(signal.aborted ? 'aborted' : 'error', {
      purpose: material.purpose,
      tier: client.tier,
      detail: errorText(error),
    });
    if (partial.message) yield await keep(scope, partial.message);
    throw error;
  }
}

async function* runCalls(
  scope: TurnScope,
  calls: readonly ToolCallPart[],
  refuse?: Refuse,
): AsyncGenerator<TurnEvent, void> {
  const { material, machine, state, signal } = scope;
  const before = [...state.messages];
  const { access, place } = machine;
  const { hooks, spans } = state;
  const run: ToolRun = {
    ...{ turn: material.info, access, place, hooks, spans, history: () => before },
    bill: { spent: () => state.spent, add: (dollars) => addCost(state, dollars) },
    ...(refuse ? { refuse } : {}),
  };
  for await (const event of executeTools(run, calls, signal)) {
    yield* drain(state);
    if (event.type !== 'result') {
      yield event;
      continue;
    }
    state.calls.push(finished(event.call, event.result));
    const message = { role: 'tool', parts: [event.result] } as const;
    yield await keep(scope, message);
    yield* saidUnseen(scope, message);
    const { callId, name } = event.call;
    yield { type: 'tool-end', callId, name, result: event.result };
  }
}

function finished(call: ToolCallPart, result: ToolResultPart): FinishedCall {
  const { refused } = result.observed;
  return { name: call.name, arguments: call.arguments, isError: result.isError, ...(refused ? { refused } : {}) };
}

async function* takeSteers(scope: TurnScope): AsyncGenerator<TurnEvent, boolean> {
  let steered = false;
  if (scope.signal.aborted) return steered;
  for (const part of scope.links.takeSteers()) {
    const kept = await keep(scope, { role: 'user', parts: [{ ...part, label: 'steer' }] });
    yield { type: 'steer', text: part.text };
    yield kept;
    steered = true;
    if (scope.signal.aborted) break;
  }
  return steered;
}

/** Makes a message durable, then part of the conversation. */
async function keep(scope: TurnScope, message: Message): Promise<TurnEvent> {
  const stored = await scope.links.journal(message, scope.state.spans.take());
  scope.state.messages.push(stored.message);
  return { type: 'message', messageId: stored.id, message: stored.message };
}

function* drain(state: TurnState): Generator<TurnEvent, void> {
  yield* state.pending.splice(0);
}

async function flushSpans(scope: TurnScope, ending: Ending): Promise<Ending> {
  try {
    await scope.links.recordSpans(scope.state.spans.take());
    return ending;
  } catch (error) {
    return ending.error ? ending : { ...ending, outcome: 'failed', error: turnError(error) };
  }
}

function usedCallIds(messages: readonly Message[]): ReadonlySet<string> {
  return new Set(messages.flatMap((message) => toolCalls(message).map((call) => call.callId)));
}

function addUsage(state: TurnState, finish: StepResult['finish']): void {
  const { usage, cost } = finish;
  state.model = finish.model;
  state.tier = finish.tier;
  addCost(state, cost);
  state.usage = {
    inputTokens: state.usage.inputTokens + usage.inputTokens,
    outputTokens: state.usage.outputTokens + usage.outputTokens,
    cachedTokens: state.usage.cachedTokens + usage.cachedTokens,
    cacheWriteTokens: state.usage.cacheWriteTokens + usage.cacheWriteTokens,
    reasoningTokens: state.usage.reasoningTokens + usage.reasoningTokens,
  };
}

function addCost(state: TurnState, dollars: number | null): void {
  state.spent += dollars ?? 0;
  state.cost = state.cost === null || dollars === null ? null : state.cost + dollars;
}

const SPAN_STATUS: Readonly<Record<TurnOutcome, Span['status']>> = {
  done: 'ok',
  stopped: 'ok',
  length: 'ok',
  aborted: 'aborted',
  failed: 'error',
};

function endingOf(error: unknown, signal: AbortSignal): Ending {
  if (signal.aborted || isAborted(error)) return { outcome: 'aborted', text: '' };
  return { outcome: 'failed', text: '', error: turnError(error) };
}

function turnError(error: unknown): TurnError {
  const known = error instanceof TalariaError;
  const fix = known ? error.fix : undefined;
  return { code: known ? error.code : 'internal-error', message: errorText(error), ...(fix ? { fix } : {}) };
}

function turnEnd(scope: TurnScope, ending: Ending, ms: number): TurnEvent {
  const { steps: count, usage, cost, model, tier } = scope.state;
  const { outcome, text, stopped, error } = ending;
  return {
    type: 'turn-end',
    outcome,
    text,
    steps: count,
    usage,
    cost,
    model,
    tier,
    ms: Math.round(ms),
    ...(stopped ? { stopped: stopped.code } : {}),
    ...(error ? { error } : {}),
  };
}
