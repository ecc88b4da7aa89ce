// Owns the order of models within one list of the owner's. Knows no provider.
// Invariant: nobody outside the list ever answers; going on to the next is always announced by one `fallback` event with its reason; a
// request that is itself at fault (`model-bad-request`, `model-context-full`) is never passed on: another model would hide what has to
// be mended; a failed call beside the conversation (review, flush, recall) changes nothing about who answers.
import { throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { jitter } from '#base/ids.ts';
import {
  type ModelClient,
  ModelError,
  type ModelErrorCode,
  type ModelEvent,
  type ModelRequest,
  type Tier,
} from './model-client.ts';

export interface CascadeOptions {
  readonly tier: Tier;
  /** In order of preference. */
  readonly clients: readonly ModelClient[];
  readonly clock: Clock;
  /** How long a client that failed is passed over, ms; default 60 000, more when it asked for more. */
  readonly coolDownMs?: number;
}

export interface Cascade extends ModelClient {
  /** The client that the next call goes to first. */
  active(): ModelClient;
  /** Why each client that is being passed over is, with the ms until it is tried again. */
  resting(): readonly { readonly id: string; readonly reason: string; readonly forMs: number }[];
}

interface Rest {
  /** On the monotonic clock. */
  readonly until: number;
  readonly reason: string;
}

type Rests = Map<ModelClient, Rest>;

const STAYS: ReadonlySet<string> = new Set(['model-bad-request', 'model-context-full']);

export function createCascade(options: CascadeOptions): Cascade {
  const { clients, clock, tier } = options;
  const answers: Rests = new Map();
  const besides: Rests = new Map();
  const restOf = (client: ModelClient, rests = answers): Rest | undefined => {
    const rest = rests.get(client);
    return rest && rest.until > clock.monotonic() ? rest : undefined;
  };
  const active = (): ModelClient => {
    const ready = clients.find((client) => !restOf(client)) ?? clients[0];
    if (!ready) throw nothingConfigured();
    return ready;
  };
  const stream = (request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> => {
    const rests = request.purpose === 'answer' ? answers : besides;
    return streamCascade({ options, request, rests, restOf: (client) => restOf(client, rests) }, signal);
  };
  return {
    get id() {
      return active().id;
    },
    get traits() {
      return active().traits;
    },
    tier,
    stream,
    active,
    resting: () =>
      clients.flatMap((client) => {
        const rest = restOf(client);
        return rest ? [{ id: client.id, reason: rest.reason, forMs: rest.until - clock.monotonic() }] : [];
      }),
  };
}

interface Run {
  readonly options: CascadeOptions;
  readonly request: ModelRequest;
  readonly rests: Rests;
  readonly restOf: (client: ModelClient) => Rest | undefined;
}

async function* streamCascade(run: Run, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  throwIfAborted(signal);
  const line = callOrder(run);
  const failures: ModelError[] = [];
  for (const [place, { client, rest }] of line.entries()) {
    const failure = rest ?? (yield* tryOne(run, client, signal));
    if (failure === undefined) return;
    if (failure instanceof ModelError) failures.push(failure);
    const next = line[place + 1]?.client;
    if (next) yield { type: 'fallback', from: client.id, to: next.id, reason: reasonOf(failure, run.options) };
  }
  throw allFailed(failures);
}

interface Place {
  readonly client: ModelClient;
  /** Set when the client is passed over. */
  readonly rest: Rest | undefined;
}

function callOrder({ options: { clients }, restOf }: Run): readonly Place[] {
  const places = clients.map((client) => ({ client, rest: restOf(client) }));
  // With nothing else to ask, a resting model is better than none.
  return places.every((place) => place.rest) ? clients.map((client) => ({ client, rest: undefined })) : places;
}

/** Streams one client; its failure when the next one may try, undefined when it answered. */
async function* tryOne(
  { options, request, rests }: Run,
  client: ModelClient,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, ModelError | undefined> {
  try {
    yield* client.stream(request, signal);
    rests.delete(client);
    return undefined;
  } catch (error) {
    throwIfAborted(signal);
    const failure = passedOn(error);
    rests.set(client, restAfter(failure, options));
    return failure;
  }
}

/** The failure when the next model may try; anything else is thrown on. */
function passedOn(error: unknown): ModelError {
  if (error instanceof ModelError && !STAYS.has(error.code)) return error;
  throw error;
}

function restAfter(failure: ModelError, options: CascadeOptions): Rest {
  const forMs = Math.max(options.coolDownMs ?? 60_000, failure.retryAfterMs ?? 0);
  return { until: options.clock.monotonic() + forMs, reason: errorText(failure) };
}

function reasonOf(failure: Rest | ModelError, { clock, tier }: CascadeOptions): string {
  const next = `(tiers.${tier} of config.yaml goes on)`;
  if (failure instanceof ModelError) return `${errorText(failure)} ${next}`;
  const seconds = Math.ceil((failure.until - clock.monotonic()) / 1000);
  return `passed over for another ${seconds} s: ${failure.reason} ${next}`;
}

function nothingConfigured(): ModelError {
  return new ModelError('no model is configured', {
    code: 'model-none',
    fix: 'Add one with /model add, or set a key such as OPENAI_API_KEY, or start a local endpoint.',
  });
}

function allFailed(failures: readonly ModelError[]): ModelError {
  const [first] = failures;
  if (!first) return nothingConfigured();
  if (failures.length === 1) return first;
  const last = failures.at(-1) ?? first;
  return new ModelError(`every model failed: ${failures.map(errorText).join(' · ')}`, {
    code: last.code as ModelErrorCode,
    cause: first,
    ...(first.fix === undefined ? {} : { fix: first.fix }),
  });
}

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
