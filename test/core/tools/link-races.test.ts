/** What stands behind a name is turned while a call is judged and runs: nothing outside of what was judged is read or written. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { inOpenedFolder, openRegular, readRegular } from '#base/paths/open-files.ts';
import { createFileTools } from '#core/tools/files/file-tools.ts';
import type { AnyTool, ToolOutput } from '#public/talaria.ts';
import { many } from '../../property-runs.ts';
import { verifies } from '../../verifies.ts';
import { makeToolPlace, type ToolPlaceForTest } from './place.ts';

const FLIPPER = fileURLToPath(new URL('./flip-links.ts', import.meta.url));
const SECRET = 'PRIVATE KEY outside';
const OUTSIDE_NAME = 'name-of-a-key';
const READS = many(1_000, 250);
const WRITES = many(60, 20);

describe('links that are turned', () => {
  let place: ToolPlaceForTest;
  let outside: string;
  let flipper: ChildProcess;
  let tools: ReadonlyMap<string, AnyTool>;
  /** As the loop does: judged first, then run with the same surroundings. Undefined when it is not run unasked. */
  const call = async (name: string, input: object): Promise<ToolOutput | undefined> => {
    const tool = tools.get(name);
    assert.ok(tool);
    const context = place.context();
    if (tool.risk?.(input as never, context).level !== 'none') return undefined;
    return tool.run(input as never, context, new AbortController().signal);
  };
  before(async () => {
    place = makeToolPlace();
    outside = join(place.folder, '.ssh');
    mkdirSync(outside);
    writeFileSync(join(outside, 'name.txt'), SECRET);
    writeFileSync(join(outside, OUTSIDE_NAME), SECRET);
    tools = new Map(createFileTools({ home: place.home, userHome: place.folder }).map((tool) => [tool.name, tool]));
    flipper = spawn(process.execPath, [FLIPPER, place.cwd, outside], { stdio: ['ignore', 'pipe', 'inherit'] });
    assert.ok(flipper.stdout);
    await once(flipper.stdout, 'data');
  });
  after(async () => {
    assert.equal(flipper.exitCode, null, 'links were turned to the end');
    const gone = once(flipper, 'exit');
    flipper.kill('SIGKILL');
    await gone;
    place.remove();
  });

  verifies.slow(
    'core:files:judged-is-used',
    'no read leads out, through a folder or a file that is turned',
    async () => {
      const outputs: (ToolOutput | undefined)[] = [];
      const read = async () =>
        outputs.push(await call('read_file', { path: outputs.length % 2 ? 'dir/name.txt' : 'name.txt' }));
      const met = () =>
        outputs.includes(undefined) && outputs.some((output) => output !== undefined && !output.isError);
      // Links are to be met in both ways, and then many times more.
      while (!met()) await read();
      for (let i = 0; i < READS; i += 1) await read();
      for (let i = 0; i < WRITES; i += 1) outputs.push(await call('read_file', { path: 'dir/nam' }));
      assert.ok(outputs.every((output) => !output?.text.includes(SECRET) && !output?.text.includes(OUTSIDE_NAME)));
    },
  );

  verifies('core:files:judged-is-used', 'no write leads out', async () => {
    for (let i = 0; i < WRITES; i += 1) {
      await call('write_file', { path: `dir/new/deep-${i % 7}.txt`, content: 'planted' });
      await call('write_file', { path: 'dir/name.txt', content: 'planted\n' });
      await call('patch', { path: 'dir/name.txt', old_string: 'planted', new_string: 'patched', replace_all: true });
      await call('write_file', { path: 'name.txt', content: 'planted\n' });
    }
    assert.deepEqual(readdirSync(outside).sort(), [OUTSIDE_NAME, 'name.txt']);
    assert.equal(readFileSync(join(outside, 'name.txt'), 'utf8'), SECRET);
  });

  test('no search finds what a turned link leads to', async () => {
    for (let i = 0; i < WRITES; i += 1)
      assert.ok(!(await call('search_files', { pattern: 'PRIVATE' }))?.text.includes(SECRET));
  });
});

describe('what is opened', () => {
  let place: ToolPlaceForTest;
  before(() => {
    place = makeToolPlace();
  });
  after(() => place.remove());
  const codeOf = (code: string) => (error: Error & { code?: string }) => error.code === code;

  test('a link in a path that was to have none is refused, in the middle and at the end', () => {
    const file = place.write('real/a.txt', 'a');
    symlinkSync(join(place.cwd, 'real'), join(place.cwd, 'by'));
    symlinkSync(file, join(place.cwd, 'a.txt'));
    for (const path of ['by/a.txt', 'a.txt'])
      assert.throws(() => openRegular(join(place.cwd, path), 'link-free'), codeOf('path-moved'));
    assert.equal(readRegular(join(place.cwd, 'by/a.txt'), 10).toString(), 'a');
    assert.throws(() => readRegular(file, 0), codeOf('file-too-large'));
    for (const path of ['by', 'by/new/er'])
      assert.throws(() => inOpenedFolder(join(place.cwd, path), 0o755, () => assert.fail()), codeOf('path-moved'));
    assert.equal(lstatSync(join(place.cwd, 'real/new'), { throwIfNoEntry: false }), undefined);
  });

  test('a folder that is moved while it is written keeps what is written', () => {
    const folder = join(place.cwd, 'first');
    inOpenedFolder(folder, 0o755, (name) => {
      renameSync(folder, join(place.cwd, 'second'));
      symlinkSync(place.home, folder);
      writeFileSync(join(name, 'x.txt'), 'x');
    });
    const where = process.platform === 'linux' ? join(place.cwd, 'second') : place.home;
    assert.deepEqual(readdirSync(where), ['x.txt']);
  });

  verifies(
    'core:files:regular-only',
    'pipes, sockets and devices are refused at once by every file tool',
    async (context) => {
      execFileSync('mkfifo', [join(place.cwd, 'pipe')]);
      const socket = createServer().listen(join(place.cwd, 'socket'));
      context.after(() => socket.close());
      await once(socket, 'listening');
      symlinkSync('/dev/zero', join(place.cwd, 'zero'));
      for (const tool of createFileTools({ home: place.home, userHome: place.folder })) {
        for (const path of ['pipe', 'socket', 'zero', '/dev/zero']) {
          const input = { path, pattern: 'x', content: 'x', old_string: 'x', new_string: 'y' };
          const output = await place.run(tool, input);
          assert.ok(output.isError, `${tool.name} ${path}: ${output.text}`);
          assert.match(output.text, /no ordinary file|no file or folder/);
        }
      }
      rmSync(join(place.cwd, 'zero'));
      const search = createFileTools({ home: place.home, userHome: place.folder }).find(
        ({ name }) => name === 'search_files',
      );
      assert.ok(search);
      assert.match((await place.run(search, { pattern: 'nowhere' })).text, /nothing found/);
    },
  );
});
