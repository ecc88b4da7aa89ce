// Owns the door through which skill text is written (design 2): the proposal of each request, its lock, its end. The questions are in
// door/write-skill-change, the write itself in door/commit-change and skill-folder. Knows no caller and no rule of the guard.
// Invariants: wholly old or wholly new after any fault; a refused or failed write leaves a decided proposal and no other trace; `guard-asks`
// leaves a pending one, which the owner accepts by the same write with its id.

import { systemClock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { type Refusal, type Result, refuse } from '#base/result.ts';
import type { Decision, Proposal, ProposalDraft } from '#mind/evidence/proposal.ts';
import { argumentsOf } from './door/change-arguments.ts';
import type { Committed } from './door/commit.ts';
import type { DoorParts } from './door/door-parts.ts';
import { rollBack } from './door/history/roll-back.ts';
import { type DiffReason, skillDiff } from './door/history/skill-diff.ts';
import { allVersions, asSkillVersion } from './door/history/version-rows.ts';
import { actorOf, doubtsOf, installTree, readInstall } from './door/install-skill.ts';
import { reconcileSkills } from './door/reconcile-skills.ts';
import { withSkillLock } from './door/with-skill-lock.ts';
import { writeSkillChange } from './door/write-skill-change.ts';
import { createSkillRecords, type SkillRecords } from './record/skill-records.ts';
import type { SkillDoor, SkillRefusal, SkillWrite, SkillWritten } from './skill-door.ts';

export type SkillDoorOptions = Omit<DoorParts, 'verifiers' | 'clock'> & Partial<Pick<DoorParts, 'verifiers' | 'clock'>>;

export interface GuardedSkillDoor extends SkillDoor {
  /** Call once at start-up, before anything is read: mends what a killed process left. Gives what was decided. */
  reconcile(): Promise<readonly Proposal[]>;
  /** Unified text; version 0 is what stood there before the first known write. */
  diff(skill: string, range: { readonly from: number; readonly to: number }): Promise<Result<string, DiffReason>>;
}

export function createSkillDoor(options: SkillDoorOptions): GuardedSkillDoor {
  const parts: DoorParts = { verifiers: [], clock: systemClock, ...options };
  return {
    write: async (request, signal) => mirrored(parts, await write(parts, request, signal)),
    install: async (request, signal) => mirrored(parts, await install(parts, request, signal)),
    rollback: async (target, given) => mirrored(parts, await rollBack(parts, target, given)),
    versions: (skill) => allVersions(parts.database, skill).map((row) => asSkillVersion(row, parts.places.backups)),
    reconcile: () => reconcileSkills(parts),
    diff: (skill, range) => skillDiff(parts, skill, range),
  };
}

async function write(parts: DoorParts, request: SkillWrite, signal?: AbortSignal): Promise<Committed> {
  const proposal = await proposalOf(parts, request);
  if (!request.approved) {
    const refusal = refuse('approval-required', `Changing ${request.name} needs an approval.`);
    return proposal.status === 'pending' ? { ...refusal, proposalId: proposal.id } : conclude(parts, proposal, refusal);
  }
  const work = () => writeSkillChange(parts, { request, proposal }, signal);
  return settled(parts, proposal, () =>
    withSkillLock({ root: parts.places.root, name: request.name, clock: parts.clock, signal }, work),
  );
}

async function install(
  parts: DoorParts,
  request: Parameters<SkillDoor['install']>[0],
  signal?: AbortSignal,
): Promise<Committed> {
  const ready = await readInstall(request);
  const { from, source, force } = request;
  const name = ready.ok ? ready.value.name : (request.name ?? from);
  const proposal = await parts.ledger.open({
    kind: 'skill',
    actor: actorOf(request),
    target: name,
    action: 'install',
    change: { action: 'install', name, from, source, category: request.category ?? '', force: force ?? false },
    citations: [],
  });
  if (!ready.ok) return conclude(parts, proposal, ready);
  if (!request.approved)
    return conclude(parts, proposal, refuse('approval-required', `Installing ${name} needs an approval.`));
  return settled(parts, proposal, async () => {
    const more = await doubtsOf(parts, request, ready.value, signal);
    const work = () => installTree(parts, { request, ready: ready.value, more, proposalId: proposal.id });
    return withSkillLock({ root: parts.places.root, name, clock: parts.clock, signal }, work);
  });
}

/** `.usage.json` is derived: that it could not be written is a warning, and the next write mends it. */
async function mirrored<T extends { readonly ok: true; readonly value: SkillWritten } | Refusal>(
  { database, places, clock }: DoorParts,
  done: T,
): Promise<T> {
  if (!done.ok) return done;
  const warning = await mirrorWarning(createSkillRecords({ database, root: places.root, clock }));
  if (warning === undefined) return done;
  return { ...done, value: { ...done.value, warnings: [...done.value.warnings, warning] } };
}

async function mirrorWarning(records: SkillRecords): Promise<string | undefined> {
  try {
    const made = await records.mirror();
    return made.ok ? undefined : made.detail;
  } catch (error) {
    return `.usage.json is not up to date: ${errorText(error)}`;
  }
}

/** The proposal that was opened before, or a new one for this write. */
async function proposalOf({ ledger }: DoorParts, request: SkillWrite): Promise<Proposal> {
  if (request.proposalId === undefined) return ledger.open(draftOf(request));
  const known = ledger.get(request.proposalId);
  if (known) return known;
  throw new TalariaError(`there is no proposal ${request.proposalId}`, { code: 'no-such-proposal' });
}

function draftOf({ name, change, actor, expectedHash, sessionId, citations }: SkillWrite): ProposalDraft {
  return {
    kind: 'skill',
    actor,
    target: name,
    action: change.action,
    change: { name, ...argumentsOf(change), ...(expectedHash ? { expected_hash: expectedHash } : {}) },
    citations: citations ?? [],
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}

/** Runs `work` and sees to it that the proposal does not stay open, whatever happens. */
async function settled(parts: DoorParts, proposal: Proposal, work: () => Promise<Committed>): Promise<Committed> {
  let done: Committed;
  try {
    done = await work();
  } catch (error) {
    const { status } = parts.ledger.get(proposal.id) ?? proposal;
    if (status === 'proposed')
      await parts.ledger.decide(proposal.id, { status: 'dropped', reason: 'write-failed', detail: errorText(error) });
    throw error;
  }
  return done.ok ? done : conclude(parts, proposal, done);
}

/** Refused for good, or left to the owner when the guard asks. */
async function conclude(parts: DoorParts, { id }: Proposal, refusal: SkillRefusal): Promise<SkillRefusal> {
  const { reason, detail } = refusal;
  const status: Decision['status'] = reason === 'guard-asks' ? 'pending' : 'refused';
  if (refusal.proposalId === undefined) await parts.ledger.decide(id, { status, reason, detail });
  return { ...refusal, proposalId: id };
}
