// Owns what commands do to a whole folder: its states are kept before a command runs, and what differs when it has ended becomes rows, as if
// the command had named each file. Knows no tool; how a folder is looked at is folder-states.ts.
// Invariants: while a command may write, a row names the states of before, so that a crash loses none of it; what the owner changed
// between commands is nobody's change; whatever is found was perhaps the owner's, so its row has no `after` and an undo keeps it aside.
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '#base/errors.ts';
import { plural } from '#base/text.ts';
import type { FileCall, FileChange } from '#core/agent/tool.ts';
import { isWithin } from '#core/tools/risk/place.ts';
import { type CheckpointPlace, type FileChangeRow, insertChange, isDone, OF_SESSION } from './file-change-rows.ts';
import { copyPath, type FileCopies, keptState, whyNotWritten } from './file-copies.ts';
import { changeAt, shownPath } from './file-state.ts';
import {
  type FolderChange,
  type FolderStates,
  folderChanges,
  type LookedAt,
  lookAtFolder,
  parseStates,
  unkeptCount,
  writtenStates,
} from './folder-states.ts';

/** A folder in which a command may be writing. */
interface Watched {
  readonly call: FileCall;
  readonly root: string;
  readonly states: FolderStates;
  /** The row that names the states; absent when they could not be written. */
  readonly row?: { readonly id: number; readonly key: string };
  /** A command runs on in the background. */
  readonly isShared: boolean;
}

/** Of one call; `/diff` shows all. */
const MOST_TOLD = 50;
/** Sessions whose folders are known by heart. */
const MOST_REMEMBERED = 16;

export class FolderKeeper {
  readonly #place: CheckpointPlace;
  readonly #copies: FileCopies;
  readonly #watched = new Map<string, Watched>();
  readonly #last = new Map<string, FolderStates>();
  readonly #told = new Set<string>();
  /** Absolute paths of the first look. */
  readonly #first = new Map<string, ReadonlySet<string>>();

  constructor(place: CheckpointPlace, copies: FileCopies) {
    this.#place = place;
    this.#copies = copies;
  }

