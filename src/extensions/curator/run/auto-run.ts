// Owns one unattended run from evidence to written skills (seed 002, current autorun algorithm; curator notes 8). An in-process schedule,
// the timer and the command call the same. Knows no surface. Invariants: a dry run writes nothing and takes no lease; writing needs both
// flags and the home's lease; a skill that the door refuses gives its slot to the next one.
import type { JsonObject } from '#base/json.ts';
import { ok, refuse } from '#base/result.ts';
import { withUnattendedLease } from '#mind/learning/review/unattended-lease.ts';
import type { CuratorGround, CuratorMind } from '../curator-ground.ts';
import { planWrites } from '../plan/plan-auto-run.ts';
import type { EvidenceReader } from '../report/evidence-reader.ts';
import { ledgerReader } from '../report/ledger-reader.ts';
import { installedTimer } from '../timer/timer-places.ts';
import { boundedRun } from './bounded-run.ts';
import type { RankSkills } from './gather/rank-eligible.ts';
import { withoutWaiting } from './gather/waiting-skills.ts';
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
