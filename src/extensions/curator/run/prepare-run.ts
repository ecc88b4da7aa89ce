// Owns gathering what one run is planned from: evidence, skills, ranking, drill state (curator notes 8.2, 8.3). Writes nothing.
// Invariant: only eligible skills are asked about; what is gathered is data, so that planning again gives the same plan.
import type { JsonObject } from '#base/json.ts';
import { eventTime } from '#mind/evidence/ledger/event-rows.ts';
import type { CuratorGround, CuratorMind } from '../curator-ground.ts';
import type { AutoRunRequest, PlanningReport, SkillReport } from '../plan/auto-run-request.ts';
import { eligibleSkills } from '../plan/select-skills.ts';
import type { EvidenceReader } from '../report/ledger-reader.ts';
import { readDrillState } from './drill/drill-state.ts';
import { currentDrillState } from './drill/known-applies.ts';
import { gatherSkills } from './gather/gather-skills.ts';
import { type RankSkills, rankEligible } from './gather/rank-eligible.ts';
import { type RunSettings, runSettings } from './run-settings.ts';

export interface PreparationParts {
  readonly ground: CuratorGround;
  readonly mind: CuratorMind;
  readonly rank?: RankSkills;
  readonly evidence: { readonly reader: EvidenceReader; readonly path: string };
}

export interface PreparedRun {
  readonly request: AutoRunRequest;
  readonly settings: RunSettings;
  /** Names of the home's skills. */
  readonly names: readonly string[];
  /** What closes the gate for all skills, each a sentence. */
  readonly notes: readonly string[];
}

export async function prepareRun(
  parts: PreparationParts,
  flags: JsonObject,
  signal: AbortSignal,
): Promise<PreparedRun> {
  const { ground, mind, evidence } = parts;
  const { flags: read, isLocal } = runSettings(ground, flags);
  const now = ground.clock.now();
  const { report, reportOf } = planningEvidence(evidence.reader, {
    dbPath: evidence.path,
    days: read.limits.days,
    now,
  });
  const wanted = new Set(eligibleSkills(report, read, false).map(({ skill_name: name }) => name));
  const { skillsDir } = read.places;
  const { skills, origins } = await gatherSkills({ ground, mind }, { skillsDir, isLocal, wanted }, signal);
  const settings = runSettings(ground, flags, {
    db_path: evidence.path,
    external_dirs: mind.externalSkills,
    bundled_skill_count: origins.bundledCount,
    hub_installed_skill_count: origins.hubCount,
  });
  const names = mind.skills.list().map(({ name }) => name);
  const ranking = await rankEligible(parts.rank, { report, skills, flags: settings.flags }, signal);
  const drill = drillStateOf(parts, settings.flags.checks.drillStatePath, names);
  const request = { report, skills, flags: settings.given, now, ranking, reportOf: kept(reportOf), ...drill };
  return { request, settings, names, notes: origins.unreadable.map(unreadableNote) };
}

function unreadableNote(path: string): string {
  return `${path} cannot be read, so no skill counts as made by the agent (source-not-agent-created); mend or remove it.`;
}

function drillStateOf(
  { ground, mind }: Pick<PreparationParts, 'ground' | 'mind'>,
  path: string,
  skills: readonly string[],
): Pick<AutoRunRequest, 'drillState' | 'drillError'> {
  const read = readDrillState(path);
  if (!read.ok) return { drillState: null, drillError: read.detail };
  const { skillBackups: backups } = ground.places;
  return { drillState: currentDrillState({ state: read.value, door: mind.door, skills, backups }) };
}

/** Each skill is asked about once. */
function kept(reportOf: (skill: string) => SkillReport): (skill: string) => SkillReport {
  const reports = new Map<string, SkillReport>();
  return (skill) => {
    const report = reports.get(skill) ?? reportOf(skill);
    reports.set(skill, report);
    return report;
  };
}

interface PlanningEvidence {
  readonly report: PlanningReport;
  readonly reportOf: (skill: string) => SkillReport;
}

const DAY_MS = 86_400_000;
const MOST_ROWS = 20;
const ALL = 1_000_000;

export function planningEvidence(
  reader: EvidenceReader,
  { dbPath, days, now }: { readonly dbPath: string; readonly days: number; readonly now: number },
): PlanningEvidence {
  const since = eventTime(now - days * DAY_MS);
  const whole = { since, skill: null };
  return {
    report: { db_path: dbPath, summary: reader.summary(whole, ALL), skill_evidence: reader.evidence(whole, MOST_ROWS) },
    reportOf: (skill) => {
      const window = { since, skill };
      return { summary: reader.summary(window, 1), skill_evidence: reader.failures(window) };
    },
  };
}
