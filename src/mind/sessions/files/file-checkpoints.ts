// Owns what stood in files before calls of a session changed them: a row a file and call in state.db, the bytes as a file of the home
// beside it. Knows no tool; taking back is undo-files.ts. Invariants: copy and row are durable before the call runs; what could not be
// kept says why.
import { plural } from '#base/text.ts';
import type { Hooks } from '#core/agent/hooks.ts';
import type { FileCall, FileChange, FileKeeper } from '#core/agent/tool.ts';
import { type CheckpointPlace, type FileChangeRow, insertChange, isDone, OF_SESSION } from './file-change-rows.ts';
import { FileCopies, MOST_SESSION_BYTES } from './file-copies.ts';
import { changeAt, type FileState, isLink, MEGABYTE, readAs, readState, shownPath } from './file-state.ts';
import { FolderKeeper } from './folder-keeper.ts';

/** Of one call; the others are only looked at from outside, so that a change to them is told. */
const MOST_FILES = 2_000;

/** To the model, which pays for each word. */
const MOST_NAMED = 50;

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

interface KeptFile {
  /** Of its row. */
  readonly id: number;
  readonly path: string;
  readonly state: FileState;
  readonly isBeyond: boolean;
  readonly unkept?: string | undefined;
}

export class FileCheckpoints implements FileKeeper {
  readonly #place: CheckpointPlace;
  /** Made when the first call changes files: most turns change none. */
  #keeping: { readonly copies: FileCopies; readonly folders: FolderKeeper } | undefined;
  /** The last row before the turn that runs, by session: a retried turn has the number of the first attempt. */
  readonly #lastBefore = new Map<string, number>();

  constructor(place: CheckpointPlace) {
    this.#place = place;
  }

  #keepers() {
    const copies = this.#keeping?.copies ?? new FileCopies(this.#place);
    this.#keeping ??= { copies, folders: new FolderKeeper(this.#place, copies) };
    return this.#keeping;
  }

  /** The folder first: what it finds is older than what the call will do to the paths that it names. */
  async keep(call: FileCall, paths: readonly string[], folder?: string) {
    const whole = folder === undefined ? undefined : await this.#keepers().folders.begin(call, folder);
    const named = paths.length === 0 ? undefined : await this.#keepNamed(call, paths);
    return async (stillRuns: boolean) => {
      const told = (await named?.(stillRuns)) ?? [];
      return [...told, ...((await whole?.(stillRuns, stillRuns ? [] : paths)) ?? [])];
    };
  }

  async #keepNamed(call: FileCall, paths: readonly string[]) {
    const { copies } = this.#keepers();
    const kept = statesOf([...new Set(paths)])
      .filter(({ state: { key } }) => !isLink(key) && key !== 'special')
      .map(({ path, state, isBeyond }) => ({
        path,
        state,
        isBeyond,
        unkept: isBeyond && state.key.startsWith('large') ? BEYOND : copies.keep(call.sessionId, state),
      }));
    const rows = await this.#place.database.transaction(() =>
      kept.map((one) => {
        const change = { path: one.path, before: one.state.key, unkept: one.unkept ?? null };
        return { ...one, id: insertChange(this.#place, call, change) };
      }),
    );
    return async (stillRuns: boolean) => (stillRuns ? [] : this.#settle(rows, call.cwd));
  }

  isOwn(sessionId: string, path: string): boolean {
    const { database } = this.#place;
    const rows = database.all<FileChangeRow>(
      `SELECT * FROM file_changes WHERE ${OF_SESSION} AND path = ? AND undone_at IS NULL ORDER BY id`,
      sessionId,
      path,
    );
    const last = rows.at(-1);
    const left = last?.after ?? last?.at_end ?? null;
    return rows[0]?.before === 'none' && left === readAs(path, left).key;
  }

  stoodBefore(sessionId: string, path: string): boolean {
    return this.#keeping?.folders.stoodBefore(sessionId, path) === true;
  }

  /** What did not change leaves no row. */
  async #settle(rows: readonly KeptFile[], cwd: string): Promise<readonly FileChange[]> {
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
    // Where it fails the rows stay open: an undo then keeps what it replaces.
    await isDone(() => database.lightTransaction(write));
    const changed = seen.filter((row) => !isSame(row));
    return Promise.all(
      changed.map(({ path, state, now, unkept }) => changeAt(shownPath(path, cwd), [state, now], unkept)),
    );
  }

  /** What the owner took back is told to the model; what stands at a turn's end may be its commands' work, and is noted beside theirs. */
  readonly hooks: Hooks = {
    name: 'file-checkpoints',
    beforeTurn: async ({ sessionId }) => {
      const { database } = this.#place;
      const open = database.get(`SELECT 1 FROM file_changes WHERE ${OF_SESSION} AND before LIKE 'tree %'`, sessionId);
      if (open !== undefined) await this.#keepers().folders.recover(sessionId);
      const [newest] = database.all<{ id: number | null }>('SELECT max(id) AS id FROM file_changes');
      this.#lastBefore.set(sessionId, newest?.id ?? 0);
      const own = `${OF_SESSION} AND undone_at IS NOT NULL AND unkept IS NULL AND told = 0`;
      const rows = database.all<FileChangeRow>(`SELECT * FROM file_changes WHERE ${own} ORDER BY id`, sessionId);
      if (rows.length === 0) return [];
      await database.lightTransaction(() => database.run(`UPDATE file_changes SET told = 1 WHERE ${own}`, sessionId));
      const paths = [...new Set(rows.map(({ path }) => path))];
      const named = paths.slice(0, MOST_NAMED).join(', ') + (paths.length > MOST_NAMED ? ', …' : '');
      const text = `[The owner took back the changes to ${plural(paths.length, 'file')}; each is again as it was before: ${named}]`;
      return [{ type: 'text', text, origin: 'observed' }];
    },
    afterTurn: async ({ sessionId }) => {
      const { database } = this.#place;
      await this.#keeping?.folders.endTurn(sessionId);
      const rows = database.all<FileChangeRow>(
        `SELECT max(id) AS id, path, coalesce(after, at_end) AS after FROM file_changes
         WHERE ${OF_SESSION} AND id > ? AND undone_at IS NULL
         AND coalesce(after, at_end) IS NOT NULL GROUP BY path`,
        sessionId,
        this.#lastBefore.get(sessionId) ?? Number.MAX_SAFE_INTEGER,
      );
      const left = rows
        .map((row) => ({ ...row, now: readAs(row.path, row.after).key }))
        .filter(({ after, now }) => after !== now && now !== 'unreadable');
      if (left.length === 0) return;
      await database.lightTransaction(() => {
        for (const { id, now } of left) database.run('UPDATE file_changes SET at_end = ? WHERE id = ?', now, id);
      });
    },
  };
}
