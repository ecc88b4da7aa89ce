// Owns what stood in files before calls of a session changed them: a row a file and call in state.db, the bytes as a file of the home
// beside it. Knows no tool; taking back is undo-files.ts. Invariants: copy and row are durable before the call runs; what could not be
// kept says why; a row without `after` is a call whose end nobody saw (a crash, a command in the background).
import { isUtf8 } from 'node:buffer';
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import type { Clock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import type { RoomSchema } from '#base/database/migrate.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { type LineDiff, lineDiff, shownDiff } from '#base/text/line-diff.ts';
import { plural } from '#base/text.ts';
import type { Hooks } from '#core/agent/hooks.ts';
import type { FileCall, FileChange, FileKeeper } from '#core/agent/tool.ts';
import { realPath } from '#core/tools/file/file-access.ts';
import { isWithin } from '#core/tools/risk/place.ts';

const FILE_CHANGES = `
CREATE TABLE file_changes(
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions(key) ON DELETE CASCADE,
  turn INTEGER NOT NULL,
  call_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  path TEXT NOT NULL,
  before TEXT NOT NULL,
  unkept TEXT,
  after TEXT,
  undone_at INTEGER,
  told INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX file_changes_by_session ON file_changes(session, id);
`;

const AT_END = 'ALTER TABLE file_changes ADD COLUMN at_end TEXT';

export const checkpointSchema: RoomSchema = { room: 'checkpoints', steps: [FILE_CHANGES, AT_END] };

export interface FileChangeRow {
  readonly id: number;
  readonly turn: number;
  readonly at: number;
  readonly path: string;
  /** State before the call, as `FileState` says it. */
  readonly before: string;
  readonly unkept: string | null;
  /** What the call itself left. */
  readonly after: string | null;
  /** What stood there at the end of the turn or when it was taken back, where that is not what a call left: whoever wrote it. */
  readonly at_end: string | null;
}

export interface CheckpointPlace {
  readonly database: Database;
  /** Folder of the copies, one folder a session. */
  readonly folder: string;
  readonly clock: Clock;
}

/** What stands at a path. `key` is `none`, `folder`, `link`, `special`, `unreadable`, `large …` or permission bits and hash of the bytes. */
export interface FileState {
  readonly key: string;
  readonly bytes?: Buffer;
}

const MEGABYTE = 1024 ** 2;
const MOST_FILE_BYTES = 10 * MEGABYTE;
const MOST_SESSION_BYTES = 256 * MEGABYTE;
/** Of one call; the others are only looked at from outside, so that a change to them is told. */
const MOST_FILES = 2_000;
/** A copy is for taking back what has just been done. */
const KEPT_MS = 30 * 86_400_000;

export function readState(path: string, mostBytes = MOST_FILE_BYTES): FileState {
  try {
    const facts = lstatSync(path);
    if (facts.isSymbolicLink()) return { key: 'link' };
    if (facts.isDirectory()) return { key: 'folder' };
    if (!facts.isFile()) return { key: 'special' };
    if (facts.size > mostBytes) return { key: `large ${facts.size} ${facts.mtimeMs}` };
    const bytes = readFileSync(path);
    return { key: `${(facts.mode & 0o7777).toString(8)} ${sha256(bytes)}`, bytes };
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return { key: 'none' };
    if (errorCode(error) === undefined) throw error;
    return { key: 'unreadable' };
  }
}

const UNKEPT: Readonly<Record<string, string>> = {
  folder: 'it was a folder',
  unreadable: 'it could not be read',
  large: `it was larger than ${MOST_FILE_BYTES / MEGABYTE} MB`,
};

export function copiesOf(folder: string, sessionId: string): string {
  return join(folder, sessionId.replace(/[^\w-]/g, '_'));
}

/** The copy of a state; undefined for one that has none, or whose copy is gone. */
export function copyPath(folder: string, sessionId: string, key: string): string | undefined {
  const [mode, hash] = key.split(' ');
  return mode !== 'large' && hash !== undefined ? join(copiesOf(folder, sessionId), hash) : undefined;
}

/** A kept state with its bytes; without them when the copy is gone or no longer what it was. */
export function keptState(folder: string, sessionId: string, key: string): FileState {
  const path = copyPath(folder, sessionId, key);
  if (path === undefined || !existsSync(path)) return { key };
  const bytes = readFileSync(path);
  return key.endsWith(sha256(bytes)) ? { key, bytes } : { key };
}

export interface FileCopy {
  readonly session: string;
  readonly key: string;
}

/** Inside a transaction. A session that goes as a whole takes its rows along. Gives the copies that no row names any more: they are files. */
export function forgetFileChanges(
  database: Database,
  { before, holds }: { readonly before?: number; readonly holds?: (text: string) => boolean },
): readonly FileCopy[] {
  const named = new Map(namedCopies(database).map((copy) => [`${copy.session} ${copy.key}`, copy]));
  if (before !== undefined) database.run('DELETE FROM file_changes WHERE at < ?', before);
  const rows = holds ? database.all<{ path: string }>('SELECT DISTINCT path FROM file_changes') : [];
  for (const { path } of rows) if (holds?.(path)) database.run('DELETE FROM file_changes WHERE path = ?', path);
  const hashOf = ({ session, key }: FileCopy) => `${session} ${key.split(' ')[1]}`;
  const still = new Set(namedCopies(database).map(hashOf));
  return [...named.values()].filter((copy) => !still.has(hashOf(copy)));
}

function namedCopies(database: Database): readonly FileCopy[] {
  const of = (column: string) =>
    `SELECT sessions.id AS session, ${column} AS key FROM file_changes JOIN sessions ON sessions.key = file_changes.session`;
  return database.all<FileCopy>(`${of('before')} UNION ${of('at_end')} WHERE at_end IS NOT NULL`);
}

const BEYOND = `it was one of more files than a call keeps (${MOST_FILES}, ${MOST_SESSION_BYTES / MEGABYTE} MB)`;

function statesOf(paths: readonly string[]) {
  let bytes = 0;
  return paths.map((path, i) => {
    const isBeyond = i >= MOST_FILES || bytes > MOST_SESSION_BYTES;
    const state = readState(path, isBeyond ? -1 : undefined);
    bytes += state.bytes?.length ?? 0;
    return { path, state, isBeyond };
  });
}

export class FileCheckpoints implements FileKeeper {
  readonly #place: CheckpointPlace;
  /** Bytes of copies by session, as far as this process has asked. */
  readonly #sizes = new Map<string, number>();
  /** The last row before the turn that runs, by session: a retried turn has the number of the first attempt. */
  readonly #lastBefore = new Map<string, number>();

  constructor(place: CheckpointPlace) {
    this.#place = place;
  }

  async keep(call: FileCall, paths: readonly string[]) {
    const { database, clock } = this.#place;
    const kept = statesOf([...new Set(paths)])
      .filter(({ state: { key } }) => key !== 'link' && key !== 'special')
      .map(({ path, state, isBeyond }) => ({
        path,
        state,
        isBeyond,
        unkept: isBeyond && state.key.startsWith('large') ? BEYOND : this.copy(call.sessionId, state),
      }));
    const rows = await database.transaction(() =>
      kept.map((one) => {
        const { id } = database.run(
          `INSERT INTO file_changes(session, turn, call_id, at, path, before, unkept)
           VALUES((SELECT key FROM sessions WHERE id = ?), ?, ?, ?, ?, ?, ?)`,
          ...[call.sessionId, call.turn, call.callId, clock.now()],
          ...[one.path.toWellFormed(), one.state.key, one.unkept ?? null],
        );
        return { ...one, id };
      }),
    );
    return async (stillRuns: boolean) => (stillRuns ? [] : this.#settle(rows, call.cwd));
  }

  isOwn(sessionId: string, path: string): boolean {
    const { database } = this.#place;
    const rows = database.all<FileChangeRow>(
      `SELECT * FROM file_changes WHERE session = (SELECT key FROM sessions WHERE id = ?) AND path = ? AND undone_at IS NULL
       ORDER BY id`,
      sessionId,
      path,
    );
    const last = rows.at(-1);
    return rows[0]?.before === 'none' && last?.after === readState(path).key;
  }

  /** Gives why it could not be kept. */
  copy(sessionId: string, { key, bytes }: FileState): string | undefined {
    const { folder } = this.#place;
    const path = copyPath(folder, sessionId, key);
    if (path === undefined || bytes === undefined) return UNKEPT[key.split(' ', 1)[0] ?? ''];
    if (this.#reuse(path)) return undefined;
    const size = this.#sizes.get(sessionId) ?? this.#measure(copiesOf(folder, sessionId));
    if (size + bytes.length > MOST_SESSION_BYTES) return `the copies of this session take ${sizeText(size)} already`;
    try {
      atomicWrite(path, bytes);
    } catch (error) {
      if (!(error instanceof TalariaError)) throw error;
      return errorText(error);
    }
    this.#sizes.set(sessionId, size + bytes.length);
    return undefined;
  }

  /** A folder in use is not old. */
  #reuse(path: string): boolean {
    if (!existsSync(path)) return false;
    const at = this.#place.clock.now() / 1_000;
    try {
      utimesSync(dirname(path), at, at);
    } catch (error) {
      if (errorCode(error) === undefined) throw error; // gone meanwhile, or not to be touched: what is there counts
    }
    return existsSync(path);
  }

  /** Folders that are too old go when the first copy of a session is made. */
  #measure(own: string): number {
    const { folder, clock } = this.#place;
    const all = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
    const madeAt = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? clock.now();
    const old = all.filter((path) => path !== own && madeAt(path) < clock.now() - KEPT_MS);
    for (const path of old) rmSync(path, { recursive: true, force: true });
    const sizeOf = (name: string) => statSync(join(own, name), { throwIfNoEntry: false })?.size ?? 0;
    return all.includes(own) ? readdirSync(own).reduce((sum, name) => sum + sizeOf(name), 0) : 0;
  }

  /** What did not change leaves no row. */
  async #settle(
    rows: readonly {
      readonly id: number;
      readonly path: string;
      readonly state: FileState;
      readonly isBeyond: boolean;
      readonly unkept?: string | undefined;
    }[],
    cwd: string,
  ): Promise<readonly FileChange[]> {
    const { database } = this.#place;
    const seen = rows
      .map((row) => ({ ...row, now: readState(row.path, row.isBeyond ? -1 : undefined) }))
      .filter(({ now }) => now.key !== 'unreadable');
    const isSame = ({ state, now }: (typeof seen)[number]) =>
      now.key === state.key || (state.key === 'none' && now.key === 'folder');
    const write = () => {
      for (const row of seen)
        if (isSame(row)) database.run('DELETE FROM file_changes WHERE id = ?', row.id);
        else database.run('UPDATE file_changes SET after = ? WHERE id = ?', row.now.key, row.id);
    };
    try {
      await database.lightTransaction(write);
    } catch (error) {
      if (!(error instanceof TalariaError)) throw error; // the rows stay open: an undo then keeps what it replaces
    }
    const changed = seen.filter((row) => !isSame(row));
    return Promise.all(
      changed.map(async ({ path, state, now, unkept }) => ({
        ...asChange(shownPath(path, cwd), await compareStates(state, now)),
        ...(unkept === undefined ? {} : { unkept }),
      })),
    );
  }

  /** What the owner took back is told to the model; what stands at a turn's end may be its commands' work, and is noted beside theirs. */
  readonly hooks: Hooks = {
    name: 'file-checkpoints',
    beforeTurn: async ({ sessionId }) => {
      const { database } = this.#place;
      const [newest] = database.all<{ id: number | null }>('SELECT max(id) AS id FROM file_changes');
      this.#lastBefore.set(sessionId, newest?.id ?? 0);
      const own =
        'session = (SELECT key FROM sessions WHERE id = ?) AND undone_at IS NOT NULL AND unkept IS NULL AND told = 0';
      const rows = database.all<FileChangeRow>(`SELECT * FROM file_changes WHERE ${own} ORDER BY id`, sessionId);
      if (rows.length === 0) return [];
      await database.lightTransaction(() => database.run(`UPDATE file_changes SET told = 1 WHERE ${own}`, sessionId));
      const paths = [...new Set(rows.map(({ path }) => path))];
      const text = `[The owner took back the changes to ${plural(paths.length, 'file')}; each is again as it was before: ${paths.join(', ')}]`;
      return [{ type: 'text', text, origin: 'observed' }];
    },
    afterTurn: async ({ sessionId }) => {
      const { database } = this.#place;
      const rows = database.all<FileChangeRow>(
        `SELECT max(id) AS id, path, after FROM file_changes
         WHERE session = (SELECT key FROM sessions WHERE id = ?) AND id > ? AND undone_at IS NULL AND after IS NOT NULL GROUP BY path`,
        sessionId,
        this.#lastBefore.get(sessionId) ?? Number.MAX_SAFE_INTEGER,
      );
      const left = rows
        .map((row) => ({ ...row, now: readState(row.path).key }))
        .filter(({ after, now }) => after !== now && now !== 'unreadable');
      if (left.length === 0) return;
      await database.lightTransaction(() => {
        for (const { id, now } of left) database.run('UPDATE file_changes SET at_end = ? WHERE id = ?', now, id);
      });
    },
  };
}

