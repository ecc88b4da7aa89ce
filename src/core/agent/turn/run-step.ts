// Owns one model call: streams its events, and gathers them into one assistant message. Knows no tool execution and no journal.
// Invariant: what was streamed before a retry or fallback does not reach the message; call ids are unique in the conversation.
import { newId } from '#base/ids.ts';
import { canonicalJson, type JsonObject } from '#base/json.ts';
import { plural } from '#base/text.ts';
import type { AssistantMessage } from '#core/model/message.ts';
import { type ModelClient, ModelError, type ModelEvent, type ModelRequest } from '#core/model/model-client.ts';
import type { TurnEvent } from '../turn-event.ts';
import type { SpanRecorder } from './hook-runner.ts';

type AssistantPart = AssistantMessage['parts'][number];
type Finish = Extract<ModelEvent, { type: 'finish' }>;

export interface StepResult {
  readonly message: AssistantMessage;
  readonly finish: Finish;
}

/** What a failed step leaves behind: the text that the owner has already seen. */
export interface PartialStep {
  message?: AssistantMessage;
}

export interface StepInput {
  readonly client: ModelClient;
  readonly request: ModelRequest;
  readonly spans: SpanRecorder;
  /** Ids already used in this conversation. */
  readonly usedCallIds: ReadonlySet<string>;
  readonly partial: PartialStep;
}

export async function* runStep(input: StepInput, signal: AbortSignal): AsyncGenerator<TurnEvent, StepResult> {
  const gathered = gatherParts(input.usedCallIds);
  let finish: Finish | undefined;
  let model = input.client.id;
  try {
    for await (const event of input.client.stream(input.request, signal)) {
      if (event.type === 'finish') finish = event;
      if (event.type === 'fallback') model = event.to;
      gathered.add(event);
      const shown = toTurnEvent(event, input.spans);
      if (shown) yield shown;
    }
  } finally {
    if (!finish) keepPartial(input.partial, gathered.textOnly(), { model, aborted: signal.aborted });
  }
  if (!finish)
    throw new ModelError(`${model} ended its answer without saying so`, {
      code: 'model-bad-response',
      retryable: true,
    });
  const cut = finish.reason === 'length' ? { cut: 'length' as const } : {};
  return { message: { role: 'assistant', parts: gathered.parts(), model: finish.model, ...cut }, finish };
}

function keepPartial(
  partial: PartialStep,
  parts: readonly AssistantPart[],
  facts: { readonly model: string; readonly aborted: boolean },
): void {
  if (parts.length === 0) return;
  partial.message = { role: 'assistant', parts, model: facts.model, cut: facts.aborted ? 'aborted' : 'failed' };
}

function toTurnEvent(event: ModelEvent, spans: SpanRecorder): TurnEvent | undefined {
  switch (event.type) {
    case 'text-delta':
      return { type: 'text-delta', text: event.text };
    case 'reasoning-delta':
      return { type: 'reasoning-delta', text: event.text };
    case 'retry':
      spans.start('retry', event.model).end('error', { detail: event.reason });
      return {
        type: 'model-retry',
        model: event.model,
        reason: event.reason,
        attempt: event.attempt,
        delayMs: event.delayMs,
      };
    case 'fallback':
      spans.start('fallback', `${event.from} → ${event.to}`).end('error', { detail: event.reason });
      return { type: 'model-fallback', from: event.from, to: event.to, reason: event.reason };
    case 'tool-call':
    case 'finish':
      return undefined;
  }
}

interface Gathered {
  add(event: ModelEvent): void;
  parts(): readonly AssistantPart[];
  textOnly(): readonly AssistantPart[];
}

function gatherParts(usedCallIds: ReadonlySet<string>): Gathered {
  let parts: AssistantPart[] = [];
  const ids = new Set(usedCallIds);
  return {
    add(event) {
      switch (event.type) {
        case 'retry':
        case 'fallback':
          parts = [];
          break;
        case 'text-delta':
          addText(parts, event.text);
          break;
        case 'reasoning-delta':
          addReasoning(parts, event);
          break;
        case 'tool-call':
          parts.push(callPart(event, ids));
          break;
        case 'finish':
          break;
      }
    },
    parts: () => parts.filter((part) => part.type !== 'text' || part.text.trim() !== '').map(wellFormedPart),
    textOnly: () => parts.filter((part) => part.type === 'text' && part.text.trim() !== '').map(wellFormedPart),
  };
}

