// Owns the trace of one turn: every step, tool, hook, retry and fallback becomes a span, handed to the store in batches.
// Knows no table. Invariant: a span is recorded once, also when its work fails or is aborted.
import type { Clock } from '#base/clock.ts';
import { newId } from '#base/ids.ts';
import type { Span, SpanKind } from '../session-store.ts';

export type SpanFacts = Pick<Span, 'detail' | 'purpose' | 'tier' | 'usage' | 'cost'>;

export interface OpenSpan {
  readonly id: string;
  end(status: Span['status'], facts?: SpanFacts): void;
}

export interface SpanRecorder {
  /** A step belongs to its turn; tools, hooks, retries and fallbacks to the step under way. */
  start(kind: SpanKind, name: string): OpenSpan;
  /** Spans ended since the last call; the caller stores them with its next durable write. */
  take(): readonly Span[];
}

export interface SpanPlace {
  readonly sessionId: string;
  readonly turn: number;
  readonly clock: Clock;
}

export function createSpanRecorder({ sessionId, turn, clock }: SpanPlace): SpanRecorder {
  let ended: Span[] = [];
  let turnId: string | undefined;
  let stepId: string | undefined;
  const parentOf = (kind: SpanKind) => (kind === 'turn' ? undefined : kind === 'step' ? turnId : (stepId ?? turnId));
  return {
    start(kind, name) {
      const id = newId('span');
      const parentId = parentOf(kind);
      if (kind === 'turn') turnId = id;
      if (kind === 'step') stepId = id;
      const startedAt = clock.now();
      const from = clock.monotonic();
      let open = true;
      return {
        id,
        end(status, facts = {}) {
          if (!open) return;
          open = false;
          const ms = clock.monotonic() - from;
          const base = { id, sessionId, turn, kind, name, startedAt, ms, status };
          ended.push({ ...base, ...(parentId === undefined ? {} : { parentId }), ...facts });
        },
      };
    },
    take() {
      const spans = ended;
      ended = [];
      return spans;
    },
  };
}
