// Owns what a review is: why it runs, over what, what came of it. Plain data. Knows no model and no table.
// Invariant: `kind` follows from the reasons alone, so that the prompt is the one for what fired (seed 001 ch 13).
import type { CreationTrigger } from '../counters/creation-triggers.ts';

export type ReviewReason = 'memory-nudge' | 'skill-nudge' | 'session-end' | 'asked' | 'repeated' | CreationTrigger;
export type ReviewKind = 'memory' | 'skills' | 'combined';

/** `due` waits; `running` is in the hands of a live process; `failed` was tried too often or became pointless. */
export type ReviewStatus = 'due' | 'running' | 'done' | 'failed';

export interface ReviewOrder {
  readonly sessionId: string;
  readonly reasons: readonly ReviewReason[];
  /** Id of the last message that is reviewed: counters of a resumed session start behind it. */
  readonly through: number;
  /** Words of the owner beside an asked review: what to keep, or the name of the skill. */
  readonly hint?: string;
  /** A person could answer in the session when it was ordered. */
  readonly attended?: boolean;
}

export interface Review extends ReviewOrder {
  readonly id: string;
  readonly kind: ReviewKind;
  readonly status: ReviewStatus;
  readonly attempts: number;
  readonly kept: number;
  readonly refused: number;
  readonly pending: number;
  /** Tokens that did not come out of a cache. */
  readonly tokens: number;
  /** US dollars; null: unknown price. */
  readonly cost: number | null;
  readonly model?: string;
  /** Why it failed, in one sentence. */
  readonly detail?: string;
  /** Epoch ms. */
  readonly at: number;
  readonly endedAt?: number;
}

/** What a finished review brought. */
export interface ReviewOutcome {
  readonly kept: number;
  readonly refused: number;
  readonly pending: number;
  readonly tokens: number;
  readonly cost: number | null;
  readonly model: string;
  /** Ids of the proposals that wait. */
  readonly drafts?: readonly string[];
  /** Reason code of each refusal. */
  readonly refusals?: readonly string[];
}

/** Only the memory nudge: memory. Only what concerns procedures: skills. Both nudges, a task that ended, or asked for: both. */
export function kindOf(reasons: readonly ReviewReason[]): ReviewKind {
  const has = (reason: ReviewReason) => reasons.includes(reason);
  if (has('asked') || has('session-end') || (has('memory-nudge') && has('skill-nudge'))) return 'combined';
  return has('memory-nudge') ? 'memory' : 'skills';
}

/** What may be kept at all. */
export interface Keeps {
  readonly memory: boolean;
  readonly skills: boolean;
}

/** The part of a review that may keep something; undefined when nothing may be kept. */
export function narrowKind(kind: ReviewKind, keeps: Keeps): ReviewKind | undefined {
  const memory = keeps.memory && kind !== 'skills';
  const skills = keeps.skills && kind !== 'memory';
  if (memory && skills) return 'combined';
  return memory ? 'memory' : skills ? 'skills' : undefined;
}
