/** What one look at a folder sees, and what differs between two: real folders. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { FileCopies } from '#mind/sessions/files/file-copies.ts';
import { readState } from '#mind/sessions/files/file-state.ts';
import {
  type FolderStates,
  folderChanges,
  lookAtFolder,
  parseStates,
  unkeptCount,
  walkFolder,
  writtenStates,
} from '#mind/sessions/files/folder-states.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { slow } from '../../../slow.ts';

interface Ground {
  readonly root: string;
  readonly copies: string;
  write(name: string, text: string | Buffer): void;
  look(last?: FolderStates): ReturnType<typeof lookAtFolder>;
}

function makeGround(t: TestContext): Ground {
  const temp = realpathSync(createTempHome(t).path);
  const root = join(temp, 'work');
  const home = join(temp, 'home');
  mkdirSync(root);
  const copies = new FileCopies({ folder: join(home, 'checkpoints'), clock: systemClock });
  return {
    root,
    copies: join(home, 'checkpoints/s'),
    write: (name, text) => {
      mkdirSync(join(root, name, '..'), { recursive: true });
      writeFileSync(join(root, name), text);
    },
    look: (last) =>
      lookAtFolder({ root, skipped: home, sessionId: 's', copies, now: systemClock.now() + 60_000, last }),
  };
}

const pathsOf = (changes: readonly { readonly path: string }[]): readonly string[] =>
  changes.map(({ path }) => path).sort();

describe('a look at a folder', () => {
  test('what did not change is not read again, and the same folder gives the same value', async (t) => {
    const ground = makeGround(t);
    ground.write('a.txt', 'a');
    ground.write('d/b.txt', 'b');
    const first = await ground.look();
    assert.deepEqual(readdirSync(ground.copies).length, 2);
    const second = await ground.look(first.states);
    assert.equal(second.states, first.states);
    ground.write('d/b.txt', 'c');
    const third = await ground.look(first.states);
    assert.equal(third.states.get('a.txt'), first.states.get('a.txt'));
    assert.deepEqual(pathsOf(folderChanges(ground.root, first.states, third.states)), ['d/b.txt']);
  });

  test('a copy that went is made again', async (t) => {
    const ground = makeGround(t);
    ground.write('a.txt', 'a');
    const { states } = await ground.look();
    rmSync(ground.copies, { recursive: true });
    await ground.look(states);
    assert.equal(readFileSync(join(ground.copies, readdirSync(ground.copies)[0] ?? ''), 'utf8'), 'a');
  });

  test('same size and times set back: the change is seen', async (t) => {
    const ground = makeGround(t);
    ground.write('a.txt', 'aaa');
    utimesSync(join(ground.root, 'a.txt'), 1, 1);
    const before = await ground.look();
    ground.write('a.txt', 'bbb');
    utimesSync(join(ground.root, 'a.txt'), 1, 1);
    const after = await ground.look(before.states);
    assert.deepEqual(pathsOf(folderChanges(ground.root, before.states, after.states)), ['a.txt']);
  });

  test('a file that changed in the instant of the look is read again', async (t) => {
    const ground = makeGround(t);
    ground.write('a.txt', 'aaa');
    const copies = new FileCopies({ folder: join(ground.copies, '..'), clock: systemClock });
    const look = { root: ground.root, skipped: ground.copies, sessionId: 's', copies, now: 0 };
    const { states } = await lookAtFolder(look);
    assert.equal(states.get('a.txt')?.stamp, undefined);
  });

  slow('beyond 5,000 entries folders are closed, and nothing that was not seen is taken for new or gone', async (t) => {
    const ground = makeGround(t);
    for (let i = 0; i < 5_100; i += 1) ground.write(`d${Math.floor(i / 100)}/${i}`, '');
    ground.write('zz/last.txt', 'x');
    const before = walkFolder(ground.root);
    assert.equal(before.entries.get('zz')?.closed, 'many');
    const looked = await ground.look();
    assert.deepEqual(unkeptCount(looked).folders > 0, true);
    rmSync(join(ground.root, 'd0'), { recursive: true });
    rmSync(join(ground.root, 'd1'), { recursive: true });
    const after = await ground.look(looked.states);
    assert.equal(after.states.get('zz/last.txt')?.key.includes(' '), true);
    const changes = folderChanges(ground.root, looked.states, after.states);
    assert.equal(
      changes.every(({ after: { key } }) => key === 'none'),
      true,
    );
    assert.deepEqual([...new Set(changes.map(({ path }) => path.split('/')[0]))].sort(), ['d0', 'd1']);
  });

  test('a folder that cannot be read is closed, and a device behind a link is not opened', async (t) => {
    const ground = makeGround(t);
    ground.write('shut/a', 'a');
    chmodSync(join(ground.root, 'shut'), 0);
    symlinkSync('/dev/zero', join(ground.root, 'zero'));
    const { states } = await ground.look();
    chmodSync(join(ground.root, 'shut'), 0o700);
    if (process.getuid?.() !== 0) assert.equal(states.get('shut')?.key, 'closed');
    assert.match(states.get('zero')?.key ?? '', /^link /);
  });

  test('states are written and read back as they were', async (t) => {
    const ground = makeGround(t);
    ground.write('a "quoted"\nname', 'a');
    ground.write('big', Buffer.alloc(1024 ** 2 + 1));
    mkdirSync(join(ground.root, 'node_modules'));
    const { states } = await ground.look();
    const read = parseStates(writtenStates(states).text);
    assert.deepEqual(folderChanges(ground.root, read, states), []);
    assert.deepEqual([...read.keys()], [...states.keys()]);
  });

  test('what is reached through a link on the way is not read', (t) => {
    const ground = makeGround(t);
    ground.write('real/secret', 'SECRET');
    symlinkSync('real', join(ground.root, 'way'));
    assert.deepEqual(readState(join(ground.root, 'way/secret')), { key: 'unreadable' });
    renameSync(join(ground.root, 'real'), join(ground.root, 'other'));
    assert.equal(existsSync(join(ground.root, 'way')), false);
  });
});
