// Owns the one way in which the spark engine asks a model (seed 004: call_llm of the host's auxiliary client; R4.15, R4.24): a turn of the
// host on its fast tier, no tool, one step. Knows no provider and no credentials; the host's last tier answers by rule, and says so.
// Invariant: ends within its time; what a model streamed before a retry or a fallback is no reply; a turn that failed throws.
import { deadline, raceAbort } from '#base/abort.ts';
import { type Clock, systemClock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import { canonicalJson, type JsonObject } from '#base/json.ts';
import type { TurnRequest } from '#core/agent/extension-host.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { HiveMind } from '../hive-ground.ts';

export interface InferRequest {
  readonly kind: 'summary' | 'spark';
  readonly system: string;
  /** Sent as JSON text, with `schema_version`; every word of a peer stands in it as a JSON string, never in `system`. */
  readonly input: JsonObject;
  readonly maxOutputTokens: number;
}

export interface InferReply {
  readonly text: string;
  /** No language model had a part in it. */
  readonly byRule: boolean;
}

export type Infer = (request: InferRequest, signal: AbortSignal) => Promise<InferReply>;

export interface HostInferOptions {
  readonly clock?: Clock;
  /** Of one question. @default 60000 */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 60_000;
/** Characters that a token may stand for, and what no reply of ours exceeds. */
const LONGEST_TOKEN = 20;

/** @param mind composes the agent; asked at each question */
export function hostInfer(mind: () => Promise<Pick<HiveMind, 'runTurn'>>, options: HostInferOptions = {}): Infer {
  const { clock = systemClock, timeoutMs = TIMEOUT_MS } = options;
  return async (request, signal) => {
    signal.throwIfAborted();
    const late = () =>
      new TalariaError(`no answer within ${Math.ceil(timeoutMs / 1_000)} seconds`, { code: 'timeout' });
    const time = deadline(clock, signal, timeoutMs, late);
    try {
      const { runTurn } = await mind();
      return await raceAbort(listen(runTurn(turnOf(request), time.signal), request), time.signal);
    } finally {
      time.clear();
    }
  };
}

function turnOf({ system, input, maxOutputTokens }: InferRequest): TurnRequest {
  const text = canonicalJson(input);
  return { text, system, purpose: 'peers', tier: 'T1', tools: [], maxSteps: 1, maxOutputTokens };
}

type TurnEnd = Extract<TurnEvent, { type: 'turn-end' }>;

async function listen(events: AsyncIterable<TurnEvent>, { maxOutputTokens }: InferRequest): Promise<InferReply> {
  let length = 0;
  for await (const event of events) {
    if (event.type === 'turn-end') return replyOf(event);
    if (event.type === 'text-delta' || event.type === 'reasoning-delta') length += event.text.length;
    if (length > maxOutputTokens * LONGEST_TOKEN * 10) throw failed('the answer is far longer than was asked for');
  }
  throw failed('the turn ended without saying how');
}

function replyOf({ outcome, text, tier, error }: TurnEnd): InferReply {
  if (outcome === 'failed' || outcome === 'aborted') throw failed(error?.message ?? 'the turn was stopped');
  if (text.trim() === '') throw failed('the answer is empty');
  return { text, byRule: tier === 'T0' };
}

function failed(message: string): TalariaError {
  return new TalariaError(message, { code: 'peers-infer' });
}
