// Owns the one way in which a checked change becomes the state of a skill: hashes committed, backup and manifest, files, verifiers,
// version and record, proposal applied (design 2). Write, install and rollback all end here, under the skill's lock.
// Knows no guard and no format. Invariant: after any failure the old state stands and the proposal says `dropped`; what a kill leaves
// in between, `reconcileSkills` mends.
import { join } from 'node:path';
import { isoTime } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { ok, refuse } from '#base/result.ts';
import type { Actor } from '#mind/evidence/proposal.ts';
import { SKILL_FILE } from '../format/skill-limits.ts';
import { findRecord, type RecordRow, recordChange, restoreRecord } from '../record/record-rows.ts';
import type { SkillRefusal, SkillWritten } from '../skill-door.ts';
import { clearStaging, type Placed, placeSkill } from '../skill-folder.ts';
import { buildManifest } from './backup/build-manifest.ts';
import { claimStamp, readManifest, removeBackup, writeBackup, writeManifest } from './backup/skill-backup.ts';
import { MANIFEST_FILE, type SkillManifest } from './backup/skill-manifest.ts';
import type { Commit, Committed } from './commit.ts';
import type { DoorParts } from './door-parts.ts';
import { deleteVersion, insertVersion } from './history/version-rows.ts';
import { asSkillFault } from './skill-fault.ts';
import {
  changesBetween,
  hashOfSkillFile,
  hashSkillFolder,
  hashSkillTree,
  type SkillTree,
  textOf,
} from './skill-tree.ts';
import { runVerifiers } from './verify/run-verifiers.ts';

/** How far one commit has come: what there is to take back. */
interface Attempt {
  readonly parts: DoorParts;
  readonly commit: Commit;
  stamp?: string;
  placed?: Placed | undefined;
  /** The record before this commit touched it; absent until then. */
  oldRecord?: { readonly row: RecordRow | undefined };
}

/** Throws TalariaError for broken I/O, with the old state intact. */
export async function commitChange(parts: DoorParts, commit: Commit): Promise<Committed> {
  const attempt: Attempt = { parts, commit };
  try {
    return await carryOut(attempt);
  } catch (error) {
    throw await takeBack(attempt, error);
  }
}

async function carryOut(attempt: Attempt): Promise<Committed> {
  const { parts, commit } = attempt;
  const { ledger, places } = parts;
  const { folder, before, after, proposalId } = commit;
  const hashes = { beforeHash: hashSkillTree(before), afterHash: hashSkillTree(after) };
  await ledger.begin(proposalId, { path: folder, ...hashes });
  const stamp = claimStamp(places.backups, parts.clock.now());
  attempt.stamp = stamp;
  const backup = join(places.backups, stamp);
  const verifiers = commit.made.action === 'rollback' ? [] : parts.verifiers;
  let manifest = buildManifest(parts, commit, { backup, isVerified: verifiers.length > 0 });
  writeBackup(backup, copied(commit), manifest);
  if (hashSkillFolder(folder) !== hashes.beforeHash) return changedMeanwhile(attempt);
  attempt.placed = placeSkill({ ...commit, root: places.root, id: proposalId, stamp });
  if (verifiers.length > 0) {
    const { passed, verify, failure } = await runVerifiers(verifiers, verifierRequest(commit, backup));
    manifest = { ...manifest, verify };
    if (!passed) return verifyFailed(attempt, manifest, failure);
    writeManifest(backup, manifest);
  }
  const version = await recordVersion(attempt, manifest, stamp);
  await ledger.decide(proposalId, { status: 'applied' });
  return ok(await finish(attempt, version, backup));
}

/** SKILL.md is always copied, so that a backup can be used by itself. */
function copied({ before, after }: Commit): ReturnType<typeof changesBetween> {
  const changes = changesBetween(before, after);
  const main = before?.get(SKILL_FILE);
  if (main === undefined || changes.some(({ path }) => path === SKILL_FILE)) return changes;
  return [{ path: SKILL_FILE, before: main, after: main }, ...changes];
}

function verifierRequest({ folder, before, after }: Commit, backup: string): Parameters<typeof runVerifiers>[1] {
  const text = (tree: SkillTree | undefined) => textOf(tree?.get(SKILL_FILE)) ?? null;
  const originalHash = hashOfSkillFile(before);
  return {
    path: folder,
    before: text(before),
    after: text(after),
    backupPath: originalHash === null ? null : join(backup, SKILL_FILE),
    manifestPath: join(backup, MANIFEST_FILE),
    originalHash,
    newHash: hashOfSkillFile(after),
  };
}

