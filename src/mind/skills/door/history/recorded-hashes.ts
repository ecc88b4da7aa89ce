// Owns what the ledger knows of a write besides its manifest: the hash of every file before and after. Knows no disk.
// Invariant: a manifest that was edited by hand, or lies, is found out before anything is restored from it (curator notes 11.4).
import { sha256 } from '#base/ids.ts';
import { canonicalJson, type JsonObject } from '#base/json.ts';
import { SKILL_FILE } from '../../format/skill-limits.ts';
import type { SkillManifest } from '../backup/skill-manifest.ts';
import { changesBetween, type SkillFile, type SkillTree } from '../skill-tree.ts';
import type { VersionRow } from './version-rows.ts';

/** For the proposal: `{files: {path: [hash before, hash after]}}`; null: there was or is none. */
export function recordedHashes(before: SkillTree | undefined, after: SkillTree | undefined): JsonObject {
  const files = changesBetween(before, after).map((change) => [
    change.path,
    [hashOf(change.before), hashOf(change.after)],
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

function hashOf(file: SkillFile | undefined): string | null {
  return file === undefined ? null : sha256(file.bytes);
}
