// Owns taking back the file changes of a session's last turn, and showing what the session changed. Knows no surface.
// Invariants: every file of the turn that was kept is put back, or none is and each reason is said; a file that is no longer what the turn
// left is never touched; what no call of the turn is known to have written is kept aside, and stays where it cannot be; a stopped undo is
// mended by the same undo again; mode bits come back with the bytes; nothing is written through a link.
import { accessSync, constants, existsSync, readdirSync, rmdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { atomicWrite, makeFolders, syncFolder } from '#base/atomic-write.ts';
import { inOpenedFolder } from '#base/paths/open-files.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { realPath } from '#core/tools/files/file-access.ts';
import { type CheckpointPlace, type FileChangeRow, OF_SESSION } from './file-change-rows.ts';
import { copiesOf, copyPath, FileCopies, keptState } from './file-copies.ts';
import { compareStates, type FileState, isLink, readAs, type StateDiff, shownPath } from './file-state.ts';
import { FolderKeeper } from './folder-keeper.ts';

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
  /** A command changed it without naming it, or the owner did while it ran. */
  readonly isFound: boolean;
}

const OPEN_ROWS = `SELECT * FROM file_changes WHERE ${OF_SESSION} AND undone_at IS NULL ORDER BY id`;

/** The turn that an undo would mean. */
export function lastChangedTurn(place: CheckpointPlace, { sessionId, cwd }: Seat): ChangedTurn | undefined {
  const rows = lastTurnRows(place, sessionId);
  const last = rows.at(-1);
  return (
    last && { turn: last.turn, at: last.at, paths: shownSpans(spansOf(rows)).map(({ path }) => shownPath(path, cwd)) }
  );
}

/** A call that is not known to have ended counts for nothing where its turn changed nothing; else its row may hold what was there first. */
function lastTurnRows({ database }: CheckpointPlace, sessionId: string): readonly FileChangeRow[] {
  const all = database.all<FileChangeRow>(OPEN_ROWS, sessionId);
  const fileOf = ({ turn, path }: FileChangeRow) => `${turn} ${path}`;
  const isChange = ({ before, after, at_end, path }: FileChangeRow) =>
    after !== null || at_end !== null || readAs(path, before).key !== before;
  const changed = new Set(all.filter(isChange).map(fileOf));
  const rows = all.filter((row) => changed.has(fileOf(row)));
  const last = rows.at(-1);
  const from = rows.findLastIndex(({ turn }) => turn !== last?.turn) + 1;
  return rows.slice(from);
}

function spansOf(rows: readonly FileChangeRow[]): readonly FileSpan[] {
  return [...Map.groupBy(rows, ({ path }) => path)].flatMap(([path, own]) => {
    const [first, last] = [own[0], own.at(-1)];
    if (!first || !last) return [];
    const ends = own.map(({ after, at_end }) => after ?? at_end);
    const between = own.map(({ before }) => before).filter((key) => key !== first.before && !ends.includes(key));
    const isFound = own.some(({ after, at_end }) => after === null && at_end !== null);
    const { before, unkept } = first;
    return [
      {
        path,
        before,
        unkept,
        after: last.at_end ?? last.after,
        written: own.map(({ after }) => after),
        between,
        isFound,
      },
    ];
  });
}

/** A folder is worth a word when nothing in it is said. */
function shownSpans<Span extends FileSpan>(spans: readonly Span[]): readonly Span[] {
  const around = new Set(spans.flatMap(({ path }) => [...foldersAround(path)]));
  return spans.filter(({ path }) => !around.has(path));
}

function* foldersAround(path: string): Generator<string> {
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) yield at;
}

interface Planned extends FileSpan {
  readonly now: FileState;
  readonly was: FileState;
  /** Why it is left as it is. */
  readonly stays?: string | undefined;
}

