// Owns the GolemHooks seam (hierarchy notes D1, D2): seven moments of a golem's life at which its mind is called, what it is told and what it
// answers. Implemented by the mind in this process, by the one behind a socket, and by a fake; each runs test/contract/golem-hooks.contract.ts.
// Knows no store. Invariants: all of it is JSON; no member executes anything: the mind watches and feeds back, and has no way to act.
import type { JsonObject } from '#base/json.ts';
import type { DEATH_CAUSES } from '#mind/skills/format/testament.ts';
import type { Observation, Outcome } from './domains/domain.ts';
import type { GolemTier, Mood, Phase, SkillWeight } from './vitals.ts';

/** The ten events of seed 000, as they are named there. */
export type HermesEvent =
  | { readonly type: 'SkillsLoaded'; readonly count: number }
  | { readonly type: 'SkillsActivated'; readonly tick: number; readonly skills: readonly string[] }
  | { readonly type: 'SkillDrafted'; readonly tick: number; readonly trigger: string }
  | {
      readonly type: 'SkillCreated';
      readonly name: string;
      readonly tick: number;
      readonly source_episodes: readonly string[];
    }
  | { readonly type: 'SkillImproved'; readonly name: string; readonly improvement_summary: string }
  | { readonly type: 'FeedbackFlushed'; readonly count: number }
  | { readonly type: 'SkillPromoted'; readonly name: string; readonly confidence: number }
  | { readonly type: 'SkillIngested'; readonly name: string; readonly source: string; readonly confidence: number }
  | { readonly type: 'DeathSkillExport'; readonly skills_exported: number }
  | {
      readonly type: 'EvolutionCycleComplete';
      readonly skills_evolved: number;
      readonly fitness_improved: number;
      readonly duration_secs: number;
    };

/** How an event travels, on the fabric of the process and on the log of the home. `seq` rises by one in a life. */
export interface GolemEvent {
  readonly golem: string;
  readonly seq: number;
  readonly tick: number;
  /** Epoch ms. */
  readonly at: number;
  readonly event: HermesEvent;
}

const STEPS = [
  ...(['OBSERVE', 'RETRIEVE', 'ANALYZE', 'GATE', 'SIMULATE', 'VALIDATE', 'EXECUTE', 'VERIFY', 'REFLECT'] as const),
];
export type Step = (typeof STEPS)[number];

/** What was done in a tick. */
export interface ActionRecord {
  readonly tool: string;
  readonly label: string;
  readonly status: 'ok' | 'failed' | 'blocked';
  readonly has_changed: boolean;
  readonly ms: number;
  readonly block_reason?: string;
}

/** What is kept of every tick, as it is stored. */
export interface TickRecord {
  readonly tick: number;
  /** Epoch ms. */
  readonly at: number;
  readonly steps: readonly Step[];
  readonly observation: Observation;
  /** Words of the owner that it took in this tick. */
  readonly steers: readonly string[];
  /** The largest signal, and what it had to reach. */
  readonly pe: number;
  readonly threshold: number;
  /** What the gate asked. */
  readonly tier: GolemTier;
  readonly gate_reason: string;
  readonly phase: Phase;
  readonly vitality: number;
  readonly pad_before: Mood;
  readonly pad_after: Mood;
  readonly procedures: readonly Pick<Procedure, 'name' | 'version' | 'weight' | 'parts'>[];
  readonly followed?: { readonly name: string; readonly version: number };
  /** It left the steps of what it followed. */
  readonly deviated: boolean;
  readonly prediction?: Prediction;
  /** Id of the model, `rule`, or `nobody` on a tick that did not think. */
  readonly answered_by: string;
  readonly actions: readonly ActionRecord[];
  readonly outcome?: Outcome;
  readonly session?: { readonly id: string; readonly turn: number };
  readonly cost: Cost;
  /** What went wrong beside the work: a mind that did not answer, a model that failed. */
  readonly faults: readonly string[];
}

