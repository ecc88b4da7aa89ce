// Owns appending one message inside a transaction: counters, the row, its tool calls, its index rows. Knows nothing of batching.
// Invariant: a message and its index row are committed together; `seq` grows by one per session without holes.
import type { Database } from '#base/database/connection.ts';
import type { EncodedMessage } from './message-rows.ts';
import { writeToolCalls } from './message-rows.ts';
import { sealsOf } from './origin-seal.ts';
import { type Analysis, analyseText, FROM_ASSISTANT } from './search/analyse-text.ts';
import type { SearchLane } from './search/search-lane.ts';
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
    seq,
    turn,
    encoded.calls.length,
    at,
    encoded.model?.toWellFormed() ?? null,
    place.key,
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
