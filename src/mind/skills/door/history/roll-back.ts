// Owns undoing a version: what it changed becomes what it was, support files included; a rollback is itself a version. Both commands
// that roll back (by version, by manifest) end here. Knows no use counts and no surface.
// Invariants: a copy that is not what was recorded restores nothing; what was changed since is overwritten only by force (curator
// notes 11.4).
import { basename, dirname, join, resolve } from 'node:path';
import { sha256 } from '#base/ids.ts';
import { ok, type Refusal, type Result, refuse } from '#base/result.ts';
import type { Actor } from '#mind/evidence/proposal.ts';
import { folderBelow } from '../../record/record-of-folder.ts';
import type { SkillWritten } from '../../skill-door.ts';
import { type RecordedFile, readBackup, readManifest } from '../backup/skill-backup.ts';
import { commitChange } from '../commit-change.ts';
import type { DoorParts } from '../door-parts.ts';
import { locateSkill } from '../locate-skill.ts';
import { hashOfFile, hashSkillTree, readSkillTree, type SkillTree, treeOf, withFileOf } from '../skill-tree.ts';
import { withSkillLock } from '../with-skill-lock.ts';
import { noVersionOf } from './no-version.ts';
import { disagreement } from './recorded-hashes.ts';
import { findVersion, lastVersion, newestToUndo, type VersionRow, versionOfBackup } from './version-rows.ts';

export type RollbackTarget = { readonly skill: string; readonly version?: number } | { readonly manifestPath: string };
export type RollbackReason =
  | 'backup-not-found'
  | 'manifest-changed'
  | 'target-changed'
  | 'nothing-to-undo'
  | 'no-such-version';

export interface RollbackOptions {
  readonly force?: boolean;
  readonly actor?: Actor;
}

export async function rollBack(
  parts: DoorParts,
  target: RollbackTarget,
  options: RollbackOptions = {},
): Promise<Result<SkillWritten, RollbackReason>> {
  const row = findTarget(parts, target);
  if (!row.ok) return row;
  const lock = { root: parts.places.root, name: row.value.skill, clock: parts.clock };
  return withSkillLock(lock, () => undoVersion(parts, row.value, options));
}

function findTarget(parts: DoorParts, target: RollbackTarget): Result<VersionRow, RollbackReason> {
  const { database } = parts;
  if ('manifestPath' in target) {
    const row = versionOfBackup(database, basename(dirname(resolve(target.manifestPath))));
    return row ? ok(row) : noVersionOf(parts.ledger, target.manifestPath);
  }
  const { skill, version } = target;
  if (version !== undefined) {
    const row = findVersion(database, skill, version);
    return row ? ok(row) : refuse('no-such-version', `${skill} has no version ${version}.`);
  }
  const row = newestToUndo(database, skill);
  if (row) return ok(row);
  return lastVersion(database, skill)
    ? refuse('nothing-to-undo', `Every version of ${skill} is undone already.`)
    : refuse('nothing-to-undo', `${skill} was never changed here.`);
}

async function undoVersion(
  parts: DoorParts,
  row: VersionRow,
  { force = false, actor = 'owner' }: RollbackOptions,
): Promise<Result<SkillWritten, RollbackReason>> {
  const backup = join(parts.places.backups, row.backup);
  const manifest = readManifest(backup);
  if (!manifest.ok) return manifest;
  const undo = parts.ledger.get(row.proposal_id)?.undo;
  const doubt = disagreement(manifest.value, { row, undo });
  if (doubt !== undefined) return refuse('manifest-changed', `${backup}: ${doubt}`);
  const recorded = readBackup(backup, manifest.value);
  if (!recorded.ok) return recorded;
  const folder = join(parts.places.root, row.folder);
  const now = readSkillTree(folder);
  if (!now.ok) return refuse('target-changed', now.detail);
  const elsewhere = await liesElsewhere(parts, row);
  if (elsewhere !== undefined && !(force && now.value !== undefined)) return refuse('target-changed', elsewhere);
  const before = stateBefore(row, { now: now.value, recorded: recorded.value, force });
  if (!before.ok) return before;
  const proposal = await parts.ledger.open({
    kind: 'skill',
    actor,
    target: row.skill,
    action: 'rollback',
    change: { action: 'rollback', name: row.skill, version: row.version },
    citations: [],
  });
  const done = await commitChange(parts, {
    name: row.skill,
    folder,
    before: now.value,
    after: before.value,
    proposalId: proposal.id,
    made: { actor, action: 'rollback', source: 'rollback', undoes: { version: row.version, backup: row.backup } },
    verifiers: [],
    warnings: [],
  });
  if (!done.ok) return refuse('target-changed', done.detail);
  return done;
}

