// Owns opening the evidence for whoever reads it, so that nobody takes an empty or broken ledger for "nothing happened": one that was never filled,
// or was set aside, is filled from our own stored sessions first, once a file.
import { closeSync, existsSync, openSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { suspectMark } from '#base/database/damage.ts';
import { errorCode } from '#base/errors.ts';
import { redactSecrets } from '#base/secrets.ts';
import { plural } from '#base/text.ts';
import type { Ground, Mind, Places } from '#core/agent/room.ts';
import { hasToolMessages } from '#mind/sessions/told-messages.ts';
import { addedLine, fillEvidence } from './fill-evidence.ts';
import { ownSessions } from './session-sources.ts';

export interface BackfillSources {
  /** Without `redact` key-shaped strings are taken out. */
  readonly mind: Pick<Mind, 'state' | 'evidence'> & Partial<Pick<Mind, 'redact'>>;
  readonly places: Places;
  readonly clock: Clock;
}

/** `told`: a line for a person, when something was filled in or put aside. */
export async function openEvidence(
  ground: Ground,
  signal: AbortSignal,
): Promise<{ readonly mind: Mind; readonly told: string | undefined }> {
  const mind = await ground.open();
  return { mind, told: await ensureEvidence({ mind, places: ground.places, clock: ground.clock }, signal) };
}

/** To be awaited before evidence is read. Gives the line to tell, if a file was put aside or events were added. */
export async function ensureEvidence(sources: BackfillSources, signal: AbortSignal): Promise<string | undefined> {
  const path = sources.places.evidenceDatabase;
  const before = new Set(keptAside(path));
  const ledger = soundLedger(sources.mind.evidence);
  // The number that SQLite keeps for the program in the file itself: a new file has 0.
  const isFilled = ledger.get<{ user_version: number }>('PRAGMA user_version')?.user_version !== 0;
  if (ledger.readOnly || isFilled) return undefined;
  const filled = await fillFromOwn(sources, signal);
  // Another part of the house may have opened the file, and put it aside, before: then the filling is the first word on it.
  const aside = keptAside(path).findLast((kept) => filled !== undefined || !before.has(kept));
  const lost = `${path} was damaged and is kept as ${aside}; sessions that are stored here are read again, but ${LOST_WITH_IT}`;
  const told = [...(aside === undefined ? [] : [lost]), ...(filled === undefined ? [] : [filled])];
  return told.length === 0 ? undefined : told.join('; ');
}

async function fillFromOwn({ mind, clock }: BackfillSources, signal: AbortSignal): Promise<string | undefined> {
  if (!hasToolMessages(mind.state)) return undefined;
  const place = { ledger: mind.evidence, redact: mind.redact ?? redactSecrets, now: clock.now(), since: 0 };
  const { total } = await fillEvidence([ownSessions(mind.state, 0, clock)], place, signal);
  // Left out while another process writes: then the next one fills in what is there already.
  mind.evidence().tryRun('PRAGMA user_version = 1');
  if (total.sessions_imported === 0) return undefined;
  return `the evidence was filled in from ${plural(total.sessions_imported, 'stored session')}: ${addedLine(total)}`;
}

/** What was in a damaged file and does not come back by itself. */
const LOST_WITH_IT = 'the review queue and the rows that were read from hermes sessions were in it';

/** Absolute paths of the damaged files beside the evidence, oldest first. */
function keptAside(evidencePath: string): readonly string[] {
  const folder = dirname(evidencePath);
  const lead = `${basename(evidencePath)}.corrupt-`;
  return (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.startsWith(lead) && !/-(?:wal|shm)$/.test(name))
    .sort()
    .map((name) => join(folder, name));
}

/** For whoever asks later; undefined: none was put aside. */
export function keptAsideLine(evidencePath: string): string | undefined {
  const newest = keptAside(evidencePath).at(-1);
  if (newest === undefined) return undefined;
  return `An earlier evidence file was damaged and is kept as ${newest}: ${LOST_WITH_IT}. Delete it when you do not need it.`;
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
