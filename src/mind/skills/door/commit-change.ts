// Owns the one way in which a checked change becomes the state of a skill: hashes committed, backup and manifest, files, verifiers,
// version and record, proposal applied (design 2). Write, install and rollback all end here, under the skill's lock.
// Knows no guard and no format. Invariant: after any failure the old state stands and the proposal says `dropped`; what a kill leaves
// in between, `reconcileSkills` mends.
import { join } from 'node:path';
import { isoTime } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { ok, refuse } from '#base/result.ts';
import type { Actor } from '#mind/evidence/proposal.ts';
import { SKILL_FILE } from '../format/skill-text.ts';
import type { SkillOutcome, SkillRefusal, SkillWritten, VerifyReport } from '../skill.ts';
import { findRecord, isRecordedFolder, recordChange, restoreRecord } from '../skill-records.ts';
import {
  buildManifest,
  claimStamp,
  MANIFEST_FILE,
  readManifest,
  removeBackup,
  type SkillManifest,
  writeBackup,
  writeManifest,
} from './backup.ts';
import { asSkillFault, type Commit, type DoorParts } from './door-parts.ts';
import { archiveUndone, clearStaging, type StagedSkill, stageSkill } from './place-skill.ts';
import { changesBetween, hashOfSkillFile, hashSkillFolder, hashSkillTree } from './skill-tree.ts';
import { type Asked, askVerifiers, keptText, namingArchive } from './verify.ts';
import { deleteVersion, findVersion, insertVersion, recordedHashes } from './versions.ts';

/** How far one commit has come: what there is to take back. */
interface Attempt {
  readonly parts: DoorParts;
  readonly commit: Commit;
  stamp?: string;
  staged?: StagedSkill;
  /** The manifest of what a rollback undoes, before it said so. */
  unmarked?: Marked | undefined;
  /** The record before this commit touched it; absent until then. */
  oldRecord?: { readonly record: ReturnType<typeof findRecord> };
}

/** Throws TalariaError for broken I/O, with the old state intact. */
export async function commitChange(parts: DoorParts, commit: Commit): Promise<SkillOutcome> {
  const attempt: Attempt = { parts, commit };
  try {
    return await carryOut(attempt);
  } catch (error) {
    throw await takeBack(attempt, error);
  }
}

async function carryOut(attempt: Attempt): Promise<SkillOutcome> {
  const { parts, commit } = attempt;
  const { ledger, places } = parts;
  const { folder, before, after, proposalId, verifiers } = commit;
  const hashes = { beforeHash: hashSkillTree(before), afterHash: hashSkillTree(after) };
  await ledger.begin(proposalId, { path: folder, ...hashes, undo: recordedHashes(before, after) });
  const stamp = claimStamp(places.backups, parts.clock.now());
  attempt.stamp = stamp;
  const backup = join(places.backups, stamp);
  const isVerified = verifiers.length > 0;
  let manifest = buildManifest(parts, commit, { backup, isVerified });
  writeBackup(backup, copied(commit), manifest);
  const staged = stageSkill({ ...commit, root: places.root, id: proposalId, stamp, keepsOld: isVerified });
  if (hashSkillFolder(folder) !== hashes.beforeHash) return changedMeanwhile(attempt);
  attempt.staged = staged;
  staged.place();
  if (isVerified) {
    const asked = await askVerifiers(commit, backup);
    manifest = { ...manifest, verify: asked.verify };
    if (!asked.passed) return verifyFailed(attempt, manifest, asked);
    writeManifest(backup, manifest);
  }
  const version = await recordVersion(attempt, manifest, stamp);
  attempt.unmarked = undoneBy(parts, manifest);
  markUndone(parts, attempt.unmarked, version);
  await ledger.decide(proposalId, { status: 'applied' });
  const written = await finish(attempt, version, backup);
  return ok(isVerified ? { ...written, verify: manifest.verify as VerifyReport } : written);
}

/** SKILL.md is always copied, so that a backup can be used by itself. */
function copied({ before, after }: Commit): ReturnType<typeof changesBetween> {
  const changes = changesBetween(before, after);
  const main = before?.get(SKILL_FILE);
  if (main === undefined || changes.some(({ path }) => path === SKILL_FILE)) return changes;
  return [{ path: SKILL_FILE, before: main, after: main }, ...changes];
}

