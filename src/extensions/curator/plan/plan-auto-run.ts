// Owns planning one unattended run (seed 002, current autorun algorithm; curator notes 8). Pure: report, skills, ranking and drill state
// come in as data, nothing is written. Invariant of ours: a skipped or protected skill takes no slot from one that can be written, and the
// order of the input changes nothing; the original slices first.

import { comparePoints } from '#base/text/code-points.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-preview.ts';
import type { PreparedUpdate } from '../block/prepare-update.ts';
import { type DrillGate, drillGate } from '../verify/drill-gate.ts';
import type { AutoRunRequest } from './auto-run-request.ts';
import { type AutoRunPlan, describePlan } from './describe-plan.ts';
import { planEntries } from './plan-entries.ts';
import type { PlanEntry, PlanningSkill } from './planned-skill.ts';
import { readRunFlags } from './run-flags.ts';
import { describeSelection, eligibleSkills, orderSkills, semanticQuery, wantsModels } from './select-skills.ts';

/** One entry with the text that it would write. */
export interface PlannedWrite {
  readonly entry: PlanEntry;
  readonly update: PreparedUpdate;
}

const UPSTREAM_HOME = '~/.hermes';
const OUR_HOME = '~/.talaria';

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
  const upstream = options.compat === 'upstream';
  const flags = readRunFlags(request.flags, upstream ? UPSTREAM_HOME : OUR_HOME);
  const skills = localSkills(request.skills);
  const eligible = eligibleSkills(request.report, flags, upstream);
  const ranking = wantsModels(flags.order) && skills.size > 0 ? (request.ranking ?? null) : null;
  const gate = gateOf(request, flags.checks, options);
  const planned = planEntries({ request, flags, skills, gate, order: orderSkills(eligible, ranking) }, options);
  const query = wantsModels(flags.order) ? semanticQuery(request.report, eligible) : '';
  const selection = describeSelection({
    order: flags.order,
    eligible,
    ranking,
    query,
    hasSkillFiles: skills.size > 0,
  });
  const entries = planned.map(({ entry }) => entry);
  return {
    plan: describePlan({ flags, gate, selection, entries, dbPath: request.report.db_path ?? null }),
    writes: planned.flatMap(({ entry, update }) =>
      entry.status === 'planned' && update !== null ? [{ entry, update }] : [],
    ),
  };
}

function gateOf(
  { drillState: state, drillError: stateError }: AutoRunRequest,
  { drillStatePath, requireDrill }: { readonly drillStatePath: string; readonly requireDrill: boolean },
  options: CompatOptions,
): DrillGate {
  const known = { ...(state === undefined ? {} : { state }), ...(stateError === undefined ? {} : { stateError }) };
  return drillGate({ statePath: drillStatePath, require: requireDrill, ...known }, options);
}

const NOT_SKILLS = new Set(['.archive', '.curator_backups', '.hub']);

function localSkills(found: readonly PlanningSkill[]): ReadonlyMap<string, PlanningSkill> {
  const split = found.map((skill) => ({ skill, parts: skill.path.split(/[\\/]/) }));
  const live = split.filter(({ parts }) => !parts.some((part) => NOT_SKILLS.has(part)));
  live.sort((a, b) => compareParts(a.parts, b.parts) || comparePoints(a.skill.text, b.skill.text));
  return new Map(live.map(({ skill }) => [skill.name, skill]));
}

/** Folder by folder, as paths compare in the original's language. */
function compareParts(a: readonly string[], b: readonly string[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const order = comparePoints(a[at] ?? '', b[at] ?? '');
    if (order !== 0) return order;
  }
  return a.length - b.length;
}
