// Owns one unattended run from evidence to written skills (seed 002, current autorun algorithm; curator notes 8). An in-process schedule,
// the timer and the command call the same. Knows no surface. Invariants: a dry run writes nothing and takes no lease; writing needs both
// flags and the home's lease; a skill that the door refuses gives its slot to the next one.

import type { Database } from '#base/database/connection.ts';
import type { JsonObject } from '#base/json.ts';
import { ok, refuse } from '#base/result.ts';
import { plural } from '#base/text.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { withUnattendedLease } from '#mind/learning/review/unattended-lease.ts';
import type { CuratorGround, CuratorMind } from '../curator-ground.ts';
import type { AutoRunRequest } from '../plan/auto-run-request.ts';
import { planWrites } from '../plan/plan-auto-run.ts';
import { type EvidenceReader, ledgerReader } from '../report/ledger-reader.ts';
import { installedTimer } from '../timer/timer-places.ts';
import { refusedSkill } from './gather/gather-skills.ts';
import type { RankSkills } from './gather/rank-eligible.ts';
import { type PreparationParts, type PreparedRun, prepareRun } from './prepare-run.ts';
import { type AutoRun, type AutoRunResult, withOutcomes } from './run-outcome.ts';
import { runSettings } from './run-settings.ts';
import { verifiersOf } from './write/run-verifiers.ts';
import { writePass } from './write/write-pass.ts';

export interface AutoRunParts {
  readonly ground: CuratorGround;
  readonly mind: CuratorMind;
  /** What orders skills by models when a flag asks for it; absent: the order of the evidence, and the result says so. */
  readonly rank?: RankSkills;
  /** Default: evidence.sqlite of the home. */
  readonly evidence?: { readonly reader: EvidenceReader; readonly path: string };
}

/** `flags`: as on the command line, in any of the three spellings of `readRunFlags`; paths may be relative to the home. */
export async function runAutoRun(parts: AutoRunParts, flags: JsonObject, signal: AbortSignal): Promise<AutoRunResult> {
  const { ground, mind } = parts;
  const evidence: ToldEvidence = parts.evidence ?? (await ownEvidence(parts, signal));
  const prepared: PreparationParts = { ...parts, evidence };
  const told = evidence.told === undefined ? [] : [evidence.told];
  if (!runSettings(ground, flags).writes) {
    const preparation = await prepareRun(prepared, flags, signal);
    return ok(boundedRun(dryRun(preparation), [...told, ...preparation.notes]));
  }
  if (mind.state.readOnly)
    return refuse('home-newer', 'This home was written by a newer Talaria; update this one first.');
  const work = async () => {
    const preparation = await prepareRun(prepared, flags, signal);
    return boundedRun(await writingRun(prepared, preparation, signal), [...told, ...preparation.notes]);
  };
  return withUnattendedLease(ground.places.lease, work, ground.clock);
}

type ToldEvidence = PreparationParts['evidence'] & { readonly told?: string };

/** An empty ledger is filled from the stored sessions first. */
async function ownEvidence(
  { ground, mind }: Pick<AutoRunParts, 'ground' | 'mind'>,
  signal: AbortSignal,
): Promise<ToldEvidence> {
  const { ensureEvidence } = await import('../backfill/ensure-evidence.ts');
  const told = await ensureEvidence({ mind, places: ground.places, clock: ground.clock, redact: mind.redact }, signal);
  const database = mind.evidence();
  return { reader: ledgerReader(database), path: database.path, ...(told === undefined ? {} : { told }) };
}

/** With the apply flag alone each planned entry says what it would have needed. */
function dryRun({ request, settings }: PreparedRun): AutoRun {
  const { plan, writes } = planWrites(request);
  if (!settings.flags.policy.apply) return withOutcomes(plan, new Map());
  const refused = { applied: false, reason: 'auto-approval-required' };
  return withOutcomes(
    plan,
    new Map(writes.map(({ entry }) => [entry.skill_name, { ...entry, apply_result: refused }])),
  );
}

async function writingRun(
  { ground, mind, evidence }: PreparationParts,
  { request, settings, names }: PreparedRun,
  signal: AbortSignal,
): Promise<AutoRun> {
  const { checks, places } = settings.flags;
  const plan = { preVerify: checks.preVerify, verify: checks.verify, cwd: checks.verifyCwd };
  const verifiers = await verifiersOf(plan, ground, signal);
  const done = await writePass(
    {
      ...{ ground, door: mind.door, backupDir: places.backupDir, drillStatePath: checks.drillStatePath, skills: names },
      verifiers,
      trail: { evidencePath: evidence.path, scheduler: { ...installedTimer(ground) } },
      isPinned: (skill) => mind.skills.record(skill)?.pinned === true,
    },
    withoutWaiting(request, mind.state),
    signal,
  );
  if (done.summary.applied > 0) await mind.skills.refresh(signal);
  return done;
}

const MOST_MISSING = 500;

function boundedRun(run: AutoRun, notes: readonly string[] = []): AutoRun {
  const missing = run.candidates.filter(({ reason }) => reason === 'skill-file-not-found');
  const cut = new Set(missing.slice(MOST_MISSING));
  const said = cut.size === 0 ? notes : [...notes, `left out: ${plural(cut.size, 'more skill')} without a SKILL.md`];
  if (said.length === 0) return run;
  return { ...run, candidates: run.candidates.filter((entry) => !cut.has(entry)), notes: said };
}

const MOST = 1_000;

/** The request with those skills refused as the guard refused them. */
function withoutWaiting(request: AutoRunRequest, state: Database): AutoRunRequest {
  const pending = createProposalLedger({ database: state }).list({
    ...{ status: 'pending', kind: 'skill', actor: 'curator', limit: MOST },
  });
  const names = new Set(pending.map(({ target }) => target));
  if (names.size === 0) return request;
  const skills = request.skills.map((skill) => (names.has(skill.name) ? refusedSkill(skill, 'guard-asks') : skill));
  return { ...request, skills };
}
