// Owns naming the damaged evidence files that were put aside, and what a person lost with one. Reads one list of names, changes nothing.
import { closeSync, openSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Database } from '#base/database/connection.ts';
import { suspectMark } from '#base/database/damage.ts';
import { errorCode } from '#base/errors.ts';

/** Absolute paths beside the evidence file, oldest first. */
export function keptAside(evidencePath: string): readonly string[] {
  const folder = dirname(evidencePath);
  const lead = `${basename(evidencePath)}.corrupt-`;
  return namesIn(folder)
    .filter((name) => name.startsWith(lead) && !/-(?:wal|shm)$/.test(name))
    .sort()
    .map((name) => join(folder, name));
}

/** What was in it and does not come back by itself. */
export const LOST_WITH_IT = 'the review queue and the rows that were read from hermes sessions were in it';

/** For whoever asks later; undefined: none was put aside. */
export function keptAsideLine(evidencePath: string): string | undefined {
  const newest = keptAside(evidencePath).at(-1);
  if (newest === undefined) return undefined;
  return `An earlier evidence file was damaged and is kept as ${newest}: ${LOST_WITH_IT}. Delete it when you do not need it.`;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Larger files are looked at only after damage was met in them. */
const QUICKLY_READ_BYTES = 64 * 1024 * 1024;

/** A broken file is opened anew, which puts it aside. */
export function soundLedger(evidence: () => Database): Database {
  const ledger = evidence();
  if (ledger.readOnly || !isDamaged(ledger)) return ledger;
  closeSync(openSync(suspectMark(ledger.path), 'a', 0o600));
  return evidence();
}

function isDamaged(ledger: Database): boolean {
  try {
    return statSync(ledger.path).size <= QUICKLY_READ_BYTES && ledger.findDamage() !== undefined;
  } catch (error) {
    if (errorCode(error) !== 'database-corrupt') throw error;
    return true;
  }
}
