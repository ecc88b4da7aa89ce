// Owns the contract by which a surface and the composition hold the learning loop (seed 001 ch 11 to 13). Knows no surface.
// Invariant: nothing here interrupts: what learning did waits in `announcements` and `offers` until somebody asks.
import type { Result } from '#base/result.ts';
import type { Hooks } from '#core/agent/hooks.ts';
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import type { MemoryWriteNotice } from '#mind/memory/memory-provider.ts';
import type { LearningReport } from './budget/budget-desk.ts';
import type { ReviewKind } from './review/review.ts';

/** A change that waits for the owner. */
export interface LearningOffer {
  /** `prop_…` */
  readonly id: string;
  /** One line for before the next prompt. */
  readonly line: string;
  /** The whole change, for `show`, with the words that it rests on. */
  readonly text: string;
}

export interface AcceptOptions {
  /** New skills of reviews need no further yes. */
  readonly always?: boolean;
}

/** What one asked or due review brought. */
export interface LearnedNow {
  readonly kind: ReviewKind;
  readonly kept: number;
  readonly pending: number;
  readonly refused: number;
  /** Refusals by their reason code. */
  readonly reasons: Readonly<Record<string, number>>;
  /** One sentence for a person. */
  readonly line: string;
}

/** `drift`, `hash-mismatch`, `guard-refused`, …: the door's own codes come through. */
export type AcceptReason = 'no-such-proposal' | 'not-pending' | (string & {});

/**
 * Contract. `hooks` never fail a turn and never wait for a model, but for the flush before a compression. Reviews run beside the
 * conversation; what is not done when the program ends is a row that the next start runs.
 */
export interface Learning {
  readonly hooks: readonly Hooks[];
  /** For the reflex tier. */
  readonly rules: readonly ReflexRule[];
  /** Lines about what was kept since the last call, each once, oldest first. */
  announcements(sessionId?: string): readonly string[];
  /** Drafts that need the owner, oldest first; the same until they are decided. */
  offers(): readonly LearningOffer[];
  /** Any pending change, also one of `pending/`. Gives one sentence about what was kept. */
  accept(id: string, options?: AcceptOptions, signal?: AbortSignal): Promise<Result<string, AcceptReason>>;
  reject(id: string): Promise<Result<string, AcceptReason>>;
  /** The owner said `always`: new skills of reviews are kept unasked. */
  keepsNewSkills(): boolean;
  /** Gives or takes back that standing yes. */
  keepNewSkills(isKept: boolean): Promise<void>;
  /** The write that `undoLast` means now: when the owner came to know of it, and whether here or in another session. */
  undoable(sessionId?: string): { readonly at: number; readonly isHere: boolean; readonly line: string } | undefined;
  /** Takes back the last write that the owner heard of here or that the session brought, else of this home; gives one sentence. */
  undoLast(sessionId?: string): Promise<Result<string, 'nothing-to-undo' | (string & {})>>;
  /** `/learn [hint]`: a review of the session now, whatever the counters and the budget say. */
  learnNow(
    sessionId: string,
    hint: string,
    signal: AbortSignal,
  ): Promise<Result<LearnedNow, 'no-such-session' | 'nothing-to-review' | 'failed'>>;
  /** Start-up: runs what is due, under the home's lease for unattended writers; gives how many reviews ran. Never throws. */
  runDue(signal: AbortSignal): Promise<number>;
  /** Exit: waits for running reviews until the signal aborts; what is left is due at the next start. Never throws. */
  drain(signal: AbortSignal): Promise<void>;
  report(): Promise<LearningReport>;
  /** A memory write by a command of the owner, for the providers that mirror it. */
  memoryWritten(notice: MemoryWriteNotice): Promise<void>;
}