export interface Prediction {
  readonly category: string;
  readonly claim: string;
  /** Probability of success. */
  readonly p: number;
}

export type Cost = Readonly<Record<'usd' | 'tokens', number>>;

export const NO_COST: Cost = { usd: 0, tokens: 0 };

/** A skill as it is given to the one who decides. */
export interface Procedure {
  readonly name: string;
  readonly version: number;
  /** What its rank was multiplied by, and its parts. */
  readonly weight: number;
  readonly parts: SkillWeight;
  /** Share of its trigger words that the observation holds. */
  readonly relevance: number;
  readonly confidence: number;
  readonly isUsable: boolean;
  /** Labels of actions, in order. */
  readonly steps: readonly string[];
  /** Its procedure, at most about 500 tokens. */
  readonly text: string;
}

/** How one action went that a skill had named (R0.44). */
export interface Feedback {
  /** Absent: no skill had a part in it, and nothing is kept. */
  readonly skill?: { readonly name: string; readonly version: number };
  readonly tool: string;
  readonly success: boolean;
  readonly outcome_value: number | null;
  readonly tick: number;
  readonly context: string;
}

export type DeathCause = (typeof DEATH_CAUSES)[number];

export interface DreamReport {
  readonly patterns: number;
  readonly counterfactuals: number;
  readonly heuristics: number;
  /** Names of skills that came, changed, or were flagged. */
  readonly created: readonly string[];
  readonly improved: readonly string[];
  readonly flagged: readonly string[];
  readonly promoted: readonly string[];
  /** Why it did not dream. */
  readonly refused?: string;
}

export interface Reply<Value> {
  readonly value: Value;
  readonly events: readonly HermesEvent[];
  readonly cost: Cost;
}

/**
 * Contract. Calls may come at once and are worked off in order; each ends by itself. After `death` was answered every other call throws
 * TalariaError `dead-golem`; before `session` every call but it and `death` throws `not-initialised`.
 */
export interface GolemHooks {
  /** Reads the library anew; nothing of an earlier session is left. */
  session(asked: { readonly reason: 'start' | 'resume' }): Promise<Reply<{ readonly count: number }>>;
  /** At most three procedures for what is seen, by observation, mood and record. Asks no model. */
  context(asked: {
    readonly tick: number;
    readonly observation: Observation;
    readonly pad: Mood;
    readonly categories: readonly string[];
  }): Promise<Reply<{ readonly query: string; readonly procedures: readonly Procedure[] }>>;
  /** Queues it. Asks no model. */
  toolResult(asked: { readonly feedback: Feedback }): Promise<Reply<{ readonly queued: boolean }>>;
  /** After the record of the tick was committed. `thoughts`: ids of the episodes that its reasoning became. */
  afterTurn(asked: {
    readonly record: TickRecord;
  }): Promise<Reply<{ readonly drafted: boolean; readonly thoughts?: readonly number[] }>>;
  /** A session ends, the golem does not: packs what is worth 0.6. Path of the bundle; absent: nothing was worth it. */
  end(asked: Readonly<Record<string, never>>): Promise<Reply<{ readonly bundle?: string; readonly skills: number }>>;
  dreamOnset(asked: Pick<TickRecord, 'tick' | 'phase'> & { readonly budget_usd: number }): Promise<Reply<DreamReport>>;
  /** Writes the testament, signed, to disk. A second call finds the first one's. */
  death(asked: {
    readonly tick: number;
    readonly cause: DeathCause;
  }): Promise<Reply<{ readonly path: string; readonly skills: number }>>;
}

/** What the mind is to whoever loads it (seed 000: an extension of layer 2, on top of the Grimoire). */
export const MIND = { name: 'bardo-hermes', layer: 2, needs: ['bardo-grimoire'] } as const satisfies JsonObject;

export const HOOKS = ['session', 'context', 'toolResult', 'afterTurn', 'end', 'dreamOnset', 'death'] as const;