/** What is called so now is another skill, or was moved: undoing would make a second one of the name, or change one that nobody sees. */
async function liesElsewhere(parts: DoorParts, { skill, version, folder }: VersionRow): Promise<string | undefined> {
  const found = await locateSkill(parts, skill);
  const now = found && folderBelow(parts.places.root, found.folder);
  if (now === undefined || now === folder) return undefined;
  return `${skill} lies in ${now} now, and version ${version} was written in ${folder}; put it back there, or take the other one away, first.`;
}

interface Standing {
  readonly now: SkillTree | undefined;
  readonly recorded: readonly RecordedFile[];
  readonly force: boolean;
}

type Before = { readonly ok: true; readonly value: SkillTree | undefined } | Refusal<RollbackReason>;

/** The folder as it was before the version, seen from what stands there now. */
function stateBefore(row: VersionRow, standing: Standing): Before {
  const { now, force } = standing;
  if (!force && isChangedSince(row, standing))
    return refuse(
      'target-changed',
      `${row.skill} was changed since version ${row.version}; look at it, then use force.`,
    );
  if (row.original_tree === null)
    return now ? ok(undefined) : refuse('nothing-to-undo', `${row.skill} is gone already.`);
  return row.new_tree === null ? undeleted(row, standing) : unedited(row, standing);
}

function isChangedSince(row: VersionRow, { now, recorded }: Standing): boolean {
  const wasWhole = row.original_tree === null || row.new_tree === null;
  if (wasWhole) return hashSkillTree(now) !== row.new_tree;
  return touchedBy(recorded).some(({ path, afterHash }) => hashOfFile(now, path) !== afterHash);
}

/** SKILL.md is recorded also where it did not change. */
function touchedBy(recorded: readonly RecordedFile[]): readonly RecordedFile[] {
  return recorded.filter(({ before, afterHash }) => (before ? sha256(before.bytes) : null) !== afterHash);
}

function undeleted(row: VersionRow, { now, recorded }: Standing): Before {
  if (now) return refuse('target-changed', `A skill ${row.skill} stands there again; delete it first.`);
  const whole = treeOf(recorded.flatMap(({ before }) => before ?? []));
  return hashSkillTree(whole) === row.original_tree ? ok(whole) : notTheCopies(row);
}

function unedited(row: VersionRow, { now, recorded }: Standing): Before {
  if (now === undefined)
    return refuse('target-changed', `The folder of ${row.skill} is gone; undo its deletion first.`);
  const back = touchedBy(recorded).reduce((tree, file) => withFileOf(tree, file.path, file.before), now);
  if (hashSkillTree(now) === row.new_tree && hashSkillTree(back) !== row.original_tree) return notTheCopies(row);
  return hashSkillTree(back) === hashSkillTree(now)
    ? refuse('nothing-to-undo', `${row.skill} stands as it was before version ${row.version} already.`)
    : ok(back);
}

function notTheCopies({ version }: VersionRow): Refusal<'backup-not-found'> {
  return refuse('backup-not-found', `The copies of version ${version} are not what stood there before it.`);
}