/** Gives a line for each file. Throws what the disk says; the same undo then goes on where this one stopped. */
export async function undoFiles(
  place: CheckpointPlace,
  seat: Seat,
): Promise<Result<readonly string[], 'nothing-to-undo' | 'file-changed'>> {
  const { database, folder, clock } = place;
  const { sessionId } = seat;
  const copies = new FileCopies(place);
  await new FolderKeeper(place, copies).recover(sessionId);
  const rows = lastTurnRows(place, sessionId);
  if (rows.length === 0) return refuse('nothing-to-undo', NO_FILES);
  const spans = spansOf(rows).filter(({ before, after }) => before !== after);
  const plan = spans.map((span) => planOf(span, { folder, copies, sessionId }));
  const gone = new Set(plan.filter(isCleared).map(({ path }) => path));
  const refused = plan.flatMap((one) => {
    const reason = obstacle(one, gone) ?? unsafe(copies, sessionId, one);
    return reason === undefined ? [] : [`${shownPath(one.path, seat.cwd)} ${reason}`];
  });
  if (refused.length > 0) return refuse('file-changed', `Nothing was undone: ${refused.join('; ')}.`);
  const lines = putAllBack(place, seat, plan);
  await database.transaction(() => {
    for (const { id } of rows) database.run('UPDATE file_changes SET undone_at = ? WHERE id = ?', clock.now(), id);
  });
  return ok(plan.length > 0 ? lines : ['The turn left its files as they were before it: nothing had to be put back.']);
}

function planOf(
  span: FileSpan,
  { folder, copies, sessionId }: { readonly folder: string; readonly copies: FileCopies; readonly sessionId: string },
): Planned {
  const now = readHere(span.path, span.after);
  const was = keptState(folder, sessionId, span.before);
  if (now.key === span.before) return { ...span, now, was };
  if (span.unkept !== null) return { ...span, now, was, stays: `nothing of it was kept: ${span.unkept}` };
  const isBare = now.key !== 'unreadable' && (now.bytes === undefined || !copies.hasRoom(sessionId, now));
  const problem = span.isFound && isBare ? keepAside(copies, sessionId, { ...span, now }) : undefined;
  return { ...span, now, was, stays: problem && `it could not be kept aside (${problem})` };
}

/** Behind a link on the way stands something else, so nothing stands here. */
function readHere(path: string, key: string | null): FileState {
  const folder = dirname(path);
  return realPath(folder) === folder ? readAs(path, key) : { key: 'none' };
}

/** Does what stands there now go, so that a folder can be there? */
function isCleared({ before, now, stays }: Planned): boolean {
  return stays === undefined && now.key !== before && now.key !== 'folder' && now.key !== 'none';
}

/** Why this file may not be put back; undefined when it may, or need not be. */
function obstacle(one: Planned, gone: ReadonlySet<string>): string | undefined {
  const { path, before, now, was, stays } = one;
  if (now.key === before || stays !== undefined) return undefined;
  if (isLinked(one, gone)) return 'is reached by a link now';
  if (now.key === 'folder' && !mayGo(one, gone)) return 'is a folder now';
  if (now.key === 'unreadable') return 'cannot be read';
  if (isOthers(one)) return now.key === 'none' ? 'was deleted since' : 'was changed since';
  const isLost = isFile(before) && was.bytes === undefined;
  return isLost ? 'has no copy any more in the home of Talaria' : closedFolder(path, gone);
}

/** A link that the turn itself left is only what it is to take away. */
function isLinked({ path, after, now }: Planned, gone: ReadonlySet<string>): boolean {
  return isLink(now.key) ? now.key !== after : !isFreed(path, gone) && realPath(path) !== path;
}

/** Does something on the way that is no folder go before? */
function isFreed(path: string, gone: ReadonlySet<string>): boolean {
  return foldersAround(path).some((folder) => gone.has(folder));
}

/** A folder that the turn made, and that holds nothing but what it made. */
function mayGo({ path, before, after }: Planned, gone: ReadonlySet<string>): boolean {
  return after === 'folder' && (before === 'none' || isEmptied(path, gone));
}

/** It is not what the turn left, nor what an undo left that was stopped between taking one kind of thing away and putting another there. */
function isOthers({ before, after, now }: Planned): boolean {
  if (after === null || now.key === after) return false;
  const isOther = (key: string) => key === 'folder' || isLink(key);
  return now.key !== 'none' || before === 'none' || !(isOther(after) || isOther(before));
}

function isFile(key: string): boolean {
  return key !== 'none' && key !== 'folder';
}

function isEmptied(folder: string, gone: ReadonlySet<string>): boolean {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).every(
    (entry) => entry.isDirectory() || gone.has(join(entry.parentPath, entry.name)),
  );
}

