// Owns planning one unattended run: the checks of each skill in their order, and who gets a slot (seed 002, current autorun algorithm; curator notes
// 8).
import type { JsonObject, JsonValue } from '#base/json.ts';
import { comparePoints, firstPoints } from '#base/text/code-points.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-value.ts';
import type { PreparedUpdate } from '../block/prepare-update.ts';
import { parseSkillHeader } from '../block/skill-source.ts';
import type { EvidenceReport, SkillTally } from '../report.ts';
import { NO_MODELS, type SearchResult, searchModels } from '../skill-search.ts';
import type { Instant } from '../text.ts';
import { type DrillGate, drillGate, gateAfterApply } from './drill.ts';
import {
  type AutoRunPlan,
  describePlan,
  leadOf,
  type PlanEntry,
  type PlanningSkill,
  prepareEntry,
  type SelectedSkill,
  type Selection,
  type SkillReport,
  skipped,
} from './plan-entry.ts';
import { policyReason, type RunFlags, readRunFlags } from './run-flags.ts';

export type PlanningReport = Pick<EvidenceReport, 'summary' | 'skill_evidence'> & { readonly db_path?: string };

export interface AutoRunRequest {
  /** Of the whole window, for all skills. */
  readonly report: PlanningReport;
  readonly skills: readonly PlanningSkill[];
  /** Flags as on the command line; see `readRunFlags`. */
  readonly flags: JsonObject;
  readonly now: Instant;
  /** The result of the skill search, when models were asked for. */
  readonly ranking?: Ranking | null;
  /** The drill state file's data; null: it cannot be read. */
  readonly drillState?: JsonValue;
  readonly drillError?: string;
  /** Reports of single skills; default: what the whole report holds of a skill. */
  readonly reports?: Readonly<Record<string, SkillReport>>;
  /** The same, asked for one skill when it is looked at. */
  readonly reportOf?: (skill: string) => SkillReport;
}

/** An entry with the text that it would write; null when it was refused before its text was looked at. */
interface Planned {
  readonly entry: PlanEntry;
  readonly update: PreparedUpdate | null;
}

export type PlannedWrite = Planned & { readonly update: PreparedUpdate };

/**
 * Plans one unattended run (seed 002, current autorun algorithm; notes 8). In: the `report` of the window, every `skill` found with its
 * text and source, `flags` as on the command line (clamped, not refused) and `now`; a model's ranking, the drill state and reports of
 * single skills if there are any. Out: the object of notes 8.5 (schema 0.8) without what an apply adds; sizes are code points. Writes
 * nothing. Ours gives slots to skills that can be written first, and plans none whose block would not change; the original slices first.
 * @throws TypeError when `now` is no instant.
 */
export function planAutoRun(request: AutoRunRequest, options: CompatOptions = {}): AutoRunPlan {
  return planWrites(request, options).plan;
}

/** The plan with the texts of its planned entries, in their order: what the run goes on with. */
export function planWrites(
  request: AutoRunRequest,
  options: CompatOptions = {},
): { readonly plan: AutoRunPlan; readonly writes: readonly PlannedWrite[] } {
  const { report, drillState: state, drillError: stateError } = request;
  const upstream = options.compat === 'upstream';
  const flags = readRunFlags(request.flags, upstream ? '~/.hermes' : '~/.talaria');
  const { order, checks } = flags;
  const skills = localSkills(request.skills);
  const eligible = eligibleSkills(report, flags, upstream);
  const ranking = wantsModels(order) && skills.size > 0 ? (request.ranking ?? null) : null;
  const gate = drillGate(
    { statePath: checks.drillStatePath, require: checks.requireDrill, state, stateError },
    options,
  );
  const planned = planEntries(orderSkills(eligible, ranking), { request, flags, skills, gate }, options);
  const query = wantsModels(order) ? semanticQuery(report, eligible) : '';
  const selection = describeSelection(order, eligible, ranking, { query, hasSkillFiles: skills.size > 0 });
  const entries = planned.map(({ entry }) => entry);
  return {
    plan: describePlan(flags, gate, { selection, dbPath: report.db_path ?? null }, entries),
    writes: planned.filter((one): one is PlannedWrite => one.entry.status === 'planned' && one.update !== null),
  };
}