async function changedMeanwhile(attempt: Attempt): Promise<SkillRefusal> {
  const { parts, commit, stamp } = attempt;
  if (stamp !== undefined) removeBackup(parts.places.backups, stamp);
  const detail = `${commit.name} was changed on disk in the same moment; nothing was written. Read it again.`;
  await parts.ledger.decide(commit.proposalId, { status: 'dropped', reason: 'hash-mismatch', detail });
  return { ...refuse('hash-mismatch', detail), proposalId: commit.proposalId };
}

/** The backup stays: its manifest says why the change did not. */
async function verifyFailed(attempt: Attempt, manifest: SkillManifest, failure: string): Promise<SkillRefusal> {
  const { parts, commit, stamp } = attempt;
  attempt.placed?.undo();
  attempt.placed = undefined;
  clearStaging(parts.places.root, commit.proposalId);
  const rolledBack = {
    rolled_back: true,
    rollback_reason: 'verify-failed',
    rollback_failed_stage: manifest.verify.failed_stage,
  };
  if (stamp !== undefined) writeManifest(join(parts.places.backups, stamp), { ...manifest, ...rolledBack });
  const detail = `A check of the changed skill failed and it was put back: ${failure}`;
  await parts.ledger.decide(commit.proposalId, { status: 'refused', reason: 'verify-failed', detail });
  return { ...refuse('verify-failed', detail), proposalId: commit.proposalId };
}

function recordVersion(attempt: Attempt, manifest: SkillManifest, stamp: string): Promise<number> {
  const { database } = attempt.parts;
  return database.transaction(() => {
    attempt.oldRecord = { row: findRecord(database, manifest.skill_name) };
    return insertRecordedVersion(attempt.parts, manifest, stamp);
  });
}

/** Inside a transaction: the version and what it makes of the record. */
export function insertRecordedVersion({ database }: DoorParts, manifest: SkillManifest, stamp: string): number {
  const { version, parent } = insertVersion(database, manifest, stamp);
  recordChange(database, {
    name: manifest.skill_name,
    actor: manifest.actor as Actor,
    action: manifest.operation,
    isThere: manifest.new_tree_sha256 !== null,
    version,
    parent,
    at: manifest.applied_at_ms,
  });
  return version;
}

/** The change stands. What is left to do is derived, and is done again at the next start if it fails now. */
async function finish({ parts, commit }: Attempt, version: number, backup: string): Promise<SkillWritten> {
  const { name, folder, after, proposalId } = commit;
  const thing = { kind: 'skill', target: name, key: String(version) } as const;
  const later = [
    await tell('its evidence is tied to it later', () => parts.ledger.attach(thing, proposalId)),
    await tell('a temporary folder is cleared later', () => clearStaging(parts.places.root, proposalId)),
    await tell('the manifest does not say that it is undone', () => markUndone(parts, commit, version)),
  ];
  return {
    name,
    folder,
    path: join(folder, SKILL_FILE),
    version,
    newHash: hashOfSkillFile(after),
    manifestPath: join(backup, MANIFEST_FILE),
    proposalId,
    warnings: [...commit.warnings, ...later.filter((line) => line !== undefined)],
  };
}

function markUndone({ places, clock }: DoorParts, { made }: Commit, version: number): void {
  if (made.undoes === undefined) return;
  const folder = join(places.backups, made.undoes.backup);
  const manifest = readManifest(folder);
  if (!manifest.ok) throw new TalariaError(manifest.detail, { code: manifest.reason });
  const undone = { rolled_back: true, rolled_back_at: isoTime(clock.now()), rolled_back_by: version };
  writeManifest(folder, { ...manifest.value, ...undone });
}

async function tell(what: string, work: () => void | Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return `${what}: ${errorText(error)}`;
  }
}

/** Undoes what was done, newest first; gives the error to throw. What cannot be undone now is left `writing` for the next start. */
async function takeBack(attempt: Attempt, error: unknown): Promise<unknown> {
  const { parts, commit, stamp, placed, oldRecord } = attempt;
  const { database, places, ledger } = parts;
  try {
    if (oldRecord !== undefined) {
      await database.transaction(() => {
        deleteVersion(database, commit.proposalId);
        restoreRecord(database, commit.name, oldRecord.row);
      });
    }
    placed?.undo();
    clearStaging(places.root, commit.proposalId);
    if (stamp !== undefined) removeBackup(places.backups, stamp);
    await ledger.decide(commit.proposalId, { status: 'dropped', reason: 'write-failed', detail: errorText(error) });
  } catch (second) {
    return asSkillFault(commit.name, error, `; it is mended at the next start (${errorText(second)})`);
  }
  return asSkillFault(commit.name, error, '; nothing was changed');
}
