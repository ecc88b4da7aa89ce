// Owns TraceSink: where a live run's writes go, all of a batch or nothing of it. Implemented by SQLite and by memory. Shapes only.
import type { CallRecord } from '../../call/call-record.ts';
import type { RunEvent } from '../run-event.ts';
import type { RunRow } from '../run-row.ts';

export interface TraceBatch {
  readonly events: readonly RunEvent[];
  /** By hash. */
  readonly texts: ReadonlyMap<string, string>;
  readonly call?: CallRecord;
  readonly end?: RunEnd;
}

export type RunEnd = Required<Pick<RunRow, 'state' | 'outcome' | 'state_hash'>> & { readonly ended_at: number };

export interface TraceSink {
  /** Durable when it returns. Throws TalariaError. */
  write(run_id: string, batch: TraceBatch): void;
  recorded(run_id: string, call_id: string): CallRecord | undefined;
  textOf(hash: string): string | undefined;
}
