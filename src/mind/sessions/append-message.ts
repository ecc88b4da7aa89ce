// Owns appending one message inside a transaction (counters, the row, its tool calls, its index rows), and the health of the search index: does it
// agree with the messages, and making it anew when it does not. Knows nothing of batching. Invariants: a message and its index row are
// committed together; `seq` grows by one per session without holes; messages are the truth and are never touched by the upkeep.
import type { Database } from '#base/database/connection.ts';
import { errorCode } from '#base/errors.ts';
import {
  decodeMessage,
  type EncodedMessage,
  encodeMessage,
  type MessageRow,
  sealsOf,
  writeToolCalls,
} from './message-rows.ts';
import {
  ANALYSIS_VERSION,
  type Analysis,
  analyseText,
  FROM_ASSISTANT,
  indexTable,
  type LaneName,
  type SearchLane,
} from './search/search-lane.ts';
import { noSuchSession } from './session-rows.ts';

export interface Lanes {
  readonly spoken: SearchLane;
  readonly tool: SearchLane;
}

/** A message with everything that can be computed before the write lock is taken. */
export interface PreparedMessage {
  readonly sessionId: string;
  readonly encoded: EncodedMessage;
  readonly analysis: Analysis;
  /** Name of who speaks when it is not just the role. */
  readonly speaker: string | undefined;
  readonly at: number;
}

/** Of a tool's output only the two ends are indexed: the middle of a log is rarely asked for. */
const TOOL_HEAD = 6144;
const TOOL_TAIL = 2048;

export function prepareMessage(input: Omit<PreparedMessage, 'analysis'>): PreparedMessage {
  const { encoded } = input;
  const analysis = analyseText(encoded.result === undefined ? encoded.text : toolText(encoded));
  const flags = analysis.flags | (encoded.role === 'assistant' ? FROM_ASSISTANT : 0);
  return { ...input, analysis: { terms: analysis.terms, flags } };
}

function toolText(encoded: EncodedMessage): string {
  const text = encoded.text;
  const cut = text.length > TOOL_HEAD + TOOL_TAIL ? `${text.slice(0, TOOL_HEAD)} ${text.slice(-TOOL_TAIL)}` : text;
  return `${encoded.result?.name ?? ''} ${cut}`;
}

interface Place {
  readonly key: number;
  readonly last_seq: number;
  readonly last_spoken: number;
}

/** Gives the new message's id. Throws `no-such-session`. */
export function appendMessage(database: Database, lanes: Lanes, message: PreparedMessage): number {
  const { encoded, at } = message;
  const spoken = encoded.role !== 'tool' && message.analysis.terms !== '';
  const place = database.get<Place>('SELECT key, last_seq, last_spoken FROM sessions WHERE id = ?', message.sessionId);
  if (place === undefined) throw noSuchSession(message.sessionId);
  const seq = place.last_seq + 1;
  const turn = place.last_spoken + (spoken ? 1 : 0);
  database.run(
    `UPDATE sessions SET message_count = message_count + 1, last_seq = ?, last_spoken = ?, tool_call_count = tool_call_count + ?,
       last_active_at = max(last_active_at, ?), ended_at = NULL, model = coalesce(?, model) WHERE key = ?`,
    ...[seq, turn, encoded.calls.length, at, encoded.model?.toWellFormed() ?? null, place.key],
  );
  const { id } = database.run(
    'INSERT INTO messages(session, seq, role, speaker, at, body, text, seal) VALUES(?, ?, ?, ?, ?, ?, ?, ?)',
    place.key,
    seq,
    encoded.role,
    message.speaker ?? null,
    at,
    encoded.body,
    encoded.text,
    sealsOf(database).seal(message.sessionId, { seq, role: encoded.role, body: encoded.body }),
  );
  writeToolCalls(database, encoded, { id, session: place.key });
  if (message.analysis.terms !== '') {
    indexMessage(lanes, message, { id, session: place.key, seq, spoken: turn });
  }
  return id;
}

/** Where a message stands: its session, its number there, and its number among what was spoken there. */
export interface MessagePlace {
  readonly id: number;
  readonly session: number;
  readonly seq: number;
  readonly spoken: number;
}

/** Inside a transaction: puts the message into its lane. */
export function indexMessage(lanes: Lanes, message: PreparedMessage, place: MessagePlace): void {
  const tool = message.encoded.role === 'tool';
  if (message.speaker !== undefined) lanes.spoken.addSpeaker(message.speaker);
  const lane = tool ? lanes.tool : lanes.spoken;
  lane.add({
    id: place.id,
    session: place.session,
    turn: tool ? place.seq : place.spoken,
    speaker: message.speaker ?? message.encoded.role,
    at: message.at,
    flags: message.analysis.flags,
    terms: message.analysis.terms,
  });
}

export interface IndexReport {
  readonly agrees: boolean;
  /** One sentence a difference. */
  readonly differences: readonly string[];
}

/** A stored message with what its index row is made of. */
export interface IndexableRow extends MessageRow {
  readonly session: number;
  readonly session_id: string;
  readonly seq: number;
  readonly speaker: string | null;
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
    const message = readable(row);
    if (message === undefined || message.analysis.terms === '') continue;
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

function searchableRows(database: Database): IterableIterator<IndexableRow & { readonly terms: string | null }> {
  return database.iterate(
    `SELECT m.id, m.session, s.id AS session_id, m.seq, m.role, m.speaker, m.at, m.body, coalesce(p.terms, t.terms) AS terms
     FROM messages m JOIN sessions s ON s.key = m.session
       LEFT JOIN spoken_terms p ON p.id = m.id LEFT JOIN tool_terms t ON t.id = m.id
     WHERE (m.active = 1 OR m.compacted = 1) AND m.copy_of IS NULL AND m.place IS NULL ORDER BY m.id`,
  );
}

/** One that makes no sense is not found; who reads its session is told. */
function readable(row: IndexableRow): PreparedMessage | undefined {
  try {
    return prepared(row);
  } catch (error) {
    if (errorCode(error) === 'database-corrupt') return undefined;
    throw error;
  }
}

export function prepared(row: IndexableRow): PreparedMessage {
  const { message } = decodeMessage(row, row.session_id);
  return prepareMessage({
    sessionId: row.session_id,
    encoded: encodeMessage(message),
    speaker: row.speaker ?? undefined,
    at: row.at,
  });
}
