// Owns when and how a live conversation is compressed: threshold, hooks, summary, one transaction, one new prompt, one prefix break.
// Knows no surface. Invariants: until the store has committed, the old state stands; after two useless attempts in a row it stops
// trying until nothing fits, and then says so. Seed 001 chapters 13 and 14.
import type { Clock } from '#base/clock.ts';
import { TalariaError } from '#base/errors.ts';
import type { UserMessage } from '#core/model/message.ts';
import type { ModelClient } from '#core/model/model-client.ts';
import {
  type CompressionBudget,
  compressionBudget,
  countTurns,
  DEFAULT_THRESHOLD,
  type LiveContext,
  redactMessage,
} from '../history.ts';
import type { Hooks, SessionInfo } from '../hooks.ts';
import type { FrozenPrompt, SessionStore } from '../session-store.ts';
import { createHookRunner, createSpanRecorder, type SpanRecorder } from '../turn/hook-runner.ts';
import type { Room, RoomPoint } from '../turn/run-turn.ts';
import type { TurnEvent } from '../turn-event.ts';
import { type CompressionPlan, canSave, planCompression, savedShare, summarise } from './plan-compression.ts';
import { writeSummary } from './write-summary.ts';

export interface CompressionSettings {
  /** Default true. By hand a conversation can be compressed in any case. */
  readonly enabled?: boolean;
  /** Share of the window; default 0.5. */
  readonly threshold?: number;
  /** Who words the summaries; default the conversation's model. */
  readonly summariser?: () => ModelClient;
}

export interface CompressorParts {
  readonly store: SessionStore;
  readonly context: LiveContext;
  readonly session: SessionInfo;
  readonly settings: CompressionSettings;
  /** The conversation's model now. */
  readonly model: () => ModelClient;
  readonly buildPrompt: (window: number) => FrozenPrompt;
  readonly machine: {
    readonly clock: Clock;
    readonly hooks: readonly Hooks[];
    readonly place: { readonly redact: (text: string) => string };
  };
}

type Attempt = 'done' | 'useless' | 'failed';

/** Saving less is not worth a broken prefix. */
const LEAST_SAVED = 0.1;
const USELESS_LIMIT = 2;
/** After a failure the next attempt waits until the conversation has grown by this share of the window. */
const GROWTH_BEFORE_RETRY = 0.05;

export class Compressor {
  readonly #parts: CompressorParts;
  #useless = 0;
  #retryFrom = 0;

  constructor(parts: CompressorParts) {
    this.#parts = parts;
  }

  /** @param incoming tokens that are about to be added */
  async *makeRoom(at: RoomPoint, incoming: number, signal: AbortSignal): AsyncGenerator<TurnEvent, Room | undefined> {
    const { context, model } = this.#parts;
    const size = context.tokens + incoming;
    if (at === 'full') context.noteFull(model(), size);
    const budget = this.#budget();
    const over = size >= budget.hard || at === 'full';
    if (!over && (at !== 'turn' || size < budget.soft || !this.#isWorthTrying(size))) return undefined;
    const attempt = yield* this.#compress({ size, budget, pressing: over }, signal);
    if (attempt === 'done') return { messages: context.messages, prompt: context.prompt };
    if (at !== 'turn' && this.#useless >= USELESS_LIMIT) throw this.#contextFull(size);
    return undefined;
  }

  /** On request, whatever the size. */
  async *byHand(signal: AbortSignal): AsyncGenerator<TurnEvent, void> {
    const scope = { size: this.#parts.context.tokens, budget: this.#budget(), pressing: false };
    const attempt = yield* this.#compress(scope, signal);
    if (attempt === 'useless')
      yield { type: 'notice', text: 'nothing to compress: what is between the first and the latest messages is small' };
  }

  #isWorthTrying(size: number): boolean {
    return this.#useless < USELESS_LIMIT && size >= this.#retryFrom;
  }

  #budget(): CompressionBudget {
    const { context, settings, model } = this.#parts;
    const threshold = settings.threshold ?? DEFAULT_THRESHOLD;
    return compressionBudget({ contextWindow: context.reach(model()), promptTokens: context.promptTokens, threshold });
  }

  async *#compress(scope: AttemptScope, signal: AbortSignal): AsyncGenerator<TurnEvent, Attempt> {
    const { context, session, store } = this.#parts;
    const plan = planCompression(session.sessionId, context.stored, scope.budget);
    if (!plan || !canSave(plan, scope.size, LEAST_SAVED)) return yield* this.#noteUseless();
    const spans = this.#spans();
    try {
      return yield* this.#carryOut(plan, { ...scope, spans }, signal);
    } finally {
      await store.recordSpans(spans.take());
    }
  }

  async *#carryOut(
    plan: CompressionPlan,
    scope: AttemptScope & { readonly spans: SpanRecorder },
    signal: AbortSignal,
  ): AsyncGenerator<TurnEvent, Attempt> {
    yield* this.#tellHooks(scope.spans, signal);
    const message = yield* this.#summary(plan, scope, signal);
    if (!message) {
      const { context, model } = this.#parts;
      this.#retryFrom = scope.size + context.reach(model()) * GROWTH_BEFORE_RETRY;
      return 'failed';
    }
    if (savedShare(plan, message, scope.size) < LEAST_SAVED) return yield* this.#noteUseless();
    yield* this.#commit(plan, message, scope.spans);
    return 'done';
  }

