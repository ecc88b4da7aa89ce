// Owns taking what went out of every database of the home, and its bytes with it. Knows tables through their rooms only.
// Invariants: `state.db` is changed in one transaction, after everything that can be found through it; a stopped run is mended by the
// same run again; nothing counts as gone before the freed pages are.
import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { isDatabaseFile } from '#base/database/database-file.ts';
import { openDatabase } from '#base/database.ts';
import { forgetEvents } from '#mind/evidence/forget/forget-events.ts';
import { type ForgottenProposals, forgetProposals } from '#mind/evidence/forget/forget-proposals.ts';
import { forgetHints, forgetReviews } from '#mind/learning/forget/forget-reviews.ts';
import { type FileCopy, forgetFileChanges } from '#mind/sessions/files/file-change-rows.ts';
import { eraseFreed } from '#mind/sessions/forget/erase-freed.ts';
import { type ForgottenRows, forgetMessages } from '#mind/sessions/forget/forget-messages.ts';
import type { SelectedSession } from '#mind/sessions/forget/select-messages.ts';
import { sweepText } from '#mind/sessions/forget/sweep-text.ts';
import { SearchLane } from '#mind/sessions/search/search-lane.ts';
import type { Home } from '../../home/home.ts';
import { hasTable } from './has-table.ts';
import { filesBelow } from './home-files.ts';
import { OLD_COPY } from './still-kept.ts';

export interface StoresToForget {
  readonly sessions: readonly SelectedSession[];
  readonly text?: string;
  readonly holds?: (text: string) => boolean;
  /** Epoch ms. */
  readonly before?: number;
}

export interface ForgottenElsewhere {
  readonly events: number;
  /** Other cells that held the text. */
  readonly cells: number;
  /** Databases whose freed bytes another process still holds. */
  readonly busy: readonly string[];
}

export interface ForgottenInState extends ForgottenRows, ForgottenProposals {
  readonly reviews: number;
  /** Copies of files that no row names any more. */
  readonly copies: readonly FileCopy[];
}

/** The databases beside `state.db`: events go with their sessions, anything else loses the text. */
export async function forgetElsewhere(home: Home, what: StoresToForget, clock: Clock): Promise<ForgottenElsewhere> {
  const paths = otherDatabases(home, what.text !== undefined);
  const busy: string[] = [];
  let events = 0;
  let cells = 0;
  for (const path of paths) {
    const { database } = openDatabase(path, { rooms: [], onCorrupt: 'throw', clock });
    try {
      const done = await forgetIn(database, what, path === home.evidenceDatabase);
      events += done.events;
      cells += done.cells;
      if (done.events + done.cells > 0 && (await eraseFreed(database, clock)) === 'busy') busy.push(path);
    } finally {
      database.close();
    }
  }
  return { events, cells, busy };
}

/** What is in the cache is derived, and goes as a file. */
function otherDatabases(home: Home, all: boolean): readonly string[] {
  if (!all) return existsSync(home.evidenceDatabase) ? [home.evidenceDatabase] : [];
  return [...filesBelow(home.root)]
    .filter((name) => !OLD_COPY.test(name) && !/-(?:wal|shm|journal)$/.test(name))
    .map((name) => join(home.root, name))
    .filter((path) => path !== home.stateDatabase && !path.startsWith(home.cache + sep) && isDatabaseFile(path));
}

function forgetIn(
  database: Database,
  { sessions, text, holds, before }: StoresToForget,
  isLedger: boolean,
): Promise<{ readonly events: number; readonly cells: number }> {
  database.exec('PRAGMA secure_delete = ON');
  const what = {
    sessionIds: wholeIds(sessions),
    ...(holds ? { holds } : {}),
    ...(before === undefined ? {} : { before }),
  };
  return database.transaction(() => {
    const events = isLedger ? forgetEvents(database, what) : 0;
    return { events, cells: text === undefined || isLedger ? 0 : sweepText(database, text) };
  });
}

/** Everything of `state.db`, in one transaction. */
export function forgetInState(database: Database, what: StoresToForget): Promise<ForgottenInState> {
  const lanes = { spoken: new SearchLane(database, 'spoken'), tool: new SearchLane(database, 'tool') };
  const { sessions, holds, before } = what;
  const shared = { ...(holds ? { holds } : {}), ...(before === undefined ? {} : { before }) };
  const messageIds = new Set(sessions.flatMap(({ messages }) => messages.map(({ id }) => id)));
  database.exec('PRAGMA secure_delete = ON');
  return database.transaction(() => {
    const proposals = hasTable(database, 'proposals')
      ? forgetProposals(database, { messageIds, sessionIds: wholeIds(sessions), ...shared })
      : { quotes: 0, proposals: 0, verdicts: 0, pending: [] };
    const rows = forgetMessages(database, lanes, { sessions, ...shared });
    const copies = hasTable(database, 'file_changes') ? forgetFileChanges(database, shared) : [];
    return { ...proposals, ...rows, copies, reviews: hasTable(database, 'reviews') ? inReviews(database, what) : 0 };
  });
}

function inReviews(database: Database, { sessions, holds }: StoresToForget): number {
  return forgetReviews(database, wholeIds(sessions)) + (holds ? forgetHints(database, holds) : 0);
}

function wholeIds(sessions: readonly SelectedSession[]): ReadonlySet<string> {
  return new Set(sessions.filter(({ whole }) => whole).map(({ id }) => id));
}
