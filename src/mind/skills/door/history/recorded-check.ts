// Owns whether a manifest file still says what was recorded with its version, for whoever only reads it. Knows no backup.
// Invariant: it is the rollback's own question, so that what this lets pass is not refused there as changed.
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Database } from '#base/database/connection.ts';
import { errorCode } from '#base/errors.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { readManifestText } from '../backup/skill-manifest.ts';
import { disagreement } from './recorded-hashes.ts';
import { versionOfBackup } from './version-rows.ts';

/** By state.db. True for a manifest that no version here belongs to: nothing was recorded of it. */
export function isAsRecorded(database: Database, manifestPath: string): boolean {
  const row = versionOfBackup(database, basename(dirname(manifestPath)));
  const text = row && readText(manifestPath);
  if (row === undefined || text === undefined) return true;
  const manifest = readManifestText(text);
  if (!manifest.ok) return false;
  const undo = createProposalLedger({ database }).get(row.proposal_id)?.undo;
  return disagreement(manifest.value, { row, undo }) === undefined;
}

/** Undefined: it cannot be read at all, which the reader finds out for itself. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}
