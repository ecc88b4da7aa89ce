// Owns the health of the search index: does it agree with the messages, and making it anew when it does not. For tests, `doctor` and the
// first search after damage. Invariant: messages are the truth and are never touched here.
import type { Database } from '#base/database/connection.ts';
import { errorCode } from '#base/errors.ts';
import { indexMessage, type Lanes, type PreparedMessage, prepareMessage } from './append-message.ts';
import { decodeMessage, encodeMessage, type MessageRow } from './message-rows.ts';
import { ANALYSIS_VERSION } from './search/analyse-text.ts';
import { indexTable, type LaneName } from './search/lane-tables.ts';

export interface IndexReport {
  readonly agrees: boolean;
  /** One sentence a difference. */
  readonly differences: readonly string[];
}

interface IndexableRow extends MessageRow {
  readonly session: number;
  readonly session_id: string;
  readonly seq: number;
  readonly speaker: string | null;
  readonly terms: string | null;
}

const LANES: readonly LaneName[] = ['spoken', 'tool'];
const MOST_DIFFERENCES = 20;

/** Compares every message with its terms and every term with the index. Reads everything. */
export function checkIndex(database: Database): IndexReport {
  const differences = [...LANES.flatMap((lane) => laneDifferences(database, lane)), ...termDifferences(database)];
  return { agrees: differences.length === 0, differences: differences.slice(0, MOST_DIFFERENCES) };
}

function laneDifferences(database: Database, lane: LaneName): readonly string[] {
  try {
    database.exec(`INSERT INTO ${lane}_index(${lane}_index, rank) VALUES('integrity-check', 1)`);
    return [];
  } catch (error) {
    if (errorCode(error) !== 'database-corrupt') throw error;
    return [`the ${lane} index does not hold the same words as its rows`];
  }
}

function termDifferences(database: Database): readonly string[] {
  const differences: string[] = [];
  for (const row of searchableRows(database)) {
    if (differences.length >= MOST_DIFFERENCES) return differences;
    if ((row.terms ?? '') !== prepared(row).analysis.terms)
      differences.push(`message ${row.id} is not indexed as written`);
  }
  for (const lane of LANES) {
    const orphans = database.all<{ id: number }>(
      `SELECT t.id FROM ${lane}_terms t LEFT JOIN messages m ON m.id = t.id
       WHERE m.id IS NULL OR (m.active = 0 AND m.compacted = 0) LIMIT ?`,
      MOST_DIFFERENCES,
    );
    for (const { id } of orphans) differences.push(`message ${id} is indexed but not searchable`);
  }
  return differences;
}

/** At the opening of a store: an index of another analysis is built anew. */
export function ensureIndex(database: Database, lanes: Lanes): void {
  const built = database.get<{ value: number }>("SELECT value FROM spoken_counts WHERE name = 'analysis'")?.value;
  if (built === ANALYSIS_VERSION) return;
  database.transactionSync(() => rebuildIndex(database, lanes));
}

/** Inside a transaction: drops what is derived and derives it again. */
export function rebuildIndex(database: Database, lanes: Lanes): void {
  for (const lane of LANES) emptyLane(database, lane);
  const turns = new Map<number, number>();
  for (const row of searchableRows(database)) {
    const message = prepared(row);
    if (message.analysis.terms === '') continue;
    if (row.role !== 'tool') turns.set(row.session, (turns.get(row.session) ?? 0) + 1);
    indexMessage(lanes, message, {
      id: row.id,
      session: row.session,
      seq: row.seq,
      spoken: turns.get(row.session) ?? 0,
    });
  }
  for (const [session, turn] of turns) database.run('UPDATE sessions SET last_spoken = ? WHERE key = ?', turn, session);
  lanes.spoken.count();
  lanes.tool.count();
  database.exec(`INSERT INTO spoken_counts VALUES('analysis', ${ANALYSIS_VERSION})`);
}

function emptyLane(database: Database, lane: LaneName): void {
  database.exec(`DROP TABLE IF EXISTS ${lane}_index; ${indexTable(lane)}
    DELETE FROM ${lane}_terms; DELETE FROM ${lane}_words; DELETE FROM ${lane}_counts;`);
}

function searchableRows(database: Database): IterableIterator<IndexableRow> {
  return database.iterate<IndexableRow>(
    `SELECT m.id, m.session, s.id AS session_id, m.seq, m.role, m.speaker, m.at, m.body, coalesce(p.terms, t.terms) AS terms
     FROM messages m JOIN sessions s ON s.key = m.session
       LEFT JOIN spoken_terms p ON p.id = m.id LEFT JOIN tool_terms t ON t.id = m.id
     WHERE (m.active = 1 OR m.compacted = 1) AND m.copy_of IS NULL AND m.place IS NULL ORDER BY m.id`,
  );
}

function prepared(row: IndexableRow): PreparedMessage {
  const { message } = decodeMessage(row, row.session_id);
  return prepareMessage({
    sessionId: row.session_id,
    encoded: encodeMessage(message),
    speaker: row.speaker ?? undefined,
    at: row.at,
  });
}
