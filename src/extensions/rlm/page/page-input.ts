// Owns what a page is drawn from, and what all its parts share. Shapes only.
import type { CallRecord } from '../call/call-record.ts';
import type { RunEvent } from '../trace/run-event.ts';
import type { RunRow } from '../trace/run-row.ts';
import type { TextBudget } from './markup/cut-text.ts';

export interface RunPageInput {
  readonly row: RunRow;
  readonly events: readonly RunEvent[];
  readonly calls: readonly CallRecord[];
  /** Texts that the trace kept, by hash. */
  readonly textOf: (hash: string) => string | undefined;
}

export interface PageGround extends RunPageInput {
  /** For prompts, completions, code and outputs together. */
  readonly budget: TextBudget;
  /** Command that prints everything that is left out here. */
  readonly whole: string;
}
