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
  start(kind: SpanKind, name: string, parentId?: string): OpenSpan;
  /** Spans ended since the last call; the caller stores them with its next durable write. */
  take(): readonly Span[];
}

export function createSpanRecorder(place: {
  readonly sessionId: string;
  readonly turn: number;
  readonly clock: Clock;
}): SpanRecorder {
  let ended: Span[] = [];
  const { sessionId, turn, clock } = place;
  return {
    start(kind, name, parentId) {
      const id = newId('span');
      const startedAt = clock.now();
      const from = clock.monotonic();
      let open = true;
      return {
        id,
        end(status, facts = {}) {
          if (!open) return;
          open = false;
          const ms = clock.monotonic() - from;
          ended.push({
            id,
            sessionId,
            turn,
            kind,
            name,
            startedAt,
            ms,
            status,
            ...(parentId ? { parentId } : {}),
            ...facts,
          });
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
