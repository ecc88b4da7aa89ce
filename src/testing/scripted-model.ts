// Owns the scripted ModelClient and the scripted Judge: they answer with what they were given, and fail loudly on anything else. Knows no provider.
// Invariants: an unexpected call throws, a leftover step throws in `done()`, requests are frozen snapshots; a decision of the judge that throws
// is no verdict, as a failed model is none.
import { throwIfAborted } from '#base/abort.ts';
import { TalariaError } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import {
  type FinishReason,
  type ModelClient,
  ModelError,
  type ModelErrorCode,
  type ModelEvent,
  type ModelRequest,
  type ModelTraits,
  NO_USAGE,
  type Tier,
  type Usage,
} from '#core/model/model-client.ts';
import type { Judge, JudgedClaim, JudgedSource, JudgePolicy, Verdict } from '#mind/evidence/judge.ts';
import type { Teardown } from './temp-home.ts';

/** A structured clone of `value`, frozen at every depth. */
export function frozenSnapshot<T>(value: T): T {
  return deepFreeze(structuredClone(value));
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}

interface Ending {
  readonly usage?: Partial<Usage>;
  readonly finish?: FinishReason;
}

export interface ScriptedCall {
  readonly name: string;
  readonly arguments?: JsonObject;
  /** Default `call_<n>`, unique in the script. */
  readonly callId?: string;
  /** Raw text of arguments that could not be read. */
  readonly malformed?: string;
}

interface ReplyStep extends Ending {
  readonly reply: string | readonly string[];
  readonly reasoning?: string;
}

interface CallsStep extends Ending {
  readonly calls: readonly ScriptedCall[];
  readonly text?: string;
  readonly reasoning?: string;
}

interface ErrorStep {
  readonly error: ModelErrorCode | Error;
  readonly after?: string;
}

interface HangStep {
  readonly hang: true;
  readonly after?: string;
}

/** What one call of the model gives. A bare string is a reply; a list of strings a reply in these chunks. */
export type ScriptedStep =
  | string
  | ReplyStep
  | CallsStep
  | { readonly refusal: string }
  /** A code throws a ModelError of it; `after` is text that was streamed before. */
  | ErrorStep
  /** Exactly these events; a missing `finish` is the script's own doing. */
  | { readonly events: readonly ModelEvent[] }
  /** Streams `after`, then nothing until the signal aborts. */
  | HangStep
  | ((request: ModelRequest) => ScriptedStep);

export interface ScriptedModelOptions {
  /** Default `scripted/model`. */
  readonly id?: string;
  readonly tier?: Tier;
  readonly traits?: Partial<ModelTraits>;
  /** US dollars reported per call; default 0. */
  readonly cost?: number | null;
  /** A test context: `done()` then runs by itself when the test ends. */
  readonly context?: Teardown;
}

export interface ScriptedModel extends ModelClient {
  /** One frozen snapshot per call, oldest first. */
  readonly requests: readonly ModelRequest[];
  /** Steps not used yet. */
  readonly left: number;
  /** Adds steps to the end of the script. */
  push(...steps: readonly ScriptedStep[]): void;
  /** Throws when steps are left over or a call came that the script did not expect. */
  done(): void;
}

const DEFAULT_USAGE: Usage = { ...NO_USAGE, inputTokens: 100, outputTokens: 10 };

export function createScriptedModel(steps: readonly ScriptedStep[], options: ScriptedModelOptions = {}): ScriptedModel {
  const queue = [...steps];
  const requests: ModelRequest[] = [];
  let unexpected = 0;
  let calls = 0;
  const id = options.id ?? 'scripted/model';
  const tier = options.tier ?? 'T2';
  const nextCallId = () => `call_${++calls}`;

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    throwIfAborted(signal);
    const snapshot = frozenSnapshot(request);
    requests.push(snapshot);
    const step = queue.shift();
    if (step === undefined) {
      unexpected += 1;
      throw new TalariaError(`scripted model: call ${requests.length} was not expected`, { code: 'script-unexpected' });
    }
    const finish = { model: id, tier, cost: options.cost === undefined ? 0 : options.cost };
    for (const event of playStep(resolveStep(step, snapshot), { finish, nextCallId })) {
      await Promise.resolve();
      throwIfAborted(signal);
      if (event === 'hang') await untilAbort(signal);
      else yield event;
    }
  }

  const done = () => {
    if (unexpected > 0)
      throw new TalariaError(`scripted model: ${unexpected} unexpected calls`, { code: 'script-unexpected' });
    if (queue.length === 0) return;
    const rest = queue.map((step) => (typeof step === 'function' ? 'function' : JSON.stringify(step))).join(', ');
    throw new TalariaError(`scripted model: ${queue.length} steps left over: ${rest}`, { code: 'script-leftover' });
  };
  options.context?.after(done);

  return {
    id,
    tier,
    traits: { contextWindow: 128_000, toolCalling: 'structured', cacheMarks: false, local: true, ...options.traits },
    stream,
    requests,
    get left() {
      return queue.length;
    },
    push: (...more) => {
      queue.push(...more);
    },
    done,
  };
}

