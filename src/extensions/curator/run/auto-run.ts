// Owns one unattended run from evidence to written skills (seed 002, current autorun algorithm; curator notes 8): gathering what it is planned
// from, the models' order, the plan, the writing. The schedule, the timer and the command call the same. Knows no surface and no model.
// Invariants: a dry run writes nothing and takes no lease; writing needs both flags and the home's lease; only eligible skills are asked about
// and shown to a model, and whatever fails there, the run goes on in the order of the evidence and says why.

import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { throwIfAborted } from '#base/abort.ts';
import type { Database } from '#base/database/connection.ts';
import { errorText, known } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { plural } from '#base/text.ts';
import type { Ground, Mind } from '#core/agent/room.ts';
import { eventTime } from '#mind/evidence/ledger/event-rows.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { withUnattendedLease } from '#mind/learning/reviews.ts';
import { locateBlock, withoutBlock } from '#mind/skills/format/skill-text.ts';
import type { Verifier } from '#mind/skills/skill.ts';
import { ensureEvidence } from '../backfill/ensure-evidence.ts';
import { prunableReferences } from '../block/managed-block.ts';
import type { PreparedUpdate } from '../block/prepare-update.ts';
import { DAY_MS, type EvidenceReader, ledgerReader } from '../report.ts';
import type { RankRequest } from '../skill-search.ts';
import { installedTimer } from '../timer-plan.ts';
import { currentDrillState, readDrillState } from './drill.ts';
import { gatherSkills, refusedSkill } from './gather-skills.ts';
import {
  type AutoRunRequest,
  eligibleSkills,
  type PlannedWrite,
  type PlanningReport,
  planWrites,
  type Ranking,
  semanticQuery,
  wantsModels,
} from './plan-auto-run.ts';
import { type SkillReport, skipped } from './plan-entry.ts';
import { type RunFlags, runSettings } from './run-flags.ts';
import { type AppliedEntry, type AutoRun, GATES, withOutcomes } from './run-outcome.ts';
import { verifiersOf, type WriteParts, writeSkill } from './write-skill.ts';

type RankEligible = (request: RankRequest, signal: AbortSignal) => Promise<Ranking>;

export interface AutoRunParts {
  readonly ground: Ground;
  readonly mind: Mind;
  /** What orders skills by models when a flag asks for it; absent: the order of the evidence, and the result says so. */
  readonly rank?: RankEligible;
}

/**
 * `flags`: as on the command line, in any of the three spellings of `readRunFlags`; paths may be relative to the home. Refused: another
 * unattended writer of this home is at work, nothing was looked at; or a newer Talaria's home.
 */
export async function runAutoRun(
  parts: AutoRunParts,
  flags: JsonObject,
  signal: AbortSignal,
): Promise<Result<AutoRun, 'lease-held' | 'home-newer'>> {
  const { ground, mind } = parts;
  const told = await ensureEvidence({ mind, places: ground.places, clock: ground.clock }, signal);
  const work = async (run: typeof dryRun | typeof writingRun) => {
    const prepared = await prepareRun(parts, flags, signal);
    return bounded(await run(parts, prepared, signal), [...(told === undefined ? [] : [told]), ...prepared.notes]);
  };
  if (!runSettings(ground, flags).writes) return ok(await work(dryRun));
  if (mind.state.readOnly)
    return refuse('home-newer', 'This home was written by a newer Talaria; update this one first.');
  return withUnattendedLease(ground.places.lease, () => work(writingRun), ground.clock);
}

type PreparedRun = Awaited<ReturnType<typeof prepareRun>>;

