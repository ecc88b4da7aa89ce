// Owns what came of one node, as its parent and the outcome see it. Shapes only.
import type { Validation } from '../../guard/parent-claim.ts';
import type { RepairBlock } from '../../repair/repair-block.ts';
import type { FreshFact, RunGap } from '../run-outcome.ts';

export interface NodeResult {
  readonly node_id: string;
  /** Of the call whose reply was taken, else of the last one; null: it was not asked. */
  readonly call_id: string | null;
  /** `done`: its reply was taken; `failed`: none could be; `unasked`: a budget or a stop came first; `empty`: nothing to put together. */
  readonly status: 'done' | 'failed' | 'unasked' | 'empty';
  /** Evidence for the level above. */
  readonly facts: readonly FreshFact[];
  readonly summary: string;
  readonly verdict: string | null;
  readonly confidence: number | null;
  readonly gaps: readonly RunGap[];
  /** Of a synthesis. */
  readonly judged?: JudgedSynthesis;
}

export interface JudgedSynthesis {
  readonly validation: Validation;
  readonly repair: RepairBlock;
  /** What the form of the reply lacked; empty: it kept to the contract. */
  readonly problems: readonly string[];
}
