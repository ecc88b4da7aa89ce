// Owns the way of a message into its row and back (body as JSON with the origin of every part, a clean text for reading and searching), and the seals
// of stored messages: a MAC over session, place, role and body, whose key lies beside the database and travels with it. Knows no gate.
// Invariants: what is read back equals what was stored; a row that cannot be read is an error with its id, never a shorter history; a row whose
// seal does not hold is nobody's word: all of it is foreign.
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { atomicWrite } from '#base/atomic-write.ts';
import type { Database } from '#base/database/connection.ts';
import { TalariaError } from '#base/errors.ts';
import { randomHex } from '#base/ids.ts';
import { canonicalJson, parseJson, parseJsonObject } from '#base/json.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import { type Message, messageText, type Role, type ToolMessage, toolCalls } from '#core/model/message.ts';

export interface MessageRow {
  readonly id: number;
  readonly role: string;
  readonly at: number;
  readonly body: string;
}

/** Everything about a message that its row holds; computed before the transaction. */
export interface EncodedMessage {
  readonly role: Role;
  readonly body: string;
  readonly text: string;
  readonly model: string | undefined;
  readonly calls: readonly EncodedCall[];
  readonly result: ToolMessage['parts'][0] | undefined;
}

interface EncodedCall {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
}

export function encodeMessage(message: Message): EncodedMessage {
  const { role, ...body } = message;
  return {
    role,
    body: JSON.stringify(body).toWellFormed(),
    text: messageText(message).toWellFormed(),
    model: message.role === 'assistant' ? message.model : undefined,
    calls: toolCalls(message).map((call) => ({
      callId: call.callId,
      name: call.name,
      arguments: call.malformed ?? canonicalJson(call.arguments),
    })),
    result: message.role === 'tool' ? message.parts[0] : undefined,
  };
}

export function decodeMessage(row: MessageRow, sessionId: string): StoredMessage {
  const body = parseJsonObject(row.body);
  if (!body.ok) {
    throw new TalariaError(`message ${row.id} of ${sessionId} cannot be read: ${body.detail}`, {
      code: 'database-corrupt',
      fix: 'Run `talaria doctor`.',
    });
  }
  const message = { role: row.role, ...body.value } as unknown as Message; // written by encodeMessage alone
  return { id: row.id, sessionId, at: row.at, message };
}

/** Rows of `tool_calls`: what was called, and, when the result comes, how it went. */
export function writeToolCalls(
  database: Database,
  encoded: EncodedMessage,
  at: { readonly id: number; readonly session: number },
): void {
  for (const call of encoded.calls) {
    database.run(
      'INSERT OR IGNORE INTO tool_calls(message_id, call_id, session, name, arguments) VALUES(?, ?, ?, ?, ?)',
      ...[at.id, call.callId.toWellFormed(), at.session, call.name.toWellFormed()],
      ...[call.arguments.toWellFormed()],
    );
  }
  if (encoded.result !== undefined) writeToolResult(database, encoded.result, at);
}

/** The newest call with this id gets the result: ids may come again in later turns. */
function writeToolResult(
  database: Database,
  result: ToolMessage['parts'][0],
  at: { readonly id: number; readonly session: number },
): void {
  const { observed } = result;
  database.run(
    `UPDATE tool_calls SET result_id = ?, is_error = ?, exit_code = ?, ms = ?, bytes = ?, refused = ?
     WHERE session = ? AND call_id = ? AND message_id =
       (SELECT max(message_id) FROM tool_calls WHERE session = ? AND call_id = ?)`,
    ...[at.id, result.isError ? 1 : 0, observed.exitCode ?? null, observed.ms, observed.bytes],
    ...[observed.refused ?? null, at.session, result.callId.toWellFormed(), at.session],
    ...[result.callId.toWellFormed()],
  );
}

/** JSON that was stored by this room. */
export function storedJson<T>(text: string, what: string): T {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new TalariaError(`${what} cannot be read: ${parsed.detail}`, { code: 'database-corrupt' });
  return parsed.value as unknown as T;
}

export interface SealedRow extends MessageRow {
  readonly seq: number;
  /** Null: written before there were seals, or by another hand. */
  readonly seal: Uint8Array | null;
}

/** Columns of a `SealedRow`. */
export const SEALED = 'm.id, m.role, m.at, m.body, m.seq, m.seal';

/** Beside the database; no command inside walls and no tool can read it. */
export function sealKeyPath(database: string): string {
  return `${database}.seal`;
}

const BYTES = 16;
const KEY_BYTES = 32;