function addText(parts: AssistantPart[], text: string): void {
  const open = parts.at(-1);
  const extend = open?.type === 'text';
  if (extend) parts.pop();
  parts.push({ type: 'text', text: extend ? open.text + text : text, origin: 'model' });
}

function addReasoning(parts: AssistantPart[], event: { readonly text: string; readonly replay?: JsonObject }): void {
  const open = parts.at(-1);
  const extend = open?.type === 'reasoning' && open.replay === undefined;
  if (extend) parts.pop();
  const text = extend ? open.text + event.text : event.text;
  parts.push({ type: 'reasoning', text, origin: 'model', ...(event.replay ? { replay: event.replay } : {}) });
}

function callPart(event: Extract<ModelEvent, { type: 'tool-call' }>, ids: Set<string>): AssistantPart {
  const callId = event.callId === '' || ids.has(event.callId) ? newId('call') : event.callId;
  ids.add(callId);
  return {
    type: 'tool-call',
    callId,
    name: event.name,
    arguments: event.arguments,
    origin: 'model',
    ...(event.malformed === undefined ? {} : { malformed: event.malformed }),
  };
}

function wellFormedPart(part: AssistantPart): AssistantPart {
  return part.type === 'tool-call' ? part : { ...part, text: part.text.toWellFormed() };
}

export interface FinishedCall {
  readonly name: string;
  readonly arguments: JsonObject;
  readonly isError: boolean;
  readonly refused?: string;
}

export interface TurnProgress {
  readonly steps: number;
  readonly calls: readonly FinishedCall[];
  readonly outputTokens: number;
  readonly cost: number;
}

export interface StopReason {
  /** `max-steps`, `repeated-failure`, `denied`, `over-budget`. */
  readonly code: string;
  readonly detail: string;
}

export type StopCondition = (progress: TurnProgress) => StopReason | undefined;

/** The iteration budget of seed 001 chapter 03. */
export function maxSteps(limit: number): StopCondition {
  return ({ steps }) =>
    steps >= limit
      ? { code: 'max-steps', detail: `stopped after ${plural(steps, 'step')} (agent.max_steps is ${limit})` }
      : undefined;
}

/** The same call with the same arguments failed `limit` times in a row. */
function repeatedFailure(limit: number): StopCondition {
  return ({ calls }) => {
    const last = calls.slice(-limit);
    const first = last[0];
    if (last.length < limit || first === undefined) return undefined;
    const key = callKey(first);
    const stuck = last.every((call) => call.isError && callKey(call) === key);
    return stuck
      ? { code: 'repeated-failure', detail: `${first.name} failed ${limit} times in a row with the same arguments` }
      : undefined;
  };
}

/** The owner denied `limit` calls in a row: it is time to talk, not to try another way round. */
function deniedInARow(limit: number): StopCondition {
  return ({ calls }) => {
    const last = calls.slice(-limit);
    const denied = last.length === limit && last.every((call) => call.refused === 'denied');
    return denied ? { code: 'denied', detail: `${plural(limit, 'call')} in a row were denied` } : undefined;
  };
}

function overBudget(dollars: number): StopCondition {
  return ({ cost }) =>
    cost > dollars ? { code: 'over-budget', detail: `the turn cost more than $${dollars}` } : undefined;
}

function callKey(call: FinishedCall): string {
  return `${call.name} ${canonicalJson(call.arguments)}`;
}

export const DEFAULT_MAX_STEPS = 200;

/** `dollars`: what one turn may cost; absent, money stops no turn. */
export function defaultStopConditions(steps: number = DEFAULT_MAX_STEPS, dollars?: number): readonly StopCondition[] {
  const always = [maxSteps(steps), repeatedFailure(5), deniedInARow(3)];
  return dollars === undefined ? always : [...always, overBudget(dollars)];
}

export function firstReason(conditions: readonly StopCondition[], progress: TurnProgress): StopReason | undefined {
  for (const condition of conditions) {
    const reason = condition(progress);
    if (reason) return reason;
  }
  return undefined;
}