const NOT_SKILLS = new Set(['.archive', '.curator_backups', '.hub']);

/** By name; of two the later path wins, compared folder by folder as in the original's language. */
function localSkills(found: readonly PlanningSkill[]): ReadonlyMap<string, PlanningSkill> {
  const split = found.map((skill) => ({ skill, parts: skill.path.split(/[\\/]/) }));
  const live = split
    .filter(({ parts }) => !parts.some((part) => NOT_SKILLS.has(part)))
    .map(({ skill, parts }) => ({ skill, order: parts.join('\0') }))
    .sort((a, b) => comparePoints(a.order, b.order) || comparePoints(a.skill.text, b.skill.text));
  return new Map(live.map(({ skill }) => [skill.name, skill]));
}

interface Known {
  readonly request: AutoRunRequest;
  readonly flags: RunFlags;
  readonly skills: ReadonlyMap<string, PlanningSkill>;
  readonly gate: DrillGate;
}

function planEntries(order: readonly SelectedSkill[], known: Known, options: CompatOptions): readonly Planned[] {
  const lookAt = skillLooker(known, options);
  const { maxSkills } = known.flags.limits;
  if (options.compat === 'upstream') return order.slice(0, maxSkills).flatMap((selected) => lookAt(selected) ?? []);
  const kept = new Map<SelectedSkill, Planned>();
  let slots = maxSkills;
  const fill = (from: readonly SelectedSkill[], isFirst: boolean): readonly SelectedSkill[] => {
    const passed: SelectedSkill[] = [];
    for (const selected of from) {
      if (slots === 0) break;
      const planned = lookAt(selected, isFirst);
      if (planned === undefined) passed.push(selected);
      else kept.set(selected, planned);
      if (planned?.entry.status === 'planned') slots -= 1;
    }
    return passed;
  };
  fill(fill(order, true), false);
  return order.flatMap((selected) => kept.get(selected) ?? []);
}

/** Lives for one plan: after one write the drill gate closes for the rest. `passesProtected`: those come later, and give nothing. */
function skillLooker({ request, flags, skills, gate: first }: Known, options: CompatOptions) {
  const { policy, limits } = flags;
  const writing = policy.apply && policy.approve;
  let gate = first;
  const refusalOf = (skill: PlanningSkill): string | null => {
    if (skill.refusal) return skill.refusal;
    if (parseSkillHeader(skill.text, options)?.pinned === true) return 'pinned-skill';
    return writing ? policyReason(skill.name, skill.source, policy) : null;
  };
  return (selected: SelectedSkill, passesProtected = false): Planned | undefined => {
    const skill = skills.get(selected.tally.skill_name);
    const lead = leadOf(selected, skill);
    if (skill === undefined) return { entry: skipped(lead, 'skill-file-not-found'), update: null };
    const refusal = refusalOf(skill);
    if (refusal !== null) return { entry: skipped(lead, refusal), update: null };
    if (passesProtected && policyReason(skill.name, skill.source, policy) !== null) return undefined;
    const asked = { ...limits, now: request.now, report: reportOn(request, selected) };
    const prepared = prepareEntry(lead, skill, asked, options);
    if (prepared.entry.status === 'skipped' || !writing || !gate.require) return prepared;
    if (!gate.allowed) return { ...prepared, entry: skipped(prepared.entry, 'restore-drill-required', gate) };
    gate = gateAfterApply(gate);
    return prepared;
  };
}

/** A report for one skill counts the same rows as the skill's line in the whole report. */
function reportOn({ reports = {}, reportOf, report }: AutoRunRequest, { tally }: SelectedSkill): SkillReport {
  const { skill_name: name, event_count, errors = 0 } = tally;
  const given = (Object.hasOwn(reports, name) ? reports[name] : undefined) ?? reportOf?.(name);
  if (given !== undefined) return given;
  return {
    summary: { tool_events: event_count, skill_events: event_count, error_events: errors },
    skill_evidence: (report.skill_evidence ?? []).filter((row) => row.skill_name === name),
  };
}