/** What is gathered is data, so that planning again gives the same plan. `notes`: what closes the gate for all. */
async function prepareRun({ ground, mind, rank }: AutoRunParts, flags: JsonObject, signal: AbortSignal) {
  const { flags: read, isLocal } = runSettings(ground, flags);
  const now = ground.clock.now();
  const database = mind.evidence();
  const { report, reportOf } = planningEvidence(ledgerReader(database), database.path, read.limits.days, now);
  const wanted = new Set(eligibleSkills(report, read).map(({ skill_name: name }) => name));
  const { skillsDir } = read.places;
  const { skills, origins } = await gatherSkills(ground, mind, { skillsDir, isLocal, wanted }, signal);
  const settings = runSettings(ground, flags, {
    db_path: database.path,
    external_dirs: mind.externalSkills,
    bundled_skill_count: origins.bundledCount,
    hub_installed_skill_count: origins.hubCount,
  });
  const ranking = await rankEligible(rank, { report, skills, flags: settings.flags }, signal);
  const state = readDrillState(settings.flags.checks.drillStatePath);
  const { skillBackups } = ground.places;
  const drill = state.ok
    ? { drillState: currentDrillState(state.value, mind.door, mind.skills.list(), skillBackups) }
    : { drillState: null, drillError: state.detail };
  const request: AutoRunRequest = { report, skills, flags: settings.given, now, ranking, reportOf, ...drill };
  const notes = origins.unreadable.map(
    (path) =>
      `${path} cannot be read, so no skill counts as made by the agent (source-not-agent-created); mend or remove it.`,
  );
  return { request, settings, notes };
}

const MOST_ROWS = 20;
const ALL = 1_000_000;

/** The report of the window, and of each skill that is asked about, once. `days`, `now` (epoch ms): the window. */
export function planningEvidence(reader: EvidenceReader, dbPath: string, days: number, now: number) {
  const since = eventTime(now - days * DAY_MS);
  const whole = { since, skill: null };
  const reports = new Map<string, SkillReport>();
  const report: PlanningReport = {
    ...{ db_path: dbPath, summary: reader.summary(whole, ALL), skill_evidence: reader.evidence(whole, MOST_ROWS) },
  };
  const reportOf = (skill: string): SkillReport => {
    const window = { since, skill };
    const known = reports.get(skill) ?? {
      ...{ summary: reader.summary(window, 1), skill_evidence: reader.failures(window) },
    };
    reports.set(skill, known);
    return known;
  };
  return { report, reportOf };
}

/** null: no model was asked for, or there is nothing to rank. */
async function rankEligible(
  rank: RankEligible | undefined,
  { report, skills, flags }: Pick<AutoRunRequest, 'report' | 'skills'> & { readonly flags: RunFlags },
  signal: AbortSignal,
): Promise<Ranking | null> {
  if (rank === undefined || !wantsModels(flags.order)) return null;
  const eligible = eligibleSkills(report, flags);
  const names = new Set(eligible.map(({ skill_name: name }) => name));
  const asked = skills
    .filter(({ name, refusal }) => names.has(name) && !refusal)
    .map(({ name, path, text }) => ({ name, path, text: withoutBlock(text) }));
  if (asked.length === 0) return null;
  const query = semanticQuery(report, eligible);
  try {
    const { rerank } = flags.order;
    return { ...(await rank({ query, skills: asked, rerank, limit: asked.length }, signal)), query };
  } catch (error) {
    if (signal.aborted) throw error;
    return { mode: 'semantic-unavailable', model_executed: false, candidates: [], query, error: errorText(error) };
  }
}

/** With the apply flag alone each planned entry says what it would have needed. */
function dryRun(_parts: AutoRunParts, { request, settings }: PreparedRun): AutoRun {
  const { plan, writes } = planWrites(request);
  if (!settings.flags.policy.apply) return withOutcomes(plan, new Map());
  const refused = { applied: false, reason: 'auto-approval-required' };
  const outcomes = writes.map(({ entry }) => [entry.skill_name, { ...entry, apply_result: refused }] as const);
  return withOutcomes(plan, new Map(outcomes));
}

async function writingRun(
  { ground, mind }: AutoRunParts,
  { request, settings }: PreparedRun,
  signal: AbortSignal,
): Promise<AutoRun> {
  const { checks, places } = settings.flags;
  const parts = { ground, mind, backupDir: places.backupDir, drillStatePath: checks.drillStatePath };
  const verifiers = await verifiersOf(checks.preVerify, checks.verify, { cwd: checks.verifyCwd, ground, signal });
  const done = await writePass({ ...parts, verifiers }, withoutWaiting(request, mind.state), signal);
  if (done.summary.applied > 0) await mind.skills.refresh(signal);
  return done;
}

const MOST_MISSING = 500;