export type StateDiff = LineDiff & { readonly kind: FileChange['kind'] };

export async function compareStates(from: FileState, to: FileState): Promise<StateDiff> {
  const kind = from.key === 'none' ? 'created' : to.key === 'none' ? 'deleted' : 'changed';
  const [before, after] = [textOf(from), textOf(to)];
  if (before === undefined || after === undefined)
    return { kind, added: 0, removed: 0, text: `no text: ${describeState(from)}, then ${describeState(to)}\n` };
  const diff = await lineDiff(before, after);
  const [[was], [is]] = [from.key.split(' '), to.key.split(' ')];
  const modes = kind === 'changed' && was !== is ? `mode ${was}, then ${is}\n` : '';
  return { kind, ...diff, text: modes + diff.text };
}

function textOf({ key, bytes }: FileState): string | undefined {
  if (key === 'none') return '';
  return bytes && isUtf8(bytes) && !bytes.includes(0) ? bytes.toString('utf8') : undefined;
}

function describeState({ key, bytes }: FileState): string {
  const [word = '', size] = key.split(' ');
  if (word === 'large') return sizeText(Number(size));
  if (bytes) return sizeText(bytes.length);
  return size === undefined ? word : 'not kept';
}

function sizeText(bytes: number): string {
  return bytes < MEGABYTE ? plural(bytes, 'byte') : `${(bytes / MEGABYTE).toFixed(1)} MB`;
}

function asChange(path: string, { kind, added, removed, text }: StateDiff): FileChange {
  const { text: diff, more } = shownDiff(text);
  return { path, kind, added, removed, diff, more };
}

/** Relative in the working folder. */
export function shownPath(path: string, cwd: string): string {
  const folder = realPath(cwd);
  return path !== folder && isWithin(path, folder) ? relative(folder, path) : path;
}