  /** What it gives is called when the command has ended, with the paths that have rows of their own. */
  async begin(call: FileCall, root: string) {
    const nothing = async (): Promise<readonly FileChange[]> => [];
    const { sessionId } = call;
    if (this.#place.userHome !== undefined && isWithin(this.#place.userHome, root)) {
      this.#tellOnce(call, `what commands change in ${root} is not kept: it holds your own folder`);
      return nothing;
    }
    const open = this.#watched.get(sessionId);
    const looked = await this.#look(sessionId, root);
    if (!this.#first.has(sessionId))
      remember(this.#first, sessionId, new Set([...looked.states.keys()].map((path) => join(root, path))));
    const { files, folders } = unkeptCount(looked);
    if (files + folders > 0) this.#tellOnce(call, unkeptText(files, folders));
    await this.#watch({ call, root, states: looked.states, isShared: open?.isShared === true });
    if (open) await this.#record(open, folderChanges(open.root, open.states, looked.states));
    return (stillRuns: boolean, named: readonly string[]) => this.#settle(sessionId, stillRuns, named);
  }

  stoodBefore(sessionId: string, path: string): boolean {
    return this.#first.get(sessionId)?.has(path) === true;
  }

  /** What commands in the background did until now. */
  async endTurn(sessionId: string): Promise<void> {
    const watched = this.#watched.get(sessionId);
    if (!watched) return;
    const looked = await this.#lookOrNot(sessionId, watched.root);
    this.#watched.delete(sessionId);
    if (looked) await this.#record(watched, folderChanges(watched.root, watched.states, looked.states));
  }

  /** What a command did whose end nobody saw, because the program died. Only while no other process has the session. */
  async recover(sessionId: string): Promise<void> {
    if (this.#watched.has(sessionId)) return;
    const { database, folder } = this.#place;
    const rows = database.all<OpenRow>(
      `SELECT id, turn, call_id AS callId, path, before FROM file_changes
       WHERE ${OF_SESSION} AND before LIKE 'tree %' ORDER BY id`,
      sessionId,
    );
    for (const { id, turn, callId, path: root, before: key } of rows) {
      const states = parseStates(keptState(folder, sessionId, key).bytes?.toString('utf8') ?? '');
      const call = { sessionId, turn, callId, cwd: root };
      const { states: now } = await this.#look(sessionId, root);
      await this.#record({ call, root, states, row: { id, key }, isShared: false }, folderChanges(root, states, now));
    }
  }

  async #settle(sessionId: string, stillRuns: boolean, named: readonly string[]): Promise<readonly FileChange[]> {
    const watched = this.#watched.get(sessionId);
    if (!watched) return [];
    const looked = await this.#lookOrNot(sessionId, watched.root);
    if (!looked) return [];
    const has = new Set(named);
    const changes = folderChanges(watched.root, watched.states, looked.states).filter(
      ({ path }) => !has.has(join(watched.root, path)),
    );
    const isShared = watched.isShared || stillRuns;
    this.#watched.delete(sessionId);
    if (isShared && !(await this.#watchOn({ ...watched, isShared }, looked))) return [];
    await this.#record(watched, changes);
    return stillRuns ? [] : this.#tell(watched, looked, changes);
  }

  /** Undefined when the disk fails: the row stays open, so that the next turn or an undo looks again. */
  async #lookOrNot(sessionId: string, root: string): Promise<LookedAt | undefined> {
    try {
      return await this.#look(sessionId, root);
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
      return undefined;
    }
  }

  async #look(sessionId: string, root: string): Promise<LookedAt> {
    const key = `${sessionId} ${root}`;
    const { folder, clock } = this.#place;
    const looked = await lookAtFolder({
      root,
      skipped: dirname(folder),
      sessionId,
      copies: this.#copies,
      now: clock.now(),
      last: this.#last.get(key),
    });
    remember(this.#last, key, looked.states);
    return looked;
  }

  /** False when it cannot be recorded: what was watched goes on being so. */
  async #watchOn(watched: Watched, { states }: LookedAt): Promise<boolean> {
    const isWatched = await isDone(() => this.#watch({ ...watched, states }));
    if (!isWatched) this.#watched.set(watched.call.sessionId, watched);
    return isWatched;
  }

  /** Durable before it resolves. */
  async #watch(watched: Watched): Promise<void> {
    const { call, root: path } = watched;
    const key = this.#writeStates(watched);
    const insert = (before: string) => insertChange(this.#place, call, { path, before });
    const row =
      key === undefined ? {} : { row: { id: await this.#place.database.transaction(() => insert(key)), key } };
    this.#watched.set(call.sessionId, { ...watched, ...row });
  }

  /** A disk that is full must not keep the owner from the command that empties it. */
  #writeStates({ call, states }: Watched): string | undefined {
    const { text, hash } = writtenStates(states);
    const key = `tree ${hash}`;
    const path = copyPath(this.#place.folder, call.sessionId, key);
    const why = path === undefined || existsSync(path) ? undefined : whyNotWritten(path, text);
    if (why === undefined) return key;
    this.#tellOnce(call, `what commands change is kept only as long as this runs: ${why}`);
    return undefined;
  }

  /** What was found becomes rows, and the row that named the states goes. */
  async #record({ call, root, row }: Watched, changes: readonly FolderChange[]): Promise<void> {
    const { database } = this.#place;
    const { sessionId } = call;
    const insert = ({ path, before: { key, why }, after }: FolderChange) => {
      const left = after.key === 'unreadable' ? null : after.key;
      insertChange(this.#place, call, { path: join(root, path), before: key, unkept: why ?? null, at_end: left });
    };
    const write = () => {
      for (const change of changes) insert(change);
      if (row) database.run('DELETE FROM file_changes WHERE id = ?', row.id);
    };
    // Else the row stays open: the next turn, or an undo, finds the same again.
    if (!(await isDone(() => database.lightTransaction(write)))) return;
    const now = this.#last.get(`${sessionId} ${root}`);
    const isNamed = now !== undefined && row?.key === `tree ${writtenStates(now).hash}`;
    const path = row && !isNamed ? copyPath(this.#place.folder, sessionId, row.key) : undefined;
    if (path !== undefined) rmSync(path, { force: true });
  }

  async #tell(
    { call, root }: Watched,
    { sight }: LookedAt,
    changes: readonly FolderChange[],
  ): Promise<readonly FileChange[]> {
    const files = changes.filter((change) => !isFolderOnly(change) && !sight.ignores(change.path));
    if (files.length > MOST_TOLD)
      call.tell?.(`${plural(files.length - MOST_TOLD, 'more file')} changed; /diff last shows them`);
    const bytesOf = (key: string) => keptState(this.#place.folder, call.sessionId, key);
    return Promise.all(
      files.slice(0, MOST_TOLD).map(({ path, before, after }) => {
        const shown = shownPath(join(root, path), call.cwd);
        return changeAt(shown, [bytesOf(before.key), bytesOf(after.key)], before.why);
      }),
    );
  }

  #tellOnce({ sessionId, tell }: FileCall, text: string): void {
    if (this.#told.has(sessionId)) return;
    this.#told.add(sessionId);
    tell?.(text);
  }
}

type OpenRow = Pick<FileChangeRow, 'id' | 'turn' | 'path' | 'before'> & { readonly callId: string };

/** The one that was used longest ago goes. */
function remember<Value>(all: Map<string, Value>, key: string, value: Value): void {
  all.delete(key);
  all.set(key, value);
  const [oldest] = all.keys();
  if (all.size > MOST_REMEMBERED && oldest !== undefined) all.delete(oldest);
}

function isFolderOnly({ before, after }: FolderChange): boolean {
  return [before.key, after.key].every((key) => key === 'none' || key === 'folder');
}

function unkeptText(files: number, folders: number): string {
  const parts = [
    ...(files === 0 ? [] : [`${plural(files, 'file')} here`]),
    ...(folders === 0 ? [] : [plural(folders, 'folder')]),
  ];
  const verb = files + folders === 1 ? 'is' : 'are';
  return `${parts.join(' and ')} ${verb} too many or too large to be kept: /undo cannot bring back what commands change there`;
}
