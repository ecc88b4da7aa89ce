// Owns taking back the file changes of a session's last turn, and showing what the session changed. Knows no surface.
// Invariants: every file of the turn that was kept is put back, or none is and each reason is said; a file that is no longer what the turn
// left is never touched; what no call of the turn is known to have written is kept and named; a stopped undo is mended by the same undo
// again; mode bits come back with the bytes.
import { accessSync, constants, existsSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { atomicWrite, makeFolders, syncFolder } from '#base/atomic-write.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { realPath } from '#core/tools/file/file-access.ts';
import {
  type CheckpointPlace,
  compareStates,
  copyPath,
  type FileChangeRow,
  FileCheckpoints,
  type FileState,
  keptState,
  readState,
  type StateDiff,
  shownPath,
} from './file-checkpoints.ts';

export interface ChangedTurn {
  readonly turn: number;
  /** When its last change was, epoch ms. */
  readonly at: number;
  /** As they are shown. */
  readonly paths: readonly string[];
}

export const NO_FILES = 'No file was changed in this session that could be put back.';

interface Seat {
  readonly sessionId: string;
  /** Paths below it are shown relative to it. */
  readonly cwd: string;
}

/** One file over all of its changes. */
interface FileSpan {
  readonly path: string;
  readonly before: string;
  readonly unkept: string | null;
  /** What the turn left. */
  readonly after: string | null;
  /** What its calls left, each. */
  readonly written: readonly (string | null)[];
  /** What somebody else wrote between its calls. */
  readonly between: readonly string[];
}

const OPEN_ROWS =
  'SELECT * FROM file_changes WHERE session = (SELECT key FROM sessions WHERE id = ?) AND undone_at IS NULL ORDER BY id';

/** The turn that an undo would mean. A command that is not known to have ended, and changed nothing yet, counts for nothing. */
export function lastChangedTurn(place: CheckpointPlace, { sessionId, cwd }: Seat): ChangedTurn | undefined {
  const rows = lastTurnRows(place, sessionId);
  const last = rows.at(-1);
  return last && { turn: last.turn, at: last.at, paths: spansOf(rows).map(({ path }) => shownPath(path, cwd)) };
}

function lastTurnRows({ database }: CheckpointPlace, sessionId: string): readonly FileChangeRow[] {
  const all = database.all<FileChangeRow>(OPEN_ROWS, sessionId);
  const rows = all.filter(({ before, after, path }) => after !== null || readState(path).key !== before);
  const last = rows.at(-1);
  const from = rows.findLastIndex(({ turn }) => turn !== last?.turn) + 1;
  return rows.slice(from);
}

function spansOf(rows: readonly FileChangeRow[]): readonly FileSpan[] {
  const paths = [...new Set(rows.map(({ path }) => path))];
  return paths.flatMap((path) => {
    const own = rows.filter((row) => row.path === path);
    const [first, last] = [own[0], own.at(-1)];
    if (!first || !last) return [];
    const written = own.map(({ after }) => after);
    const between = own.map(({ before }) => before).filter((key) => key !== first.before && !written.includes(key));
    return [{ path, before: first.before, unkept: first.unkept, after: last.at_end ?? last.after, written, between }];
  });
}

interface Planned extends FileSpan {
  readonly now: FileState;
  readonly was: FileState;
}

/** Gives a line for each file. Throws what the disk says; the same undo then goes on where this one stopped. */
export async function undoFiles(
  place: CheckpointPlace,
  seat: Seat,
): Promise<Result<readonly string[], 'nothing-to-undo' | 'file-changed'>> {
  const { database, folder, clock } = place;
  const { sessionId } = seat;
  const rows = lastTurnRows(place, sessionId);
  if (rows.length === 0) return refuse('nothing-to-undo', NO_FILES);
  const plan = spansOf(rows).map((span) => ({
    ...span,
    now: readState(span.path),
    was: keptState(folder, sessionId, span.before),
  }));
  const refused = plan.flatMap((one) => {
    const reason = obstacle(one) ?? keepAside(place, sessionId, one);
    return reason === undefined ? [] : [`${shownPath(one.path, seat.cwd)} ${reason}`];
  });
  if (refused.length > 0) return refuse('file-changed', `Nothing was undone: ${refused.join('; ')}.`);
  const lines = plan.flatMap((one) => putBack(place, seat, one));
  await database.transaction(() => {
    for (const { id } of rows) database.run('UPDATE file_changes SET undone_at = ? WHERE id = ?', clock.now(), id);
  });
  return ok(lines);
}

/** Why this file may not be put back; undefined when it may, or need not be. */
function obstacle({ path, before, unkept, after, now, was }: Planned): string | undefined {
  if (now.key === before || unkept !== null) return undefined;
  if (now.key === 'link' || realPath(path) !== path) return 'is reached by a link now';
  if (now.key === 'folder') return 'is a folder now';
  if (now.key === 'unreadable') return 'cannot be read';
  if (after !== null && now.key !== after) return now.key === 'none' ? 'was deleted since' : 'was changed since';
  if (before !== 'none' && was.bytes === undefined) return 'has no copy any more in the home of Talaria';
  return closedFolder(path);
}

/** Why nothing can be written below the nearest folder of this path that is there. */
function closedFolder(path: string): string | undefined {
  let folder = dirname(path);
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  if (!statSync(folder).isDirectory()) return `cannot be put back: ${folder} is a file now`;
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch {
    return `cannot be put back: ${folder} may not be written`;
  }
}

function putBack(place: CheckpointPlace, { sessionId, cwd }: Seat, one: Planned): readonly string[] {
  const { path, before, unkept, after, between, now, was } = one;
  const shown = shownPath(path, cwd);
  if (now.key === before) return after === before ? [] : [`${shown} was already as before`];
  if (unkept !== null) return [`${shown} stays as it is, nothing of it was kept: ${unkept}`];
  const others = new Set(isWritten(one) ? between : [...between, now.key]);
  const copies = [...others]
    .flatMap((key) => copyPath(place.folder, sessionId, key) ?? [])
    .filter((copy) => existsSync(copy));
  const why = after === null ? 'its change was cut off or goes on' : 'not all of it was written by calls of the turn';
  const note = copies.length === 0 ? '' : ` (${why}; what stood there is kept: ${copies.join(', ')})`;
  if (was.bytes === undefined) {
    rmSync(path, { force: true });
    syncFolder(dirname(path));
    return [`removed ${shown}${note}`];
  }
  makeFolders(dirname(path), 0o777);
  atomicWrite(path, was.bytes, { mode: Number.parseInt(before, 8) });
  return [`restored ${shown}${note}`];
}

function isWritten({ written, now }: Planned): boolean {
  return now.key === 'none' || written.includes(now.key);
}

/** What stands there may be somebody else's, so it is kept. Gives why it could not be. */
function keepAside(place: CheckpointPlace, sessionId: string, one: Planned): string | undefined {
  const { before, unkept, now } = one;
  if (now.key === before || unkept !== null || isWritten(one)) return undefined;
  const problem = new FileCheckpoints(place).copy(sessionId, now);
  return problem && `could not be kept as it is now (${problem})`;
}

export interface FileDiff extends StateDiff {
  readonly path: string;
}

/** What the files are now against what stood before the session, or before its last turn with changes. */
export async function sessionDiff(
  place: CheckpointPlace,
  seat: Seat,
  which: 'all' | 'last',
): Promise<readonly FileDiff[]> {
  const { sessionId, cwd } = seat;
  const rows =
    which === 'last' ? lastTurnRows(place, sessionId) : place.database.all<FileChangeRow>(OPEN_ROWS, sessionId);
  const pairs = spansOf(rows).map(({ path, before }) => ({
    path: shownPath(path, cwd),
    was: keptState(place.folder, sessionId, before),
    now: readState(path),
  }));
  const changed = pairs.filter(({ was, now }) => was.key !== now.key);
  return Promise.all(changed.map(async ({ path, was, now }) => ({ path, ...(await compareStates(was, now)) })));
}
