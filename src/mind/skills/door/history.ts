// Owns undoing a version, which is itself a version, and what differs between two. Both commands that roll back (by version, by manifest)
// end here. Invariants: a copy that is not what was recorded restores nothing; what was changed since is overwritten only by force (curator
// notes 11.4); what a manifest says of itself is believed only where the ledger says the same; a state is shown whole or refused.

import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Database } from '#base/database/connection.ts';
import { errorCode } from '#base/errors.ts';
import { ok, type Refusal, type Result, refuse } from '#base/result.ts';
import { lineDiff } from '#base/text/line-diff.ts';
import type { ProposalLedger } from '#mind/evidence/proposal.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import type { RollbackReason, SkillDoor, SkillWritten } from '../skill.ts';
import { folderBelow } from '../skill-records.ts';
import { type RecordedFile, readBackup, readManifest, readManifestText } from './backup.ts';
import { commitChange } from './commit-change.ts';
import { type DoorParts, withSkillLock } from './door-parts.ts';
import {
  changesBetween,
  hashOfFile,
  hashOfOne,
  hashSkillTree,
  readSkillTree,
  type SkillFile,
  type SkillTree,
  textOf,
  treeOf,
  withFileOf,
} from './skill-tree.ts';
import {
  allVersions,
  disagreement,
  findVersion,
  lastVersion,
  newestToUndo,
  type VersionRow,
  versionOfBackup,
} from './versions.ts';
import { locateSkill } from './write-skill-change.ts';

type RollbackTarget = Parameters<SkillDoor['rollback']>[0];
type RollbackOptions = NonNullable<Parameters<SkillDoor['rollback']>[1]>;

