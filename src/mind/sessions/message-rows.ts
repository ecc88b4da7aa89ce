// Owns the way of a message into its row and back: body as JSON with the origin of every part, a clean text for reading and searching.
// Invariant: what is read back equals what was stored; a row that cannot be read is an error with its id, never a shorter history.
import type { Database } from '#base/database/connection.ts';
import { TalariaError } from '#base/errors.ts';
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
      at.id,
      call.callId.toWellFormed(),
      at.session,
      call.name.toWellFormed(),
      call.arguments.toWellFormed(),
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
    at.id,
    result.isError ? 1 : 0,
    observed.exitCode ?? null,
    observed.ms,
    observed.bytes,
    observed.refused ?? null,
    at.session,
    result.callId.toWellFormed(),
    at.session,
    result.callId.toWellFormed(),
  );
}

/** JSON that was stored by this room. */
export function storedJson<T>(text: string, what: string): T {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new TalariaError(`${what} cannot be read: ${parsed.detail}`, { code: 'database-corrupt' });
  return parsed.value as unknown as T;
}
