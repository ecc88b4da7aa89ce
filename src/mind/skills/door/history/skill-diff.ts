// Owns what a skill was at a version, and what differs between two: the state that stands now, with the later versions taken back one by
// one from their backups. Writes nothing. Invariant: a state is shown whole or refused; edits made by hand belong to the version that
// they were made on.
import { join } from 'node:path';
import { ok, type Refusal, type Result, refuse } from '#base/result.ts';
import { lineDiff } from '#base/text/line-diff.ts';
import { readBackup, readManifest } from '../backup/skill-backup.ts';
import type { DoorParts } from '../door-parts.ts';
import {
  changesBetween,
  readSkillTree,
  type SkillFile,
  type SkillTree,
  textOf,
  treeOf,
  withFileOf,
} from '../skill-tree.ts';
import { allVersions, type VersionRow } from './version-rows.ts';

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
  if (foreign !== undefined) return ofAnother(foreign, last);
  let tree = now.value;
  for (const row of later.reverse()) {
    const before = takeBackFrom(parts, row, tree);
    if (!before.ok) return before;
    tree = before.value;
  }
  return ok(tree);
}

/** Two skills of one name, one after the other: their versions do not follow from one another. */
function ofAnother({ skill, version, folder }: VersionRow, last: VersionRow): Refusal<'no-such-version'> {
  return refuse(
    'no-such-version',
    `Version ${version} of ${skill} was written in ${folder}; what is called so now was written in ${last.folder}.`,
  );
}

function takeBackFrom(
  { places }: Pick<DoorParts, 'places'>,
  row: VersionRow,
  tree: SkillTree | undefined,
): Result<SkillTree | undefined, DiffReason> {
  if (row.original_tree === null) return ok(undefined);
  const folder = join(places.backups, row.backup);
  const manifest = readManifest(folder);
  if (!manifest.ok) return manifest;
  const recorded = readBackup(folder, manifest.value);
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
