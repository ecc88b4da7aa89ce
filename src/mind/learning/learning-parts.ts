// Owns what the learning loop is composed of. Shapes only.
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { ForkTurn } from '#core/agent/fork-turn.ts';
import type { SessionRecord, SessionStore } from '#core/agent/session-store.ts';
import type { AnyTool } from '#core/agent/tool.ts';
import type { ModelClient } from '#core/model/model-client.ts';
import type { Judge } from '#mind/evidence/judge/judge.ts';
import type { ProposalLedger } from '#mind/evidence/proposal.ts';
import type { MemoryFiles } from '#mind/memory/memory-files.ts';
import type { SkillReader } from '#mind/skills/skill.ts';
import type { SkillDoor } from '#mind/skills/skill-door.ts';
import type { BudgetRules } from './budget/learning-budget.ts';
import type { NudgeIntervals } from './counters/nudge-counters.ts';
import type { KeepWay } from './keep/keep-policy.ts';
import type { MemoryProviders } from './provider/compose-providers.ts';
import type { Keeps } from './review/review.ts';
import type { Background } from './review/review-desk.ts';

export interface LearningSettings {
  /** `learning.enabled`: reviews in the background. The flush and `/learn` do not depend on it. */
  readonly enabled: boolean;
  readonly intervals: NudgeIntervals;
  readonly budget: BudgetRules;
  /** `skills.write_approval`, for surfaces where nobody sits. */
  readonly writeApproval: KeepWay;
  /** What is kept at all; default both. What is switched off is neither reviewed nor flushed. */
  readonly keeps?: Keeps;
  /** Can a person answer in this session now? */
  readonly isAttended: (session: Pick<SessionRecord, 'id' | 'source'>) => boolean;
}

export interface LearningParts {
  readonly stores: {
    readonly sessions: SessionStore;
    /** state.db, opened with `sessionSchema`, `evidenceSchema` and `learningSchema`. */
    readonly database: Database;
    readonly ledger: ProposalLedger;
  };
  readonly memory: { readonly files: MemoryFiles; readonly providers?: MemoryProviders };
  readonly skills: {
    readonly reader: Pick<SkillReader, 'get' | 'list' | 'record'>;
    readonly door: SkillDoor;
    /** `skill_view` and `skills_list`, for reviews. */
    readonly readingTools: readonly AnyTool[];
    /** Awaited before the reader is asked. */
    readonly ready?: () => Promise<void>;
    /** Called after a skill was written. */
    readonly written?: () => Promise<void>;
  };
  readonly turn: { readonly forkTurn: ForkTurn; readonly model: () => ModelClient; readonly judge: Judge };
  /** Absolute paths: the folder of what waits, the file of the lease for unattended writers. */
  readonly places: { readonly pending: string; readonly lease: string };
  readonly settings: LearningSettings;
  readonly ground: {
    readonly clock: Clock;
    readonly background: Background;
    readonly notice: (text: string) => void;
    readonly log: (event: string, text: string) => void;
    /** Takes secrets out. */
    readonly redact?: (text: string) => string;
  };
}