function bounded(run: AutoRun, notes: readonly string[]): AutoRun {
  const missing = run.candidates.filter(({ reason }) => reason === 'skill-file-not-found');
  const cut = new Set(missing.slice(MOST_MISSING));
  const said = cut.size === 0 ? notes : [...notes, `left out: ${plural(cut.size, 'more skill')} without a SKILL.md`];
  if (said.length === 0) return run;
  return { ...run, candidates: run.candidates.filter((entry) => !cut.has(entry)), notes: said };
}

const MOST_PENDING = 1_000;

/** The request with those skills refused as the guard refused them. */
function withoutWaiting(request: AutoRunRequest, state: Database): AutoRunRequest {
  const pending = createProposalLedger({ database: state }).list({
    ...{ status: 'pending', kind: 'skill', actor: 'curator', limit: MOST_PENDING },
  });
  const names = new Set(pending.map(({ target }) => target));
  if (names.size === 0) return request;
  const skills = request.skills.map((skill) => (names.has(skill.name) ? refusedSkill(skill, 'guard-asks') : skill));
  return { ...request, skills };
}

type PassParts = WriteParts & { readonly verifiers: readonly Verifier[] };

/** As many as the most that one run may plan. */
const MOST_TRIES = 25;

async function writePass(parts: PassParts, first: AutoRunRequest, signal: AbortSignal): Promise<AutoRun> {
  const outcomes = new Map<string, AppliedEntry>();
  let request = first;
  for (;;) {
    const { plan, writes } = planWrites(request);
    const due = writes.filter(({ entry }) => !outcomes.has(entry.skill_name)).slice(0, MOST_TRIES - outcomes.size);
    for (const write of due) {
      throwIfAborted(signal);
      outcomes.set(write.entry.skill_name, await writeOne(parts, write, signal));
    }
    const isRefused = due.some(({ entry }) => outcomes.get(entry.skill_name)?.status === 'skipped');
    if (!isRefused || outcomes.size >= MOST_TRIES) return withOutcomes(plan, outcomes);
    const skills = first.skills.map((skill) => {
      const outcome = outcomes.get(skill.name);
      return outcome?.status === 'skipped' ? refusedSkill(skill, outcome.reason ?? '') : skill;
    });
    request = { ...first, skills };
  }
}

async function writeOne(parts: PassParts, { entry, update }: PlannedWrite, signal: AbortSignal): Promise<AppliedEntry> {
  const { skill_name: name, target_path: target } = entry;
  if (target === null || entry.current_sha256 === undefined) throw new TypeError('a planned entry has a file');
  const pruned = staleReferences(target, name, update);
  const files = [
    ...update.supportFiles.map(({ path, text }) => ({ path, content: text })),
    ...pruned.map((path) => ({ path, content: null })),
  ];
  const { ground, mind, verifiers } = parts;
  const scheduler = installedTimer(ground);
  const request = {
    ...{ name, approved: true, expectedHash: entry.current_sha256, verifiers },
    actor: 'curator',
    change: { action: 'edit', content: update.content, files },
    trail: { evidencePath: mind.evidence().path, scheduler, source: entry.source },
  } as const;
  const result = await writeSkill(parts, request, target, signal);
  if (result.applied)
    return { ...entry, status: 'applied', apply_result: pruned.length ? { ...result, pruned_files: pruned } : result };
  const reason = result.reason === 'read-only' && mind.skills.record(name)?.pinned ? 'pinned-skill' : result.reason;
  const told = { ...result, reason };
  return { ...(GATES.has(reason) ? skipped(entry, reason) : entry), apply_result: told };
}

/** Paths below the skill's folder, oldest first; nothing when no new file comes and the block stays. */
function staleReferences(target: string, skill: string, update: PreparedUpdate): readonly string[] {
  const [current] = update.supportFiles;
  if (current === undefined && locateBlock(update.content).state !== 'none') return [];
  return prunableReferences(referencesIn(dirname(target)), skill, current?.path);
}

function referencesIn(folder: string): readonly string[] {
  const entries = known(() => readdirSync(join(folder, 'references'), { withFileTypes: true })) ?? [];
  return entries.filter((entry) => entry.isFile()).map(({ name }) => `references/${name}`);
}
