// Owns trying the same provider again: which errors, how often, how long between. Knows no provider.
// Invariant: every further attempt is announced by a `retry` event before it starts, so that the consumer drops what it had;
// a wait ends at once when the signal aborts.
import { throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { jitter } from '#base/ids.ts';
import {
  type ModelClient,
  ModelError,
  type ModelErrorCode,
  type ModelEvent,
  type ModelRequest,
} from './model-client.ts';

export interface RetryOptions {
  readonly clock: Clock;
  /** Calls in all; default 3. */
  readonly attempts?: number;
  /** First wait, ms; doubles; default 500. */
  readonly baseMs?: number;
  /** Longest wait that a provider may ask for, ms; beyond it the call fails at once, saying so; default 60 000. */
  readonly capMs?: number;
  /** In [0, 1); default random. */
  readonly random?: () => number;
}

/** Worth another try unchanged. A time-out is not in it: the person has waited long enough, the cascade takes over. */
const AGAIN: ReadonlySet<string> = new Set<ModelErrorCode>([
  'model-rate-limited',
  'model-overloaded',
  'model-unreachable',
  'model-bad-response',
]);

export function withRetry(client: ModelClient, options: RetryOptions): ModelClient {
  return {
    id: client.id,
    tier: client.tier,
    traits: client.traits,
    stream: (request, signal) => streamWithRetry(client, { request, options }, signal),
  };
}

interface Work {
  readonly request: ModelRequest;
  readonly options: RetryOptions;
}

async function* streamWithRetry(
  client: ModelClient,
  { request, options }: Work,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const attempts = options.attempts ?? 3;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return yield* client.stream(request, signal);
    } catch (error) {
      throwIfAborted(signal);
      const failure = retryable(error);
      if (!failure || attempt >= attempts) throw error;
      const delayMs = waitFor(failure, attempt, options);
      yield { type: 'retry', model: client.id, reason: failure.message, attempt: attempt + 1, delayMs };
      await options.clock.sleep(delayMs, signal);
      throwIfAborted(signal);
    }
  }
}

function retryable(error: unknown): ModelError | undefined {
  return error instanceof ModelError && error.retryable && AGAIN.has(error.code) ? error : undefined;
}

function waitFor(failure: ModelError, attempt: number, options: RetryOptions): number {
  const cap = options.capMs ?? 60_000;
  const asked = failure.retryAfterMs;
  if (asked !== undefined && asked > cap) throw tooLong(failure, asked);
  const random = options.random ?? jitter;
  const backoff = Math.min(cap, (options.baseMs ?? 500) * 2 ** (attempt - 1));
  // Never less than the provider asked for; without a wish, between half of the backoff and one and a half.
  return Math.round(asked === undefined ? backoff * (0.5 + random()) : asked + random() * 250);
}

function tooLong(failure: ModelError, asked: number): ModelError {
  const wait = asked >= 120_000 ? `${Math.round(asked / 60_000)} min` : `${Math.round(asked / 1000)} s`;
  return new ModelError(`${failure.message} It asks to wait ${wait}, which is too long to sit through.`, {
    code: 'model-rate-limited',
    retryable: false,
    retryAfterMs: asked,
    cause: failure,
    fix: `Try again in ${wait}, or choose another model.`,
    ...(failure.status === undefined ? {} : { status: failure.status }),
  });
}
