// Owns reading `sessions/session_<id>.json` of hermes-agent (core notes 2.5). Knows no database.
// Invariant: a file that is no session is a refusal with its reason; messages without a time follow each other from the session's start.
import { parseTime } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { readRegular } from '#base/paths/open-files.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { assembleSession, type HermesMessage, type HermesSession, stringOf, toldFacts } from './map-message.ts';

const LARGEST_BYTES = 256 * 1024 * 1024;

export function readSessionFile(path: string): Result<HermesSession, 'unreadable' | 'no-session'> {
  const text = readText(path);
  if (!text.ok) return text;
  const parsed = parseJsonObject(text.value);
  if (!parsed.ok) return refuse('no-session', `no JSON object (${parsed.detail})`);
  const id = stringOf(parsed.value.session_id);
  if (!id || !Array.isArray(parsed.value.messages)) return refuse('no-session', 'no session_id and messages in it');
  const startedAt = fileTime(parsed.value.session_start) ?? timeOfId(id) ?? 0;
  return ok(sessionOfFile(parsed.value, { id, startedAt, time: fileTime }));
}

function readText(path: string): Result<string, 'unreadable'> {
  try {
    return ok(readRegular(path, LARGEST_BYTES).toString('utf8'));
  } catch (error) {
    return refuse('unreadable', `it cannot be read: ${errorText(error)}`);
  }
}

export interface FileSession {
  readonly id: string;
  /** Epoch ms. */
  readonly startedAt: number;
  /** Reads one of the file's times. */
  readonly time: (value: JsonValue | undefined) => number | undefined;
}

/** Entries that are no objects are dropped; so is a system prompt. */
export function sessionOfFile(file: JsonObject, { id, startedAt, time }: FileSession): HermesSession {
  const entries: readonly JsonValue[] = Array.isArray(file.messages) ? file.messages : [];
  const chat = entries.filter((entry) => isJsonObject(entry)).filter(({ role }) => role !== 'system');
  const rows = chat.map(
    (entry, index): HermesMessage => ({ at: time(entry.timestamp) ?? startedAt + index, state: 'live', entry }),
  );
  const lastActiveAt = Math.max(startedAt, time(file.last_updated) ?? 0, rows.at(-1)?.at ?? 0);
  const session = { id, source: stringOf(file.platform) ?? 'cli', startedAt, lastActiveAt, ...toldFacts(file) };
  return assembleSession(session, rows, stringOf(file.chat_type));
}

/** ISO text, or epoch seconds. */
export function fileTime(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return Math.round(value * 1000);
  return typeof value === 'string' ? parseTime(value) : undefined;
}

/** `YYYYMMDD_HHMMSS_…`. */
function timeOfId(id: string): number | undefined {
  const at = /^(\d{4})(\d\d)(\d\d)_(\d\d)(\d\d)(\d\d)_/.exec(id);
  if (!at) return undefined;
  const [, year, month, day, hour, minute, second] = at;
  return parseTime(`${year}-${month}-${day}T${hour}:${minute}:${second}`);
}