  *#noteUseless(): Generator<TurnEvent, 'useless'> {
    this.#useless += 1;
    if (this.#useless === USELESS_LIMIT) {
      const text =
        'compression frees almost nothing here any more and is left until the window is full; /new starts afresh';
      yield { type: 'notice', text };
    }
    return 'useless';
  }

  async *#tellHooks(spans: SpanRecorder, signal: AbortSignal): AsyncGenerator<TurnEvent, void> {
    const { machine, session, context } = this.#parts;
    const pending: TurnEvent[] = [];
    const { hooks, clock } = machine;
    const runner = createHookRunner({ hooks, clock, spans, emit: (event) => pending.push(event) });
    await runner.beforeCompress(session, [...context.messages], signal);
    yield* pending;
  }

  /** Undefined when nothing is to change. */
  async *#summary(
    plan: CompressionPlan,
    scope: AttemptScope & { readonly spans: SpanRecorder },
    signal: AbortSignal,
  ): AsyncGenerator<TurnEvent, UserMessage | undefined> {
    const { settings, model, machine } = this.#parts;
    const client = settings.summariser?.() ?? model();
    if (client.tier === 'T0') {
      yield { type: 'notice', text: 'no model is there to word the summary: quotations and exact values stand in' };
      return summarise(plan);
    }
    const written = await writeSummary(plan, { client, clock: machine.clock, spans: scope.spans }, signal);
    if (written.ok) return summarise(plan, written.value);
    if (!scope.pressing) {
      yield { type: 'notice', text: `not compressed, the conversation is as it was: ${written.detail}` };
      return undefined;
    }
    yield { type: 'notice', text: `no summary (${written.detail}): quotations and exact values stand in` };
    return summarise(plan);
  }

  async *#commit(plan: CompressionPlan, message: UserMessage, spans: SpanRecorder): AsyncGenerator<TurnEvent, void> {
    const { store, session, context, machine, model, buildPrompt } = this.#parts;
    const before = context.tokens;
    const prompt = buildPrompt(context.window(model()));
    const replacement = [redactMessage(message, machine.place.redact)];
    const [inserted] = await Promise.all([
      store.compact(session.sessionId, { ids: plan.ids, replacement, prompt }),
      store.recordSpans(spans.take()),
    ]);
    context.replace(plan.ids, inserted, prompt);
    this.#useless = 0;
    this.#retryFrom = 0;
    yield { type: 'prefix-break', reason: 'compression' };
    const factor = context.factor(this.#parts.model().id);
    const sizes = `about ${inThousands(before * factor)} tokens became ${inThousands(context.tokens * factor)}`;
    yield { type: 'notice', text: `compressed ${plan.middle.length} messages: ${sizes}; session_search finds them` };
  }

  #contextFull(size: number): TalariaError {
    const { id, traits } = this.#parts.model();
    const tokens = inThousands(size * this.#parts.context.factor(id));
    return new TalariaError(
      `this conversation no longer fits ${id} (about ${tokens} of ${inThousands(traits.contextWindow)} tokens), and compressing it frees almost nothing`,
      {
        code: 'context-full',
        fix: 'Start a new session with /new, or choose a model with a larger window with /model.',
      },
    );
  }

  #spans() {
    const { session, context, machine } = this.#parts;
    const turn = countTurns(context.messages);
    return createSpanRecorder({ sessionId: session.sessionId, turn, clock: machine.clock });
  }
}

interface AttemptScope {
  readonly size: number;
  readonly budget: CompressionBudget;
  /** Nothing more fits: better quotations than no compression. */
  readonly pressing: boolean;
}

function inThousands(tokens: number): string {
  return tokens < 10_000 ? `${(tokens / 1000).toFixed(1)}K` : `${Math.round(tokens / 1000)}K`;
}
