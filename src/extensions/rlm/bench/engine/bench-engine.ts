// Owns what a bench needs to run the real engine: who answers, where traces go, the clock. Shapes only.
import type { Clock } from '#base/clock.ts';
import type { InnerCall } from '../../call/inner-call.ts';
import type { TraceStore } from '../../trace/trace-store.ts';

export interface BenchEngine {
  /** By family; `default` unless a bench names another. */
  readonly inner: ReadonlyMap<string, InnerCall>;
  readonly store: TraceStore;
  readonly clock: Clock;
  /** Of one call, ms. */
  readonly call_timeout_ms?: number;
}