class Seals {
  readonly #database: Database;
  #key: KeyObject | undefined;
  #oldest: number | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  seal(sessionId: string, { seq, role, body }: Pick<SealedRow, 'seq' | 'role' | 'body'>): Uint8Array {
    return this.#mac(`message ${sessionId.length} ${seq} ${role} ${sessionId}${body}`);
  }

  /** Rows up to the highest of the migration have no seal and count as they are. */
  holds(sessionId: string, row: SealedRow): boolean {
    if (row.seal === null) return row.id <= this.#unsealed();
    return this.#isThere() && Buffer.from(row.seal).equals(this.seal(sessionId, row));
  }

  /** Inside the migration's transaction. */
  begin(): void {
    const { highest } = this.#database.get<{ highest: number }>(
      'SELECT ifnull(max(id), 0) AS highest FROM messages',
    ) ?? {
      highest: 0,
    };
    this.#database.run('INSERT INTO seals(name, value, seal) VALUES(?, ?, ?)', MARK, highest, this.#markOf(highest));
  }

  /** Read once: it never changes. A mark that does not hold vouches for no row. */
  #unsealed(): number {
    this.#oldest ??= this.#readMark();
    return this.#oldest;
  }

  #readMark(): number {
    const mark = this.#database.get<{ value: number; seal: Uint8Array }>(
      'SELECT value, seal FROM seals WHERE name = ?',
      MARK,
    );
    return mark && this.#isThere() && Buffer.from(mark.seal).equals(this.#markOf(mark.value)) ? mark.value : 0;
  }

  #markOf(highest: number): Uint8Array {
    return this.#mac(`${MARK} ${highest}`);
  }

  #isThere(): boolean {
    return this.#key !== undefined || existsSync(sealKeyPath(this.#database.path));
  }

  #mac(text: string): Uint8Array {
    this.#key ??= readKey(sealKeyPath(this.#database.path));
    return createHmac('sha256', this.#key).update(text).digest().subarray(0, BYTES);
  }
}

const MARK = 'unsealed-until';

/** Made when it is first needed. Throws TalariaError `seal-key-invalid`. */
function readKey(path: string): KeyObject {
  if (!existsSync(path)) atomicWrite(path, `${randomHex(KEY_BYTES)}\n`);
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'hex');
  if (key.length === KEY_BYTES) return createSecretKey(key);
  throw new TalariaError(`${path} is no key of seals`, {
    code: 'seal-key-invalid',
    fix: 'Bring it back from a backup; or move it away: then what was said so far counts as foreign.',
  });
}

const opened = new WeakMap<Database, Seals>();

export function sealsOf(database: Database): Seals {
  const known = opened.get(database) ?? new Seals(database);
  opened.set(database, known);
  return known;
}

/** Of rows before this, a sealed mark says up to where they may have none. */
const SEALS = `
ALTER TABLE messages ADD COLUMN seal BLOB;
CREATE TABLE seals(
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL,
  seal BLOB NOT NULL
) WITHOUT ROWID;
`;

/** A step of the schema. */
export function beginSeals(database: Database): void {
  database.exec(SEALS);
  sealsOf(database).begin();
}

/** As `decodeMessage`, for who rests something on where words come from. */
export function decodeSealed(database: Database, row: SealedRow, sessionId: string): StoredMessage {
  const stored = decodeMessage(row, sessionId);
  return sealsOf(database).holds(sessionId, row) ? stored : { ...stored, message: disowned(stored.message) };
}

/** Nobody's word, and no record of anything that ran. */
function disowned(message: Message): Message {
  switch (message.role) {
    case 'user':
      return { ...message, parts: message.parts.map((part) => ({ ...part, origin: 'foreign' })) };
    case 'assistant':
      return {
        ...message,
        parts: message.parts.map((part) => (part.type === 'reasoning' ? part : { ...part, origin: 'foreign' })),
      };
    case 'tool': {
      const [{ observed, ...part }] = message.parts;
      const { ms, bytes } = observed;
      return { ...message, parts: [{ ...part, origin: 'foreign', observed: { ms, bytes, refused: 'not-sealed' } }] };
    }
  }
}

export interface BrokenSeal {
  readonly sessionId: string;
  readonly messageId: number;
}

/** Every message whose seal does not hold, oldest first. Reads everything. */
export function* brokenSeals(database: Database): Generator<BrokenSeal> {
  const rows = database.iterate<SealedRow & { readonly session_id: string }>(
    `SELECT ${SEALED}, s.id AS session_id FROM messages m JOIN sessions s ON s.key = m.session ORDER BY m.id`,
  );
  const seals = sealsOf(database);
  for (const row of rows) if (!seals.holds(row.session_id, row)) yield { sessionId: row.session_id, messageId: row.id };
}