export async function rollBack(
  parts: DoorParts,
  target: RollbackTarget,
  options: RollbackOptions = {},
): Promise<Result<SkillWritten, RollbackReason>> {
  const row = findTarget(parts, target);
  if (!row.ok) return row;
  return withSkillLock(parts, row.value.skill, () => undoVersion(parts, row.value, options));
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
  const before = stateBefore(row, now.value, recorded.value, force);
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

type Before = { readonly ok: true; readonly value: SkillTree | undefined } | Refusal<RollbackReason>;

type Recorded = readonly RecordedFile[];

/** The folder as it was before the version, seen from what stands there now. */
function stateBefore(row: VersionRow, now: SkillTree | undefined, recorded: Recorded, force: boolean): Before {
  if (!force && isChangedSince(row, now, recorded))
    return refuse(
      'target-changed',
      `${row.skill} was changed since version ${row.version}; look at it, then use force.`,
    );
  if (row.original_tree === null)
    return now ? ok(undefined) : refuse('nothing-to-undo', `${row.skill} is gone already.`);
  return row.new_tree === null ? undeleted(row, now, recorded) : unedited(row, now, recorded);
}

function isChangedSince(row: VersionRow, now: SkillTree | undefined, recorded: Recorded): boolean {
  if (row.original_tree === null || row.new_tree === null) return hashSkillTree(now) !== row.new_tree;
  return touchedBy(recorded).some(({ path, afterHash }) => hashOfFile(now, path) !== afterHash);
}

/** SKILL.md is recorded also where it did not change. */
function touchedBy(recorded: Recorded): Recorded {
  return recorded.filter(({ before, afterHash }) => hashOfOne(before) !== afterHash);
}

function undeleted(row: VersionRow, now: SkillTree | undefined, recorded: Recorded): Before {
  if (now) return refuse('target-changed', `A skill ${row.skill} stands there again; delete it first.`);
  const whole = treeOf(recorded.flatMap(({ before }) => before ?? []));
  return hashSkillTree(whole) === row.original_tree ? ok(whole) : notTheCopies(row);
}

function unedited(row: VersionRow, now: SkillTree | undefined, recorded: Recorded): Before {
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

export type DiffReason = 'no-such-version' | 'backup-not-found' | 'manifest-changed' | 'too-large';

/** The folder at `version`; 0 is what stood there before the first known write. Undefined: there was none. */
function skillAt(
  parts: Pick<DoorParts, 'database' | 'places'>,
  skill: string,
  version: number,
): Result<SkillTree | undefined, DiffReason> {
  const rows = allVersions(parts.database, skill);
  const last = rows.at(-1);
  const isKnown = version === 0 || rows.some((row) => row.version === version);
  if (last === undefined || !isKnown) return refuse('no-such-version', `${skill} has no version ${version}.`);
  const now = readSkillTree(join(parts.places.root, last.folder));
  if (!now.ok) return now;
  const later = rows.filter((row) => row.version > version);
  const foreign = rows.find((row) => row.version >= version && row.folder !== last.folder);
  // Two skills of one name, one after the other: their versions do not follow from one another.
  if (foreign !== undefined)
    return refuse(
      'no-such-version',
      `Version ${foreign.version} of ${skill} was written in ${foreign.folder}; what is called so now was written in ${last.folder}.`,
    );
  let tree = now.value;
  for (const row of later.reverse()) {
    const before = takeBackFrom(parts.places.backups, row, tree);
    if (!before.ok) return before;
    tree = before.value;
  }
  return ok(tree);
}

function takeBackFrom(
  backups: string,
  row: VersionRow,
  tree: SkillTree | undefined,
): Result<SkillTree | undefined, DiffReason> {
  if (row.original_tree === null) return ok(undefined);
  const folder = join(backups, row.backup);
  const manifest = readManifest(folder);
  const recorded = manifest.ok ? readBackup(folder, manifest.value) : manifest;
  if (!recorded.ok) return recorded;
  const base = row.new_tree === null || tree === undefined ? treeOf([]) : tree;
  return ok(recorded.value.reduce((next, file) => withFileOf(next, file.path, file.before), base));
}

/** Unified text, a header for each file; empty when nothing differs. */
export async function skillDiff(
  parts: Pick<DoorParts, 'database' | 'places'>,
  skill: string,
  range: { readonly from: number; readonly to: number },
): Promise<Result<string, DiffReason>> {
  const before = skillAt(parts, skill, range.from);
  if (!before.ok) return before;
  const after = skillAt(parts, skill, range.to);
  if (!after.ok) return after;
  const changes = changesBetween(before.value, after.value);
  const files = changes.map((change) => fileDiff(`${skill}/${change.path}`, change.before, change.after));
  return ok((await Promise.all(files)).join(''));
}

async function fileDiff(path: string, before: SkillFile | undefined, after: SkillFile | undefined): Promise<string> {
  const old = before === undefined ? '' : textOf(before);
  const now = after === undefined ? '' : textOf(after);
  const names = `--- ${before ? `a/${path}` : '/dev/null'}\n+++ ${after ? `b/${path}` : '/dev/null'}\n`;
  if (old === undefined || now === undefined) return `${names}Files that are no text differ.\n`;
  return `${names}${(await lineDiff(old, now)).text}`;
}

function noVersionOf(
  ledger: Pick<ProposalLedger, 'get'>,
  path: string,
): Refusal<'no-such-version' | 'nothing-to-undo'> {
  const text = readSmall(path);
  if (typeof text !== 'string') return refuse('no-such-version', text.why);
  const manifest = readManifestText(text);
  if (!manifest.ok) return refuse('no-such-version', `${path} is no manifest of a backup of ours, or is damaged.`);
  const { status } = ledger.get(manifest.value.proposal_id) ?? {};
  if (manifest.value.rolled_back && (status === 'refused' || status === 'dropped'))
    return refuse('nothing-to-undo', 'That write was taken back by its check; there is nothing to undo.');
  return refuse('no-such-version', `No version of a skill in this home belongs to ${path}.`);
}

/** A manifest lists at most a thousand files. */
function readSmall(path: string): string | { readonly why: string } {
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) return { why: `${path} is a folder; name the manifest.json in it.` };
    if (!stats.isFile() || stats.size > 16 * 1_048_576) return { why: `${path} is no manifest of a backup.` };
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    const isGone = code === 'ENOENT' || code === 'ENOTDIR';
    return { why: isGone ? `There is no file ${path}.` : `${path} cannot be read (${code}).` };
  }
}

/**
 * By state.db, for whoever only reads a manifest. True when no version here belongs to it, nothing was recorded of it then, and when it cannot
 * be read at all, which the reader finds out for itself.
 */
export function isAsRecorded(database: Database, manifestPath: string): boolean {
  const row = versionOfBackup(database, basename(dirname(manifestPath)));
  const text = row && readSmall(manifestPath);
  if (row === undefined || typeof text !== 'string') return true;
  const manifest = readManifestText(text);
  const undo = createProposalLedger({ database }).get(row.proposal_id)?.undo;
  return manifest.ok && disagreement(manifest.value, { row, undo }) === undefined;
}
