// Owns that the ledger is whole before it is read from end to end. Knows no table. Invariant: a broken file is put aside by its opening,
// never deleted; large files are not read through for a question.
import { closeSync, openSync, statSync } from 'node:fs';
import { type Database, suspectMark } from '#base/database/connection.ts';
import { errorCode } from '#base/errors.ts';

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
