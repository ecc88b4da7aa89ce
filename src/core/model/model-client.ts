// Owns the ModelClient seam: one request in, a stream of model events out. Implemented by reflex, the providers, local llama,
// the cascade and the scripted model; each runs test/contract/model-client.contract.ts.
import type { TalariaErrorOptions } from '#base/errors.ts';
import { TalariaError } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import type { Message } from './message.ts';

/** Why a call is made; the cost ledger is kept by purpose. */
export type Purpose =
  | 'answer'
  | 'review'
  | 'flush'
  | 'compress'
  | 'curate'
  | 'dream'
  | 'delegate'
  | 'schedule'
  | 'consult'
  | 'describe'
  | 'recall'
  | 'recurse'
  | 'peers'
  | 'judge'
  | 'draft'
  | 'route'
  | 'probe';

/** T0 reflex, T1 small and fast, T2 deliberate. */
export type Tier = 'T0' | 'T1' | 'T2';

/** An OpenAI function schema without its wrapper. `parameters` is JSON Schema of an object. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

export interface ModelRequest {
  /** The frozen prompt; byte-identical for every request of a session between compressions. */
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  readonly purpose: Purpose;
  /** Stable per session: providers with a cache key use it. */
  readonly sessionId?: string;
  readonly maxOutputTokens?: number;
}

export interface Usage {
  /** All prompt tokens, cached ones included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
}

export const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'refusal' | 'other';

export type ModelEvent =
  | { readonly type: 'text-delta'; readonly text: string }
  /** `replay` closes the reasoning part that the delta belongs to: the next one begins a new part. */
  | { readonly type: 'reasoning-delta'; readonly text: string; readonly replay?: JsonObject }
  | {
      readonly type: 'tool-call';
      readonly callId: string;
      readonly name: string;
      readonly arguments: JsonObject;
      /** Raw text when the arguments could not be read; `arguments` is then `{}`. */
      readonly malformed?: string;
    }
  /** The same provider goes on after `delayMs` (0: at once, in another way); the consumer drops what this step had streamed. */
  | {
      readonly type: 'retry';
      readonly model: string;
      readonly reason: string;
      readonly attempt: number;
      readonly delayMs: number;
    }
  /** The next model of the cascade takes over; the consumer drops what this step had streamed and shows the line. */
  | { readonly type: 'fallback'; readonly from: string; readonly to: string; readonly reason: string }
  | {
      readonly type: 'finish';
      readonly reason: FinishReason;
      readonly usage: Usage;
      /** Id of the model that answered. */
      readonly model: string;
      readonly tier: Tier;
      /** US dollars, 0 for local and reflex, null when the price is unknown. */
      readonly cost: number | null;
    };

export interface ModelTraits {
  /** Tokens that prompt and answer share. */
  readonly contextWindow: number;
  readonly toolCalling: 'structured' | 'text';
  /** Reads pictures. */
  readonly images?: boolean;
  /** Takes Anthropic-style cache marks. */
  readonly cacheMarks: boolean;
  /** Runs on this machine or an address of this machine's network. */
  readonly local: boolean;
}

/**
 * Contract. `stream` may be called many times, also at once. It yields zero or more deltas and calls, then exactly one `finish` as its last
 * event, or throws: ModelError for anything the provider did, the signal's reason when aborted (within a second, also in mid-stream,
 * and the connection is closed). It never writes to `request`. `callId`s are unique within one stream. It starts no work before the first `next()`.
 */
export interface ModelClient {
  /** `<provider>/<model>`, e.g. `openai/gpt-5`, `reflex/1`. */
  readonly id: string;
  readonly tier: Tier;
  readonly traits: ModelTraits;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

export type ModelErrorCode =
  | 'model-auth' // 401, 403: the key is missing or wrong
  | 'model-not-found' // 404: wrong base URL or model name
  | 'model-rate-limited' // 429
  | 'model-overloaded' // 5xx, 529
  | 'model-unreachable' // refused, DNS, TLS, reset before the first byte
  | 'model-timeout' // connect or idle time-out
  | 'model-bad-request' // 400, 413, 422
  | 'model-bad-response' // not what the protocol says: HTML, half an event, reset in mid-stream
  | 'model-context-full'
  | 'model-none'; // nothing configured

export interface ModelErrorOptions extends TalariaErrorOptions {
  readonly code: ModelErrorCode;
  readonly status?: number;
  /** From Retry-After or its kin, ms. */
  readonly retryAfterMs?: number;
}

export class ModelError extends TalariaError {
  override readonly name = 'ModelError';
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  constructor(message: string, options: ModelErrorOptions) {
    super(message, options);
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}
