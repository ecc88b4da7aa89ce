// Owns the one object that `-p --output-format json` prints, and with which `stream-json` ends. Knows no turn's events but the last.
// Invariant: every field is there whatever happened; `error` only when something failed.
import type { JsonObject } from '#base/json.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import { NO_USAGE, type Usage } from '#core/model/model-client.ts';

export type TurnEnd = Extract<TurnEvent, { type: 'turn-end' }>;

export interface PrintError {
  readonly code: string;
  readonly message: string;
  readonly fix?: string | undefined;
  /** What would have needed an approval. */
  readonly calls?: readonly MissingCall[];
}

export interface MissingCall {
  readonly tool: string;
  /** What would run, in full: the command, the path. */
  readonly call: string;
}

/** How a turn ended, as a script should read it. */
export interface Verdict {
  readonly end: TurnEnd;
  readonly exitCode: number;
  /** There when `exitCode` is not 0. */
  readonly error?: PrintError;
}

export function turnResult(sessionId: string, { end, exitCode, error }: Verdict): JsonObject {
  return {
    type: 'result',
    session_id: sessionId,
    result: end.text,
    is_error: exitCode !== 0,
    outcome: end.outcome,
    num_steps: end.steps,
    usage: usageObject(end.usage),
    cost: end.cost,
    model: end.model,
    tier: end.tier,
    ...(end.stopped ? { stopped: end.stopped } : {}),
    ...(error ? { error: errorObject(error) } : {}),
  };
}

/** No turn was run. */
export function refusalResult(error: PrintError): JsonObject {
  return {
    type: 'result',
    session_id: null,
    result: '',
    is_error: true,
    outcome: 'failed',
    num_steps: 0,
    usage: usageObject(NO_USAGE),
    cost: 0,
    model: null,
    tier: null,
    error: errorObject(error),
  };
}

function errorObject({ code, message, fix, calls }: PrintError): JsonObject {
  return { code, message, ...(fix ? { fix } : {}), ...(calls ? { calls: calls.map((call) => ({ ...call })) } : {}) };
}

function usageObject(usage: Usage): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cached_tokens: usage.cachedTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    reasoning_tokens: usage.reasoningTokens,
  };
}
