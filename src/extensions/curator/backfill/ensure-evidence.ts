// Owns that nobody reads an empty or broken ledger for "nothing happened": a ledger that was never filled is filled from our own stored
// sessions, once a file. Knows no report. Invariants: asking again costs three small reads; a file that was put aside is named; nothing is
// told when nothing was added and nothing lost.
import type { Database } from '#base/database/connection.ts';
import { redactSecrets } from '#base/secrets.ts';
import { plural } from '#base/text.ts';
import { hasToolMessages } from '#mind/sessions/transfer/told-sessions.ts';
import { addedLine } from './backfill-report.ts';
import type { BackfillSources } from './backfill-sessions.ts';
import { fillEvidence } from './fill-evidence.ts';
import { keptAside, LOST_WITH_IT, soundLedger } from './kept-aside.ts';
import { ownSessions } from './sources/own-sessions.ts';

/** To be awaited before evidence is read. Gives the line to tell, if a file was put aside or events were added. */
export async function ensureEvidence(sources: BackfillSources, signal: AbortSignal): Promise<string | undefined> {
  const path = sources.places.evidenceDatabase;
  const before = new Set(keptAside(path));
  const ledger = soundLedger(sources.mind.evidence);
  if (ledger.readOnly || isFilled(ledger)) return undefined;
  const filled = await fillFromOwn(sources, signal);
  // Another part of the house may have opened the file, and put it aside, before: then the filling is the first word on it.
  const aside = keptAside(path).findLast((kept) => filled !== undefined || !before.has(kept));
  const told = [...(aside === undefined ? [] : [asideLine(path, aside)]), ...(filled === undefined ? [] : [filled])];
  return told.length === 0 ? undefined : told.join('; ');
}

function asideLine(path: string, aside: string): string {
  return `${path} was damaged and is kept as ${aside}; sessions that are stored here are read again, but ${LOST_WITH_IT}`;
}

async function fillFromOwn(sources: BackfillSources, signal: AbortSignal): Promise<string | undefined> {
  const { mind, clock } = sources;
  if (!hasToolMessages(mind.state)) return undefined;
  const own = ownSessions(mind.state, { since: 0, clock });
  const redact = sources.redact ?? redactSecrets;
  const place = { ledger: mind.evidence, redact, now: clock.now(), since: 0, limit: undefined };
  const { total } = await fillEvidence([own], place, signal);
  markFilled(mind.evidence());
  if (total.sessions_imported === 0) return undefined;
  return `the evidence was filled in from ${plural(total.sessions_imported, 'stored session')}: ${addedLine(total)}`;
}

/** The number that SQLite keeps for the program in the file itself: a new file has 0. */
function isFilled(ledger: Database): boolean {
  return ledger.get<{ user_version: number }>('PRAGMA user_version')?.user_version !== 0;
}

/** Left out while another process writes: then the next one fills in what is there already. */
function markFilled(ledger: Database): void {
  ledger.tryRun('PRAGMA user_version = 1');
}
