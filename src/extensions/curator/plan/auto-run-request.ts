// Owns what a planning of one run is asked with (curator notes 8). Shapes only.
import type { JsonObject, JsonValue } from '#base/json.ts';
import type { EvidenceReport, EvidenceRow, SkillCounts } from '../report/evidence.ts';
import type { Instant } from '../text/time-stamp.ts';
import type { PlanningSkill } from './planned-skill.ts';
import type { Ranking } from './select-skills.ts';

/** The part of a report that planning reads. */
export type PlanningReport = Pick<EvidenceReport, 'summary' | 'skill_evidence'> & { readonly db_path?: string };

export interface AutoRunRequest {
  /** Of the whole window, for all skills. */
  readonly report: PlanningReport;
  /** Every SKILL.md that was found, with its source. */
  readonly skills: readonly PlanningSkill[];
  /** Flags as on the command line; see `readRunFlags`. */
  readonly flags: JsonObject;
  readonly now: Instant;
  /** The result of the skill search, when models were asked for. */
  readonly ranking?: Ranking | null;
  /** The drill state file's data; null: it cannot be read. */
  readonly drillState?: JsonValue;
  /** Why the drill state file cannot be read. */
  readonly drillError?: string;
  /** Reports of single skills; default: what the whole report holds of a skill. */
  readonly reports?: Readonly<Record<string, SkillReport>>;
  /** The same, asked for one skill when it is looked at. */
  readonly reportOf?: (skill: string) => SkillReport;
}

export interface SkillReport {
  readonly summary: SkillCounts;
  readonly skill_evidence: readonly EvidenceRow[];
}
