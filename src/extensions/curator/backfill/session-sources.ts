// Owns what a stored session is to the filling-in of evidence, and the three places that hold some: our own state.db, hermes-agent's, and files
// `session_*.json` (curator notes 4; core notes 2.4).
import { type Dirent, readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { errorCode, errorText, known } from '#base/errors.ts';
import { type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Message } from '#core/model/message.ts';
import { countSessionsBefore, isOpenElsewhere, toldMessages, toldSessions } from '#mind/sessions/told-messages.ts';
import { copyDatabase, makeCopyFolder, removeCopies } from '#mind/sessions/transfer/copy-database.ts';
import type { HermesSession } from '#mind/sessions/transfer/map-message.ts';
import { fileTime, sessionOfFile } from '#mind/sessions/transfer/session-file.ts';
import { type HermesDatabase, openHermesDatabase } from '#mind/sessions/transfer/state-database.ts';

export interface StoredMessage {
  /** Epoch ms; anything, also no number, where the file says nonsense. */
  readonly at: number;
  readonly message: Message;
  /** It was said in the session that this one was forked from, and counts there. */
  readonly copied?: boolean;
}

export interface StoredSession {
  readonly id: string;
  readonly platform: string;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly lastActiveAt: number;
  /** A live process has it open: its last turn may still be running, and its end is still to come. */
  readonly open: boolean;
  /** Talaria ran its calls, and recorded how each ended. */
  readonly observed: boolean;
  /** In the order in which they were said. May throw while it is read. */
  readonly messages: Iterable<StoredMessage>;
}

export interface Candidate {
  readonly id: string;
  readonly path?: string;
  readonly at: number;
  read(): Result<StoredSession>;
}

export interface SessionSource {
  readonly kind: 'talaria' | 'hermes-database' | 'session-files';
  readonly path: string;
  readonly candidates: readonly Candidate[];
  /** Sessions before the window that are no candidates any more. */
  readonly old: number;
  close(): void;
}

export function ownSessions(state: Database, since: number, clock: Clock): SessionSource {
  const candidates = toldSessions(state, since).map((session): Candidate => {
    const { id, source: platform, startedAt, lastActiveAt, observed } = session;
    const read = () => {
      const open = isOpenElsewhere(state, session, clock);
      return ok({ id, platform, startedAt, lastActiveAt, observed, open, messages: toldMessages(state, session) });
    };
    return { id, at: lastActiveAt, read };
  });
  const old = countSessionsBefore(state, since);
  return { kind: 'talaria', path: state.path, candidates, old, close: () => undefined };
}

/** `path`: of hermes-agent's state.db; `cache`: folder for the copy; `since`: epoch ms. Throws `disk-full`. */
export async function hermesSessions(
  path: string,
  cache: string,
  since: number,
  clock: Clock,
): Promise<Result<SessionSource>> {
  const folder = makeCopyFolder(cache);
  const opened = await openCopy(path, join(folder, 'state.db'), clock).catch((error: unknown) => {
    removeCopies(folder);
    throw error;
  });
  if (!opened.ok) {
    removeCopies(folder);
    return opened;
  }
  const database = opened.value;
  const sessions = [...database.lastActive()];
  const young = sessions.filter(([, at]) => !(at < since));
  return ok({
    ...{ kind: 'hermes-database', path, old: sessions.length - young.length },
    candidates: young.map(([id, at]) => ({
      id: String(id),
      at: Number.isFinite(at) ? at : 0,
      read: () => ok(storedSession(database.session(id))),
    })),
    close: () => {
      database.close();
      removeCopies(folder);
    },
  });
}

async function openCopy(path: string, to: string, clock: Clock): Promise<Result<HermesDatabase>> {
  const copied = await copyDatabase(path, to, clock);
  if (!copied.ok) return copied;
  try {
    return openHermesDatabase(copied.value);
  } catch (error) {
    const code = errorCode(error);
    if (!code?.startsWith('database-')) throw error;
    return refuse(code, `${path} cannot be read (${errorText(error).replaceAll(to, 'its copy')})`);
  }
}

/** What was taken back there does not count. */
function storedSession({ session, messages }: HermesSession): StoredSession {
  const { id, source, startedAt, lastActiveAt } = session;
  return {
    ...{ id: String(id), platform: String(source), startedAt, lastActiveAt, open: false, observed: false },
    messages: messages.filter(({ state }) => state !== 'rewound'),
  };
}

const LARGEST_BYTES = 64 * 1024 * 1024;
const LONGEST_ID = 300;
const SESSION_FILE = /^session_.*\.json$/;

/** Refusal `unreadable`: it is no folder, or nobody may look into it. */
export function fileSessions(folder: string): Result<SessionSource, 'unreadable'> {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    return refuse('unreadable', errorText(error));
  }
  const names = entries.map(({ name }) => name).filter((name) => SESSION_FILE.test(name));
  const candidates = names.map((name): Candidate => {
    const path = join(folder, name);
    const id = name.slice(0, -'.json'.length).replaceAll('session_', '');
    return { id, path, at: changedAt(path), read: () => readSession(path, id) };
  });
  return ok({ kind: 'session-files', path: folder, candidates, old: 0, close: () => undefined });
}

/** 0 for what cannot be looked at: reading it will say why. */
function changedAt(path: string): number {
  return known(() => statSync(path).mtimeMs) ?? 0;
}

function readSession(path: string, id: string): Result<StoredSession> {
  try {
    const file = statSync(path);
    if (!file.isFile()) return refuse('no-file', 'no file');
    if (file.size > LARGEST_BYTES) return refuse('too-large', `larger than ${LARGEST_BYTES} bytes`);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
    const parsed = parseJsonObject(text);
    return parsed.ok ? sessionOf(parsed.value, id, file) : parsed;
  } catch (error) {
    return refuse('unreadable', errorText(error));
  }
}

function sessionOf(json: JsonObject, idOfFile: string, { mtimeMs }: Stats): Result<StoredSession> {
  const named = typeof json.session_id === 'string' ? json.session_id.replaceAll('\0', '').trim() : '';
  const id = named === '' ? idOfFile : named;
  if (id === '' || id.length > LONGEST_ID) return refuse('no-session', 'its session id is none');
  const startedAt = timeInUtc(json.session_start) ?? Math.round(mtimeMs);
  return ok(storedSession(sessionOfFile(json, { id: id.toWellFormed(), startedAt, time: timeInUtc })));
}

/** A time without a zone is in UTC. */
function timeInUtc(value: JsonValue | undefined): number | undefined {
  if (typeof value !== 'string') return fileTime(value);
  const text = value.trim();
  return fileTime(/\d[T ]\d/.test(text) && !/(?:z|[+-]\d\d:?\d\d)$/i.test(text) ? `${text}Z` : text);
}
