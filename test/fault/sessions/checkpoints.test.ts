/** What was kept of files while every file and database operation fails, or the process dies at it: old or new, and undo mends it. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { atomicWrite } from '#base/atomic-write.ts';
import { systemClock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { TalariaError } from '#base/errors.ts';
import { checkpointSchema } from '#mind/sessions/files/file-change-rows.ts';
import { FileCheckpoints } from '#mind/sessions/files/file-checkpoints.ts';
import { undoFiles } from '#mind/sessions/files/undo-files.ts';
import { createSqliteSessionStore, type SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { countCalls, type Faults, failEachOperation } from '#testing/faults.ts';
import { stride } from '../../property-runs.ts';
import { breakDisk, systemError } from '../failing-disk.ts';

const DATABASE: readonly (keyof Database & string)[] = ['transaction', 'lightTransaction', 'run', 'all'];

function faultOf(operation: string): Error {
  if ((DATABASE as readonly string[]).includes(operation))
    return new TalariaError(`planned: ${operation}`, { code: 'disk-full' });
  return systemError('ENOSPC', operation);
}

/** After the first fault nothing works any more, as in a process that was killed there. */
function dying(faults: Faults): Faults {
  const step = (operation: string): void => {
    if (faults.failed !== undefined) throw new Error(`the process is dead (${operation})`);
    faults.step(operation);
  };
  return { ...faults, step, wrap: (target, methods) => countCalls(target, methods, step) };
}

/** Nothing here is about a real disk: where memory can be one, it is. */
const PLACE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

interface Ground {
  readonly root: string;
  readonly cwd: string;
  readonly sessionId: string;
  readonly paths: readonly string[];
  open(): SqliteSessionStore;
  placeOf(database: Database): {
    readonly database: Database;
    readonly folder: string;
    readonly clock: typeof systemClock;
  };
}

async function makeGround(): Promise<Ground> {
  const root = realpathSync(mkdtempSync(join(PLACE, 'talaria-checkpoints-')));
  const cwd = join(root, 'work');
  mkdirSync(cwd);
  const paths = [join(cwd, 'a.txt'), join(cwd, 'b.txt')];
  for (const path of paths) writeFileSync(path, 'before', { mode: 0o640 });
  const open = () => createSqliteSessionStore({ path: join(root, 'state.db'), rooms: [checkpointSchema] });
  const store = open();
  const { id } = await store.create({ source: 'cli', cwd });
  await store.close();
  const placeOf = (database: Database) => ({ database, folder: join(root, 'checkpoints'), clock: systemClock });
  return { root, cwd, sessionId: id, paths, open, placeOf };
}

/** Does the call name the files, or is the folder around them looked at? */
type Naming = 'files are named' | 'files are found';

/** What the loop does around a call. */
async function changeAll(ground: Ground, database: Database, naming: Naming): Promise<void> {
  const { sessionId, cwd, paths, placeOf } = ground;
  const files = new FileCheckpoints(placeOf(database));
  const call = { sessionId, cwd, turn: 1, callId: 'c' };
  const settle = await (naming === 'files are named' ? files.keep(call, paths) : files.keep(call, [], cwd));
  for (const path of paths) atomicWrite(path, 'after', { mode: 0o640 });
  await settle(false);
}

async function undo({ sessionId, cwd, placeOf }: Ground, database: Database) {
  return undoFiles(placeOf(database), { sessionId, cwd });
}

/** Runs `act` on a database and a disk of which one operation fails. */
async function broken(ground: Ground, faults: Faults, act: (database: Database) => Promise<unknown>): Promise<void> {
  const store = ground.open();
  const disk = breakDisk(ground.root, faults);
  try {
    await act(faults.wrap(store.database, DATABASE));
  } finally {
    disk.mend();
    await store.close();
  }
}

function assertWhole({ paths }: Ground): void {
  for (const path of paths) {
    assert.match(readFileSync(path, 'utf8'), /^(?:before|after)$/);
    assert.equal(statSync(path).mode & 0o777, 0o640);
  }
}

describe('first hour 5: files while the machine fails', () => {
  const ways = ['one operation fails', 'the process dies'] as const;
  const namings: readonly Naming[] = ['files are named', 'files are found'];
  for (const { way, naming } of ways.flatMap((one) => namings.map((other) => ({ way: one, naming: other })))) {
    const faultsOf = (faults: Faults) => (way === 'one operation fails' ? faults : dying(faults));

    test(`first hour 5, ${naming}: ${way} between keeping and writing: old or new, and undo brings back what was kept`, async () => {
      let ground: Ground | undefined;
      const tried = await failEachOperation({
        error: faultOf,
        every: stride(5),
        run: async (faults) => {
          const made = await makeGround();
          ground = made;
          await broken(made, faultsOf(faults), (database) => changeAll(made, database, naming));
        },
        check: async ({ failed }) => {
          assert.ok(ground);
          assertWhole(ground);
          const store = ground.open();
          const undone = await undo(ground, store.database);
          await store.close();
          const said = undone.ok ? undone.value.join('\n') : undone.reason;
          assert.ok(undone.ok || undone.reason === 'nothing-to-undo', `${failed}: ${undone.ok || undone.detail}`);
          for (const path of ground.paths) {
            const isBack = readFileSync(path, 'utf8') === 'before';
            assert.ok(isBack || /stays as it is, nothing of it was kept/.test(said), `${failed}: ${path} ${said}`);
          }
          rmSync(ground.root, { recursive: true });
        },
      });
      assert.ok(tried > 20, `${tried} faults`);
    });

    test(`first hour 5, ${naming}: ${way} in the middle of an undo: old or new, and the same undo again ends it`, async () => {
      let ground: Ground | undefined;
      const tried = await failEachOperation({
        error: faultOf,
        every: stride(5),
        run: async (faults) => {
          const made = await makeGround();
          ground = made;
          const store = made.open();
          await changeAll(made, store.database, naming);
          await store.close();
          await broken(made, faultsOf(faults), (database) => undo(made, database));
        },
        check: async () => {
          assert.ok(ground);
          assertWhole(ground);
          const store = ground.open();
          const again = await undo(ground, store.database);
          await store.close();
          assert.ok(again.ok || again.reason === 'nothing-to-undo');
          for (const path of ground.paths) assert.equal(readFileSync(path, 'utf8'), 'before');
          rmSync(ground.root, { recursive: true });
        },
      });
      assert.ok(tried > 10, `${tried} faults`);
    });
  }
});
