/** Bad input and broken machines, seen through the tools: huge output, full disks, files that change or vanish. */
import assert from 'node:assert/strict';
import { closeSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createFileTools } from '#core/tools/files/file-tools.ts';
import { createTerminalTool } from '#core/tools/terminal/terminal-tool.ts';
import { makeToolPlace, type ToolPlaceForTest } from '../core/tools/place.ts';
import { createPlainWalls } from '../doubles/plain-walls.ts';
import { slow } from '../slow.ts';

const MEGABYTE = 1024 * 1024;

describe('fault: tools', () => {
  let place: ToolPlaceForTest;
  const made = createTerminalTool({ walls: createPlainWalls(), env: { PATH: process.env.PATH } });
  before(() => {
    place = makeToolPlace();
  });
  after(async () => {
    await made.closeAll();
    place.remove();
  });
  const terminal = () => made.tools[0] ?? assert.fail();
  const file = (name: string) => createFileTools().find((tool) => tool.name === name) ?? assert.fail();

  slow('200 MB of output are never held as a whole and are all in the spill file', async () => {
    const watch = watchMemory();
    const output = await place.run(terminal(), { command: 'head -c 200000000 /dev/zero | tr "\\0" x' });
    assert.ok(place.chunks.join('').length < 2 * MEGABYTE, 'the surface is not flooded');
    const growth = watch();
    assert.equal(output.totalBytes, 200_000_000);
    assert.equal(statSync(output.spill ?? '').size, 200_000_000);
    assert.ok(output.text.length < 60_000);
    assert.ok(growth < 180 * MEGABYTE, `${Math.round(growth / MEGABYTE)} MB`);
    rmSync(output.spill ?? '');
  });

  it('a window far into a large file is read in bounded memory', async () => {
    const path = join(place.cwd, 'large.txt');
    const block = Buffer.from(`${'x'.repeat(99)}\n`.repeat(10_000));
    const handle = openSync(path, 'w');
    for (let i = 0; i < 100; i += 1) writeSync(handle, block);
    closeSync(handle);
    const watch = watchMemory();
    const output = await place.run(file('read_file'), { path, offset: 900_000, limit: 3 });
    const growth = watch();
    assert.match(
      output.text,
      /^x{99}\nx{99}\nx{99}\n\[lines 900000-900002 of (?:1000000|many); go on with offset 900003\]$/,
    );
    assert.ok(growth < 64 * MEGABYTE, `${Math.round(growth / MEGABYTE)} MB`);
    rmSync(path);
  });

  it('a disk that cannot take the spill costs the middle of the output and nothing else', async () => {
    place.write('not-a-folder', '');
    const output = await place.run(
      terminal(),
      { command: 'seq 1 50000' },
      { spillFolder: join(place.cwd, 'not-a-folder/spill') },
    );
    assert.ok(output.text.startsWith('1\n2\n'));
    assert.match(output.text, /\[the whole output could not be saved: /);
    assert.equal(output.spill, undefined);
  });

  it('a write that fails leaves the old file and no other one', async () => {
    place.write('kept/a.txt', 'old');
    const name = `${'n'.repeat(300)}.txt`;
    const output = await place.run(file('write_file'), { path: `kept/${name}`, content: 'new' });
    assert.equal(output.isError, true);
    assert.match(output.text, /^cannot write kept\/n+/);
    assert.deepEqual(readdirSync(join(place.cwd, 'kept')), ['a.txt']);
    assert.equal(readFileSync(join(place.cwd, 'kept/a.txt'), 'utf8'), 'old');
  });

  it('a folder that vanishes while it is searched is no failure', async () => {
    for (let i = 0; i < 50; i += 1) place.write(`gone/${i}/x.txt`, 'word');
    const searching = place.run(file('search_files'), { pattern: 'word', path: 'gone' });
    for (let i = 0; i < 50; i += 2) rmSync(join(place.cwd, `gone/${i}`), { recursive: true, force: true });
    assert.equal((await searching).isError, undefined);
  });

  it('a command whose working folder vanished says so', async () => {
    const output = await place.run(terminal(), { command: 'pwd' }, { cwd: join(place.cwd, 'removed') });
    assert.match(output.text, /there is no folder .*removed/);
  });

  it('many commands leave no process and no open file behind', async () => {
    const before = readdirSync('/proc/self/fd').length;
    await Promise.all(Array.from({ length: 12 }, () => place.run(terminal(), { command: 'seq 1 3 | cat' })));
    assert.ok(readdirSync('/proc/self/fd').length <= before + 2);
  });
});

/** Growth of resident memory since the call, at its highest. */
/** All tests share this process: what waits to be collected counts too, so that the bounds below are wide. */
function watchMemory(): () => number {
  const before = process.memoryUsage.rss();
  let highest = before;
  const timer = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage.rss());
  }, 10);
  return () => {
    clearInterval(timer);
    return Math.max(highest, process.memoryUsage.rss()) - before;
  };
}
