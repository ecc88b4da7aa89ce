// Owns the inner call that is a turn of the one turn function: own system prompt, no tool, one step. Knows no provider and no run.
// Invariant: settles within a second of an abort; what a model streamed before a retry or a fallback, and what it only thought, is no reply.

import { deadline } from '#base/abort.ts';
import { type Clock, systemClock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { ok, refuse } from '#base/result.ts';
import type { Mind } from '#core/agent/room.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import { ModelError, type Tier } from '#core/model/model-client.ts';
import { asInnerCall } from './call-limits.ts';
import {
  cancelledCall,
  type InnerCall,
  type InnerFailure,
  type InnerOutcome,
  type InnerRefusal,
  type InnerRequest,
  longestReply,
  tooLong,
} from './inner-call.ts';

export interface TurnCallParts {
  readonly family: string;
  readonly runTurn: Mind['runTurn'];
  /** By the prompt of the call; see call-limits.ts. */
  readonly tier: (prompt: string) => Tier;
  /** `provider/model` instead of the tier's. */
  readonly model?: string;
  readonly clock?: Clock;
}

export function createTurnCall(parts: TurnCallParts): InnerCall {
  return {
    family: parts.family,
    call: (request, signal) => asInnerCall(() => callOnce(parts, request, signal)),
  };
}

/** Why we end a turn ourselves. */
class CallEnd extends TalariaError {
  readonly refusal: InnerRefusal;
  constructor(refusal: InnerRefusal, message: string) {
    super(message, { code: refusal });
    this.refusal = refusal;
  }
}

async function callOnce(parts: TurnCallParts, request: InnerRequest, signal: AbortSignal): Promise<InnerOutcome> {
  if (signal.aborted) return cancelledCall();
  const clock = parts.clock ?? systemClock;
  const from = clock.monotonic();
  const { timeout_ms } = request;
  const late = () => new CallEnd('timeout', `no whole reply within ${Math.ceil(timeout_ms / 1_000)} seconds`);
  const time = deadline(clock, signal, timeout_ms, late);
  const size = new AbortController();
  const stop = AbortSignal.any([time.signal, size.signal]);
  try {
    const heard = await listen(parts, request, { clock, stop, tooMuch: (end) => size.abort(end) });
    if (stop.aborted) return endedBy(stop.reason);
    if (heard.end === undefined) return refuse('runtime_error', 'the turn ended without saying how');
    return replyOf(heard, heard.end, Math.round(clock.monotonic() - from));
  } catch (error) {
    if (stop.aborted) return endedBy(stop.reason);
    return thrown(error);
  } finally {
    time.clear();
  }
}

type TurnEnd = Extract<TurnEvent, { type: 'turn-end' }>;

interface Heard {
  text: string;
  thought: number;
  /** Why the model-free tier stepped in. */
  lost?: string;
  end?: TurnEnd;
}

/** How long an aborted turn may take to end, ms, and how much it may still say. */
const PATIENCE_MS = 700;
const LAST_EVENTS = 1_000;
/** Thinking may be this much longer than the reply. */
const THOUGHT = 8;

async function listen(
  { runTurn, tier, model }: TurnCallParts,
  { system, prompt, max_output_tokens }: InnerRequest,
  { clock, stop, tooMuch }: { readonly clock: Clock; readonly stop: AbortSignal; tooMuch(end: CallEnd): void },
): Promise<Heard> {
  const heard: Heard = { text: '', thought: 0 };
  const longest = longestReply(max_output_tokens);
  const gone = goneAfter(clock, stop);
  const bounds = { tools: [], maxSteps: 1, maxOutputTokens: max_output_tokens };
  const chosen = model === undefined ? {} : { model };
  const turn = { text: prompt, system, purpose: 'recurse', tier: tier(prompt), ...bounds, ...chosen } as const;
  const events = runTurn(turn, stop)[Symbol.asyncIterator]();
  try {
    for (let late = 0; late < LAST_EVENTS; late += stop.aborted ? 1 : 0) {
      const next = await Promise.race([events.next(), gone]);
      if (next === 'gone' || next.done) return heard;
      hear(heard, next.value);
      if (heard.text.length > longest || heard.thought > longest * THOUGHT)
        tooMuch(new CallEnd('reply_too_large', tooLong(longest, max_output_tokens)));
    }
    return heard;
  } finally {
    // A turn that hangs after its abort is left behind: waiting for it would hang us too.
    if (!stop.aborted) await events.return?.();
  }
}

function hear(heard: Heard, event: TurnEvent): void {
  switch (event.type) {
    case 'text-delta':
      heard.text += event.text;
      break;
    case 'reasoning-delta':
      heard.thought += event.text.length;
      break;
    case 'step-start':
    case 'model-retry':
    case 'model-fallback':
      if (event.type === 'model-fallback') heard.lost = `${event.from} cannot answer: ${event.reason}`;
      heard.text = '';
      heard.thought = 0;
      break;
    case 'turn-end':
      heard.end = event;
      break;
    default:
      break;
  }
}

/** Resolves when a turn had its time to end after an abort. */
function goneAfter(clock: Clock, stop: AbortSignal): Promise<'gone'> {
  return new Promise((resolve) => {
    const wait = () => void clock.after(PATIENCE_MS, () => resolve('gone'));
    if (stop.aborted) wait();
    else stop.addEventListener('abort', wait, { once: true });
  });
}

function replyOf(heard: Heard, end: TurnEnd, elapsed_ms: number): InnerOutcome {
  const { outcome, error, model, usage, cost, tier } = end;
  // A run that asked a model must not be told by rules that it was answered.
  if (tier === 'T0' && heard.lost !== undefined) return refuse('runtime_error', heard.lost);
  if (outcome === 'failed') return failedTurn(error);
  if (outcome === 'aborted') return refuse('runtime_error', `${model} stopped in the middle of its reply`);
  if (heard.text.trim() === '') return refuse('runtime_error', `${model} called a tool instead of answering`);
  const { inputTokens: input_tokens, outputTokens: output_tokens } = usage;
  const told = input_tokens + output_tokens > 0 || tier === 'T0' ? { input_tokens, output_tokens } : null;
  return ok({ completion: heard.text.toWellFormed(), model, usage: told, cost, elapsed_ms, exit_code: null });
}

/** Codes of a turn that say that nothing is set up to answer. */
const NO_MODEL = new Set(['model-none', 'model-unknown', 'model-not-found', 'missing-key', 'no-provider', 'no-model']);

function failedTurn(error: TurnEnd['error']): InnerFailure {
  const { code = 'runtime_error', message = 'the turn failed', fix } = error ?? {};
  return refuse(NO_MODEL.has(code) ? 'no_model' : 'runtime_error', fix === undefined ? message : `${message} ${fix}`);
}

/** What a model or its name did is a refusal; what broke in here is thrown on. */
function thrown(error: unknown): InnerFailure {
  const { code, fix, message } = error instanceof TalariaError ? error : { code: '', fix: undefined, message: '' };
  if (error instanceof ModelError || NO_MODEL.has(code))
    return failedTurn({ code, message: message || errorText(error), ...(fix === undefined ? {} : { fix }) });
  throw error;
}

function endedBy(reason: unknown): InnerFailure {
  return reason instanceof CallEnd ? refuse(reason.refusal, reason.message) : cancelledCall();
}