type PlainStep = Exclude<ScriptedStep, string | ((request: ModelRequest) => ScriptedStep)>;

function resolveStep(step: ScriptedStep, request: ModelRequest): PlainStep {
  if (typeof step === 'string') return { reply: step };
  return typeof step === 'function' ? resolveStep(step(request), request) : step;
}

interface Play {
  readonly finish: { readonly model: string; readonly tier: Tier; readonly cost: number | null };
  readonly nextCallId: () => string;
}

function* playStep(step: PlainStep, play: Play): Generator<ModelEvent | 'hang'> {
  if ('events' in step) yield* step.events;
  else if ('error' in step || 'hang' in step) yield* playFailure(step);
  else if ('refusal' in step) {
    yield* textDeltas(step.refusal);
    yield finishEvent('refusal', undefined, play);
  } else yield* playAnswer(step, play);
}

function* playFailure(step: ErrorStep | HangStep): Generator<ModelEvent | 'hang'> {
  yield* textDeltas(step.after ?? '');
  if ('hang' in step) yield 'hang';
  else throw typeof step.error === 'string' ? scriptedError(step.error) : step.error;
}

function* playAnswer(step: ReplyStep | CallsStep, play: Play): Generator<ModelEvent> {
  if (step.reasoning !== undefined) yield { type: 'reasoning-delta', text: step.reasoning };
  if ('reply' in step) {
    yield* textDeltas(step.reply);
    yield finishEvent(step.finish ?? 'stop', step.usage, play);
    return;
  }
  yield* textDeltas(step.text ?? '');
  for (const call of step.calls) yield callEvent(call, play);
  yield finishEvent(step.finish ?? 'tool-calls', step.usage, play);
}

function callEvent(call: ScriptedCall, play: Play): ModelEvent {
  return {
    type: 'tool-call',
    callId: call.callId ?? play.nextCallId(),
    name: call.name,
    arguments: call.arguments ?? {},
    ...(call.malformed === undefined ? {} : { malformed: call.malformed }),
  };
}

function finishEvent(reason: FinishReason, usage: Partial<Usage> | undefined, play: Play): ModelEvent {
  return { type: 'finish', reason, usage: { ...DEFAULT_USAGE, ...usage }, ...play.finish };
}

function* textDeltas(text: string | readonly string[]): Generator<ModelEvent> {
  const chunks = typeof text === 'string' ? (text.match(/\S*\s*/g) ?? []) : text;
  for (const chunk of chunks) if (chunk !== '') yield { type: 'text-delta', text: chunk };
}

function scriptedError(code: ModelErrorCode): ModelError {
  const retryable = ['model-rate-limited', 'model-overloaded', 'model-unreachable', 'model-timeout'].includes(code);
  return new ModelError(`scripted ${code}`, { code, retryable });
}

function untilAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

export interface JudgeQuestion {
  readonly claims: readonly JudgedClaim[];
  readonly sources: readonly JudgedSource[];
  readonly policy: JudgePolicy;
}

export interface ScriptedJudge extends Judge {
  readonly asked: readonly JudgeQuestion[];
}

/** `supported` for always yes, `goes-beyond` for always no; a function decides each claim by its own sources. */
export function createScriptedJudge(
  decide: Verdict | 'none' | ((claim: JudgedClaim, sources: readonly JudgedSource[]) => Verdict | 'none'),
): ScriptedJudge {
  const asked: JudgeQuestion[] = [];
  const verdictOf = (claim: JudgedClaim, sources: readonly JudgedSource[]): Verdict | 'none' => {
    if (typeof decide !== 'function') return decide;
    try {
      return decide(
        claim,
        sources.filter(({ id }) => claim.sources.includes(id)),
      );
    } catch {
      return 'none';
    }
  };
  return {
    asked,
    isThere: () => true,
    judge: async (claims, sources, policy) => {
      asked.push({ claims, sources, policy });
      return claims.map((claim) => {
        const verdict = verdictOf(claim, sources);
        const why = verdict === 'none' ? 'failed' : `scripted: ${verdict}`;
        return { id: claim.id, verdict, why, model: 'scripted/judge' };
      });
    },
  };
}
