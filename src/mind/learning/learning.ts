// Owns the contract of the learning loop (seed 001 ch 11 to 13) and what a review is.
import type { Result } from '#base/result.ts';
import type { SessionInfo } from '#core/agent/hooks.ts';
import type { CreationTrigger, NudgeCounters, NudgeIntervals } from './read-turns.ts';

/** A change that waits for the owner. */
export interface LearningOffer {
  /** `prop_…` */
  readonly id: string;
  /** One line for before the next prompt. */
  readonly line: string;
  /** The whole change, for `show`, with the words that it rests on. */
  readonly text: string;
}

/** What one asked or due review brought. */
export interface LearnedNow extends Pick<ReviewOutcome, 'kept' | 'pending' | 'refused'> {
  readonly kind: ReviewKind;
  /** Refusals by their reason code. */
  readonly reasons: Readonly<Record<string, number>>;
  /** One sentence for a person. */
  readonly line: string;
}

/** `drift`, `hash-mismatch`, `guard-refused`, …: the door's own codes come through. */
export type AcceptReason = 'no-such-proposal' | 'not-pending' | (string & {});

/**
 * Contract. Nothing here waits for a model but the flush and `learnNow`. Reviews run beside the conversation; what is not done when the
 * program ends is a row that the next start runs.
 */
export interface Learning {
  /** Lines about what was kept since the last call, each once, oldest first. */
  announcements(sessionId?: string): readonly string[];
  /** Drafts that need the owner, oldest first; the same until they are decided. */
  offers(): readonly LearningOffer[];
  /** Any pending change, also one of `pending/`. Gives one sentence about what was kept. */
  accept(
    id: string,
    options?: {
      /** New skills of reviews need no further yes. */
      readonly always?: boolean;
    },
    signal?: AbortSignal,
  ): Promise<Result<string, AcceptReason>>;
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
  /** The counters of a stored session, behind its last reviews. */
  countersOf(sessionId: string): Promise<NudgeCounters>;
  /** Orders what is due and gives the counters after it: without budget they stay, and it fires as soon as there is some. */
  nudge(sessionId: string, counters: NudgeCounters): Promise<NudgeCounters>;
  /** A turn with work has ended where rules answer: the third time the same calls are made a skill is proposed. */
  repeated(session: SessionInfo): Promise<void>;
  /** Orders a review when the session gave a reason for one. */
  sessionEnded(sessionId: string): Promise<void>;
  /** Before a compression: one call that may keep facts. A failure is a notice. */
  flush(sessionId: string, signal: AbortSignal): Promise<void>;
}

export type ReviewReason = 'memory-nudge' | 'skill-nudge' | 'session-end' | 'asked' | 'repeated' | CreationTrigger;
export type ReviewKind = 'memory' | 'skills' | 'combined';

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

/** What a finished review brought. */
export interface ReviewOutcome {
  readonly kept: number;
  readonly refused: number;
  readonly pending: number;
  /** That did not come out of a cache. */
  readonly tokens: number;
  /** US dollars; null: unknown price. */
  readonly cost: number | null;
  readonly model: string;
  /** Ids of the proposals that wait. */
  readonly drafts?: readonly string[];
  /** Reason code of each refusal. */
  readonly refusals?: readonly string[];
}

export interface Review
  extends ReviewOrder,
    Pick<ReviewOutcome, 'kept' | 'refused' | 'pending' | 'tokens' | 'cost'>,
    Partial<Pick<ReviewOutcome, 'model'>> {
  readonly id: string;
  readonly kind: ReviewKind;
  /** `due` waits; `running` is in the hands of a live process; `failed` was tried too often or became pointless. */
  readonly status: 'due' | 'running' | 'done' | 'failed';
  readonly attempts: number;
  /** Why it failed, in one sentence. */
  readonly detail?: string;
  /** Epoch ms. */
  readonly at: number;
  readonly endedAt?: number;
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

/** The section `learning` of config.yaml. */
export interface LearningSection {
  readonly enabled: boolean;
  readonly budget: { readonly hour?: number | undefined; readonly day?: number | undefined };
  readonly budget_share: number;
  readonly budget_floor: number;
}

/** Tokens; `hour` and `day` are limits in any case when they are set. */
export interface BudgetRules {
  readonly hour?: number | undefined;
  readonly day?: number | undefined;
  /** Without a limit for the day: as much of all other tokens of the day, */
  readonly share: number;
  /** and so many at least. */
  readonly floorPerDay: number;
}

export interface BudgetState {
  /** The last 60 minutes, the last 24 hours. */
  readonly hour: { readonly learning: number; readonly allowed: number };
  readonly day: { readonly learning: number; readonly allowed: number };
  readonly left: number;
}

export interface LearningReport {
  readonly budget: BudgetState;
  /** What reviews of the last 7 days kept, and all tokens of learning in that time. */
  readonly yield: {
    readonly kept: number;
    readonly tokens: number;
    /** Kept entries per 1,000 tokens; absent when nothing was spent. */
    readonly perThousand?: number;
  };
  /** As they are now, stretched by reviews that kept nothing. */
  readonly intervals: NudgeIntervals;
  readonly factor: number;
  /** Finished reviews that were looked at, and what they kept. */
  readonly reviews: { readonly finished: number; readonly kept: number; readonly due: number };
}

export interface FinishedReview {
  readonly kept: number;
  /** Epoch ms. */
  readonly endedAt: number;
}

/** What became of a draft that waited: kept or not, or it waits on under another row. */
export type DraftEnd = { readonly kept: boolean } | { readonly waitsAs: string };
