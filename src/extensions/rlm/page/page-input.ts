// Owns what a page is drawn from, and what all its parts share. Shapes only.
import type { RunRecord } from '../trace/run-record.ts';
import type { TextBudget } from './markup/cut-text.ts';

export type RunPageInput = RunRecord;

export interface PageGround extends RunPageInput {
  /** For prompts, completions, code and outputs together. */
  readonly budget: TextBudget;
  /** Command that prints everything that is left out here. */
  readonly whole: string;
}
