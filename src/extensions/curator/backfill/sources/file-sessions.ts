// Owns the files `session_*.json` of a folder as a source of evidence (curator notes 4). Knows no database.
// Invariant: a file that cannot be what its name says is a refusal with its reason; none is read before its turn comes.
import { type Dirent, readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, errorText } from '#base/errors.ts';
import { type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { fileTime, sessionOfFile } from '#mind/sessions/transfer/hermes/session-file.ts';
import type { Candidate, SessionSource, StoredSession } from '../stored-session.ts';
import { storedSession } from './hermes-sessions.ts';

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
  return ok({
    kind: 'session-files',
    path: folder,
    candidates: names.map((name) => candidate(folder, name)),
    old: 0,
    close: () => undefined,
  });
}

function candidate(folder: string, name: string): Candidate {
  const path = join(folder, name);
  const id = name.slice(0, -'.json'.length).replaceAll('session_', '');
  return { id, path, at: changedAt(path), read: () => readSession(path, id) };
}

/** 0 for what cannot be looked at: reading it will say why. */
function changedAt(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return 0;
  }
}

function readSession(path: string, id: string): Result<StoredSession> {
  try {
    const file = statSync(path);
    if (!file.isFile()) return refuse('no-file', 'no file');
    if (file.size > LARGEST_BYTES) return refuse('too-large', `larger than ${LARGEST_BYTES} bytes`);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
    const parsed = parseJsonObject(text);
    return parsed.ok ? sessionOf(parsed.value, { id, file }) : parsed;
  } catch (error) {
    return refuse('unreadable', errorText(error));
  }
}

function sessionOf(json: JsonObject, given: { readonly id: string; readonly file: Stats }): Result<StoredSession> {
  const named = typeof json.session_id === 'string' ? json.session_id.replaceAll('\0', '').trim() : '';
  const id = named === '' ? given.id : named;
  if (id === '' || id.length > LONGEST_ID) return refuse('no-session', 'its session id is none');
  const startedAt = timeInUtc(json.session_start) ?? Math.round(given.file.mtimeMs);
  return ok(storedSession(sessionOfFile(json, { id: id.toWellFormed(), startedAt, time: timeInUtc })));
}

/** A time without a zone is in UTC. */
function timeInUtc(value: JsonValue | undefined): number | undefined {
  if (typeof value !== 'string') return fileTime(value);
  const text = value.trim();
  return fileTime(/\d[T ]\d/.test(text) && !/(?:z|[+-]\d\d:?\d\d)$/i.test(text) ? `${text}Z` : text);
}