/** What the search of section 6 gave; `query` as it was asked. */
export type Ranking = Pick<SearchResult, 'model_executed' | 'candidates'> &
  Partial<Pick<SearchResult, 'reranker_executed' | 'models' | 'query' | 'error'>> & { readonly mode: string };

const EVIDENCE_ORDER = 'deterministic-evidence';
const QUERY_PREVIEW = 500;

/** Ours in the order of the counts, then of the names; the original's as the report has them. */
export function eligibleSkills(
  report: Pick<EvidenceReport, 'summary'>,
  { limits }: RunFlags,
  upstream = false,
): readonly SkillTally[] {
  const rows = (report.summary.skills ?? []).filter((row) => row.event_count >= limits.minEvidence);
  if (upstream) return rows;
  const sorted = [...rows].sort(
    (a, b) => b.event_count - a.event_count || comparePoints(a.skill_name, b.skill_name) || b.errors - a.errors,
  );
  const first = new Map([...sorted].reverse().map((row) => [row.skill_name, row]));
  return sorted.filter((row) => first.get(row.skill_name) === row);
}

/** One line for each eligible skill, one for each recent evidence row of one. */
export function semanticQuery(report: Pick<EvidenceReport, 'skill_evidence'>, eligible: readonly SkillTally[]): string {
  const names = new Set(eligible.map((row) => row.skill_name));
  const rows = (report.skill_evidence ?? []).filter((row) => row.skill_name !== null && names.has(row.skill_name));
  return [
    ...eligible.map((row) => `${row.skill_name}: ${row.event_count} events, ${row.errors} errors`),
    ...rows.map((row) => `${row.skill_name} ${row.tool_name}: ${row.result_preview}`),
  ].join('\n');
}

export function orderSkills(eligible: readonly SkillTally[], ranking: Ranking | null): readonly SelectedSkill[] {
  const byName = new Map(eligible.map((tally) => [tally.skill_name, tally]));
  const chosen = new Map<string, SelectedSkill>();
  for (const ranked of ranking?.model_executed ? ranking.candidates : []) {
    const { skill_name: name, score, reasons, embedding_score: embedded } = ranked;
    const tally = byName.get(name);
    if (tally === undefined || chosen.has(name)) continue;
    chosen.set(name, {
      tally,
      selection: { source: ranking?.mode ?? '', score, reasons: reasons ?? [], embedding_score: embedded ?? null },
    });
  }
  const rest = eligible.filter((tally) => !chosen.has(tally.skill_name));
  const byEvidence = ({ event_count: score }: SkillTally) => ({
    ...{ source: 'evidence-threshold', score, reasons: [`events:${score}`] },
  });
  return [...chosen.values(), ...rest.map((tally) => ({ tally, selection: byEvidence(tally) }))];
}

export function wantsModels({ semantic, rerank }: RunFlags['order']): boolean {
  return semantic || rerank;
}

const NO_RANKING: Ranking = {
  ...{ mode: 'semantic-unavailable', model_executed: false, candidates: [], error: 'no ranking was given' },
};

/** `query`: for the models, if any are wanted. */
function describeSelection(
  order: RunFlags['order'],
  eligible: readonly SkillTally[],
  ranking: Ranking | null,
  { query, hasSkillFiles }: { readonly query: string; readonly hasSkillFiles: boolean },
): Selection {
  const common = {
    semantic_requested: wantsModels(order),
    rerank_requested: order.rerank,
    eligible_skill_count: eligible.length,
  };
  if (!wantsModels(order)) return { mode: EVIDENCE_ORDER, ...common, models: NO_MODELS };
  const models = searchModels(order.rerank);
  if (!hasSkillFiles) return { mode: 'semantic-no-skill-files', ...common, models };
  const ran = ranking ?? NO_RANKING;
  return {
    mode: ran.mode,
    ...common,
    models: ran.models ?? models,
    model_executed: ran.model_executed,
    reranker_executed: ran.reranker_executed ?? false,
    query_preview: firstPoints(ran.query ?? query, QUERY_PREVIEW),
    ...(ran.error === undefined ? {} : { error: ran.error }),
    ...(ran.model_executed ? {} : { fallback: EVIDENCE_ORDER }),
  };
}
