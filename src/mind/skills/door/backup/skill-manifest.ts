// Owns the form of `manifest.json` beside a backup (curator notes 11.2): what a version changed and what undoes it. Knows no disk.
// Invariant: written with sorted keys; what is read back is whole or refused, and files are found by the manifest's own place, so that
// a home can be moved.
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import { canonicalJson, type JsonObject, parseJson } from '#base/json.ts';
import { type Result, refuse } from '#base/result.ts';

const hash = z.string().nullable();

const supportFile = z.looseObject({
  path: z.string(),
  kind: z.string(),
  /** Content after the write; null: the file went. */
  sha256: hash,
  /** Content before it; null: there was none. */
  original_sha256: hash,
  backup_path: z.string().nullable(),
  recorded_at: z.string(),
});

const manifest = z.looseObject({
  schema_version: z.string(),
  skill_name: z.string(),
  target_path: z.string(),
  backup_path: z.string().nullable(),
  original_sha256: hash,
  new_sha256: hash,
  applied_at: z.string(),
  rolled_back: z.boolean(),
  verify: z.looseObject({ enabled: z.boolean(), passed: z.boolean().nullable() }),
  provenance: z.looseObject({ skill_name: z.string(), source: z.string(), writable: z.boolean() }),
  evidence: z.looseObject({ db_path: z.string() }),
  scheduler: z.looseObject({}),
  support_files: z.array(supportFile),
  /** Ours from here on: enough to write the version row again. */
  proposal_id: z.string(),
  actor: z.string(),
  operation: z.string(),
  /** Below the skills root. */
  folder: z.string(),
  original_tree_sha256: hash,
  new_tree_sha256: hash,
  applied_at_ms: z.number(),
  undoes_version: z.number().nullable(),
});

export type SkillManifest = z.infer<typeof manifest>;
export type ManifestFile = z.infer<typeof supportFile>;

export const MANIFEST_FILE = 'manifest.json';

export function writeManifestText(value: SkillManifest): string {
  const sorted = parseJson(canonicalJson(value as JsonObject));
  return `${JSON.stringify(sorted.ok ? sorted.value : value, null, 2)}\n`;
}

export function readManifestText(text: string): Result<SkillManifest, 'invalid-manifest'> {
  const parsed = parseJson(text);
  const read = parsed.ok ? manifest.safeParse(parsed.value) : undefined;
  if (read?.success) return { ok: true, value: read.data };
  return refuse('invalid-manifest', 'The manifest is damaged or was written by another program.');
}

/** `20260514T101502123000Z`: the folder of a backup; `turn` parts writes of one millisecond. */
export function backupStamp(epochMs: number, turn: number): string {
  const plain = isoTime(epochMs)
    .replace(/[-:]/g, '')
    .replace(/\.(\d{3})Z$/, '$1');
  return `${plain}${String(turn).padStart(3, '0')}Z`;
}
