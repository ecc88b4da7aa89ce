// Owns the rows of `skill_versions`, and what the ledger knows of a write besides its manifest. Knows no file.
// Invariants: one row a proposal and one number a version; a number is never reused; a manifest that was edited by hand, or lies, is found
// out before anything is restored from it (curator notes 11.4).
import { join } from 'node:path';
import type { Database, SqlValue } from '#base/database/connection.ts';
import { canonicalJson, type JsonObject } from '#base/json.ts';
import type { Actor } from '#mind/evidence/proposal.ts';
import { SKILL_FILE } from '../format/skill-text.ts';
import type { SkillVersion } from '../skill.ts';
import type { SkillManifest } from './backup.ts';
import { changesBetween, hashOfOne, type SkillTree } from './skill-tree.ts';

export interface VersionRow {
  readonly skill: string;
  readonly version: number;
  readonly parent: number | null;
  readonly actor: string;
  readonly action: string;
  /** Below the skills root. */
  readonly folder: string;
  readonly original_hash: string | null;
  readonly new_hash: string | null;
  readonly original_tree: string | null;
  readonly new_tree: string | null;
  /** Name of the folder below the backups. */
  readonly backup: string;
  readonly proposal_id: string;
  readonly at: number;
  readonly undoes: number | null;
  readonly rolled_back_at: number | null;
}

/** Inside a transaction. Gives the numbers of the new version and of the one before it. */
export function insertVersion(
  database: Database,
  manifest: SkillManifest,
  backup: string,
): { readonly version: number; readonly parent: number | null } {
  const { skill_name: skill } = manifest;
  const last = lastVersion(database, skill);
  const version = (last?.version ?? 0) + 1;
  // Version 0 is what stood there before the first write that is known.
  const parent = last?.version ?? (manifest.original_tree_sha256 === null ? null : 0);
  const { actor, operation, folder, original_sha256, new_sha256, original_tree_sha256, new_tree_sha256 } = manifest;
  database.run(
    `INSERT INTO skill_versions(skill, version, parent, actor, action, folder, original_hash, new_hash, original_tree,
       new_tree, backup, proposal_id, at, undoes) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[skill, version, parent, actor, operation, folder, original_sha256, new_sha256, original_tree_sha256],
    ...[new_tree_sha256, backup, manifest.proposal_id, manifest.applied_at_ms, manifest.undoes_version],
  );
  if (manifest.undoes_version !== null)
    markRolledBack(database, skill, manifest.undoes_version, manifest.applied_at_ms);
  return { version, parent };
}

/** Inside a transaction. Takes a version back whose write did not come to its end. */
export function deleteVersion(database: Database, proposalId: string): void {
  const row = versionOfProposal(database, proposalId);
  if (row === undefined) return;
  database.run('DELETE FROM skill_versions WHERE proposal_id = ?', proposalId);
  if (row.undoes !== null) markRolledBack(database, row.skill, row.undoes, null);
}

function markRolledBack(database: Database, skill: string, version: number, at: number | null): void {
  database.run('UPDATE skill_versions SET rolled_back_at = ? WHERE skill = ? AND version = ?', at, skill, version);
}

export function lastVersion(database: Database, skill: string): VersionRow | undefined {
  return find(database, 'skill = ? ORDER BY version DESC', skill);
}

export function findVersion(database: Database, skill: string, version: number): VersionRow | undefined {
  return find(database, 'skill = ? AND version = ?', skill, version);
}

export function versionOfProposal(database: Database, proposalId: string): VersionRow | undefined {
  return find(database, 'proposal_id = ?', proposalId);
}

export function versionOfBackup(database: Database, backup: string): VersionRow | undefined {
  return find(database, 'backup = ?', backup);
}

/** The newest version that still stands and undoes nothing itself. */
export function newestToUndo(database: Database, skill: string): VersionRow | undefined {
  return find(database, 'skill = ? AND rolled_back_at IS NULL AND undoes IS NULL ORDER BY version DESC', skill);
}

function find(database: Database, where: string, ...values: readonly SqlValue[]): VersionRow | undefined {
  return database.get<VersionRow>(`SELECT * FROM skill_versions WHERE ${where} LIMIT 1`, ...values);
}

/** Oldest first. */
export function allVersions(database: Database, skill: string): readonly VersionRow[] {
  return database.all<VersionRow>('SELECT * FROM skill_versions WHERE skill = ? ORDER BY version', skill);
}

/**
 * For each version the one that its uses count for: the last that changed more than the managed block, which is all that the curator
 * writes and all that undoing it takes back. 0: what stood there before the first write that is known.
 */
export function countedVersions(rows: readonly VersionRow[]): ReadonlyMap<number, number> {
  const counted = new Map<number, number>([[0, 0]]);
  const blocks = new Set<number>();
  for (const { version, parent, actor, undoes } of rows) {
    const isBlock = undoes === null ? actor === 'curator' : blocks.has(undoes);
    if (isBlock) blocks.add(version);
    counted.set(version, isBlock ? (counted.get(parent ?? 0) ?? 0) : version);
  }
  return counted;
}

export function asSkillVersion(row: VersionRow, backups: string): SkillVersion {
  return {
    skill: row.skill,
    version: row.version,
    actor: row.actor as Actor,
    action: row.action,
    originalHash: row.original_hash,
    newHash: row.new_hash,
    manifestPath: join(backups, row.backup, 'manifest.json'),
    proposalId: row.proposal_id,
    at: row.at,
    ...(row.parent === null ? {} : { parent: row.parent }),
    ...(row.rolled_back_at === null ? {} : { rolledBackAt: row.rolled_back_at }),
  };
}

/** For the proposal: `{files: {path: [hash before, hash after]}}`; null: there was or is none. */
export function recordedHashes(before: SkillTree | undefined, after: SkillTree | undefined): JsonObject {
  const files = changesBetween(before, after).map((change) => [
    change.path,
    [hashOfOne(change.before), hashOfOne(change.after)],
  ]);
  return { files: Object.fromEntries(files) as JsonObject };
}

/** Why the manifest is not the one that was written with the version; undefined: it is. Old proposals know no hashes of files. */
export function disagreement(
  manifest: SkillManifest,
  { row, undo }: { readonly row: VersionRow; readonly undo: JsonObject | undefined },
): string | undefined {
  const isOfRow =
    manifest.skill_name === row.skill &&
    manifest.proposal_id === row.proposal_id &&
    manifest.folder === row.folder &&
    manifest.original_sha256 === row.original_hash &&
    manifest.new_sha256 === row.new_hash &&
    manifest.original_tree_sha256 === row.original_tree &&
    manifest.new_tree_sha256 === row.new_tree;
  if (!isOfRow || (undo !== undefined && canonicalJson(undo) !== canonicalJson(hashesOf(manifest))))
    return 'the manifest was changed since it was written; nothing is restored from it.';
  return undefined;
}

/** As `recordedHashes`, out of a manifest. */
function hashesOf({ original_sha256, new_sha256, support_files }: SkillManifest): JsonObject {
  const main = original_sha256 === new_sha256 ? [] : [[SKILL_FILE, [original_sha256, new_sha256]]];
  const support = support_files.map((file) => [file.path, [file.original_sha256, file.sha256]]);
  return { files: Object.fromEntries([...main, ...support]) as JsonObject };
}