async function changedMeanwhile({ parts, commit, stamp }: Attempt): Promise<SkillRefusal> {
  clearStaging(parts.places.root, commit.proposalId);
  if (stamp !== undefined) removeBackup(parts.places.backups, stamp);
  const detail = `${commit.name} was changed on disk in the same moment; nothing was written. Read it again.`;
  await parts.ledger.decide(commit.proposalId, { status: 'dropped', reason: 'hash-mismatch', detail });
  return { ...refuse('hash-mismatch', detail), proposalId: commit.proposalId };
}

/** The backup stays: its manifest says why the change did not. */
async function verifyFailed(
  { parts, commit, stamp = '', staged }: Attempt,
  manifest: SkillManifest,
  asked: Asked,
): Promise<SkillRefusal> {
  const { root, backups } = parts.places;
  const { proposalId, folder, after } = commit;
  staged?.undo();
  const archivePath = archiveUndone({ root, folder, id: proposalId, stamp, after });
  clearStaging(root, proposalId);
  const { failure, verify } = archivePath === undefined ? asked : namingArchive(asked, archivePath);
  const why = {
    verify,
    rolled_back: true,
    rollback_reason: 'verify-failed',
    rollback_failed_stage: verify.failed_stage,
  };
  writeManifest(join(backups, stamp), { ...manifest, ...why });
  const detail = `A check of the changed skill failed and it was put back: ${failure}`;
  await parts.ledger.decide(proposalId, { status: 'refused', reason: 'verify-failed', detail });
  return {
    ...refuse('verify-failed', detail),
    proposalId,
    manifestPath: join(backups, stamp, MANIFEST_FILE),
    verify,
    ...(archivePath === undefined ? {} : { archivePath }),
  };
}

function recordVersion(attempt: Attempt, manifest: SkillManifest, stamp: string): Promise<number> {
  const { database } = attempt.parts;
  return database.transaction(() => {
    attempt.oldRecord = { record: findRecord(database, manifest.skill_name) };
    return insertRecordedVersion(attempt.parts, manifest, stamp);
  });
}

/** Inside a transaction: the version and what it makes of the record. */
export function insertRecordedVersion({ database }: DoorParts, manifest: SkillManifest, stamp: string): number {
  const { skill_name: name, folder } = manifest;
  const isElsewhere = !isRecordedFolder(database, { name, folder });
  const { version, parent } = insertVersion(database, manifest, stamp);
  recordChange(database, {
    name,
    isElsewhere,
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

/** A manifest before it said that its version is undone. */
export interface Marked {
  readonly folder: string;
  readonly manifest: SkillManifest;
}

/** What a rollback undoes; undefined: this is none, or its backup is gone and says nothing any more. */
export function undoneBy({ places, database }: DoorParts, rollback: SkillManifest): Marked | undefined {
  if (rollback.undoes_version === null) return undefined;
  const row = findVersion(database, rollback.skill_name, rollback.undoes_version);
  if (row === undefined) return undefined;
  const folder = join(places.backups, row.backup);
  const manifest = readManifest(folder);
  return manifest.ok ? { folder, manifest: manifest.value } : undefined;
}

/** The manifest says that it is undone, and by which version. */
export function markUndone({ clock }: DoorParts, undone: Marked | undefined, version: number): void {
  if (undone === undefined) return;
  const mark = { rolled_back: true, rolled_back_at: isoTime(clock.now()), rolled_back_by: version };
  writeManifest(undone.folder, { ...undone.manifest, ...mark });
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
  const { parts, commit, stamp, staged, unmarked, oldRecord } = attempt;
  const { database, places, ledger } = parts;
  try {
    if (oldRecord !== undefined) {
      await database.transaction(() => {
        deleteVersion(database, commit.proposalId);
        restoreRecord(database, commit.name, oldRecord.record);
      });
    }
    if (unmarked !== undefined) writeManifest(unmarked.folder, unmarked.manifest);
    staged?.undo();
    const { folder, after, proposalId: id } = commit;
    const kept = stamp && archiveUndone({ root: places.root, folder, id, stamp, after });
    clearStaging(places.root, commit.proposalId);
    if (stamp !== undefined) removeBackup(places.backups, stamp);
    await ledger.decide(commit.proposalId, { status: 'dropped', reason: 'write-failed', detail: errorText(error) });
    if (kept) return asSkillFault(commit.name, error, `; ${keptText(kept)}`);
  } catch (second) {
    return asSkillFault(commit.name, error, `; it is mended at the next start (${errorText(second)})`);
  }
  return asSkillFault(commit.name, error, '; nothing was changed');
}