/** Why nothing can be written below the nearest folder of this path that is there. */
function closedFolder(path: string, gone: ReadonlySet<string>): string | undefined {
  if (isFreed(path, gone)) return undefined;
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

/** What another kind of thing stood in the place of goes first, deepest first; then folders come before what is in them. */
function putAllBack(place: CheckpointPlace, seat: Seat, plan: readonly Planned[]): readonly string[] {
  const work = plan.filter(({ now, before, stays }) => now.key !== before && stays === undefined);
  const inOrder = work.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const removed = new Set(inOrder.toReversed().flatMap((one) => (takeAway(one) ? [one.path] : [])));
  for (const one of inOrder) putThere(one);
  const lines = shownSpans(plan).flatMap((one) => lineOf(place, seat, { ...one, isRemoved: removed.has(one.path) }));
  const isAside = work.some((one) => one.isFound && !isWritten(one) && one.now.key !== 'folder');
  return isAside
    ? [...lines, `what stood there is kept for 30 days in ${copiesOf(place.folder, seat.sessionId)}`]
    : lines;
}

/** What is replaced by its own kind is replaced in one step later. A folder with something of others in it stays. */
function takeAway({ path, before, now }: Planned): boolean {
  if (now.key === 'none' || (isFile(before) && isFile(now.key) && !isLink(before) && !isLink(now.key))) return false;
  return anchored(path, (there) => {
    if (now.key !== 'folder') rmSync(there, { force: true });
    else if (readdirSync(there).length === 0) rmdirSync(there);
    else return false;
    syncFolder(dirname(there));
    return true;
  });
}

function putThere({ path, before, was }: Planned): void {
  if (before === 'none') return;
  const { bytes } = was;
  if (bytes === undefined) {
    makeFolders(before === 'folder' ? path : dirname(path), 0o777);
    return;
  }
  anchored(path, (there) => {
    if (isLink(before)) symlinkSync(bytes.toString('utf8'), there);
    else atomicWrite(there, bytes, { mode: Number.parseInt(before, 8), keepOwner: true });
  });
}

/** A command in the background may put a link in the place of a folder at any moment: the folder that is opened here stays what it is. */
function anchored<T>(path: string, work: (there: string) => T): T {
  return inOpenedFolder(dirname(path), 0o777, (folder) => work(join(folder, basename(path))));
}

function lineOf(
  place: CheckpointPlace,
  { sessionId, cwd }: Seat,
  one: Planned & { readonly isRemoved: boolean },
): readonly string[] {
  const { path, before, after, between, now, stays } = one;
  const shown = shownPath(path, cwd);
  if (now.key === before) return [`${shown} was already as before`];
  if (stays !== undefined) return [`${shown} stays as it is, ${stays}`];
  if (before === 'none' && !one.isRemoved) return [];
  const others = new Set(isWritten(one) || one.isFound ? between : [...between, now.key]);
  const copies = [...others]
    .flatMap((key) => copyPath(place.folder, sessionId, key) ?? [])
    .filter((copy) => existsSync(copy));
  const why = after === null ? 'its change was cut off or goes on' : 'not all of it was written by calls of the turn';
  const note = copies.length === 0 ? '' : ` (${why}; what stood there is kept: ${copies.join(', ')})`;
  return [before === 'none' ? `removed ${shown}${note}` : `restored ${shown}${note}`];
}

function isWritten({ written, now }: Pick<Planned, 'written' | 'now'>): boolean {
  return now.key === 'none' || written.includes(now.key);
}

/** What stands there may be somebody else's, so it is kept. Gives why it could not be. */
function keepAside(
  copies: FileCopies,
  sessionId: string,
  one: FileSpan & { readonly now: FileState },
): string | undefined {
  return one.now.key === 'folder' || isWritten(one) ? undefined : copies.keep(sessionId, one.now);
}

function unsafe(copies: FileCopies, sessionId: string, one: Planned): string | undefined {
  const isLeft = one.now.key === one.before || one.stays !== undefined;
  const problem = isLeft ? undefined : keepAside(copies, sessionId, one);
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
    now: readHere(path, before),
  }));
  const changed = pairs.filter(({ was, now }) => was.key !== now.key && (isFile(was.key) || isFile(now.key)));
  return Promise.all(changed.map(async ({ path, was, now }) => ({ path, ...(await compareStates(was, now)) })));
}
