/** Commands that run while others start: what they turn meanwhile leads no wall elsewhere, and nothing that they plant is swallowed. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { makeWallsScene, noWalls, SENTINEL, type WallsScene } from '../../core/tools/walls-scene.ts';

const using = async (use: (scene: WallsScene) => Promise<void>, options: Parameters<typeof makeWallsScene>[0] = {}) => {
  const scene = makeWallsScene(options);
  try {
    await use(scene);
  } finally {
    await scene.close();
  }
};

/** Exchanges `a` and `b` without end. */
const flipping = (a: string, b: string, first: string) => `${first}
echo flipping
exec python3 -c "
import ctypes, time
libc = ctypes.CDLL(None)
while True:
  libc.renameat2(-100, b'${a}', -100, b'${b}', 2)
  time.sleep(0.002)
"`;

describe('walls: commands beside each other', { skip: noWalls() ?? false }, () => {
  const flips = [
    ['.git/info', '.git/alt', 'mkdir .git/info; touch .git/info/attributes; ln -s ../.. .git/alt'],
    ['.git/hooks', '.git/alt', 'mkdir .git/hooks; ln -s ../../.ssh .git/alt'],
    ['AGENTS.md', 'alt', 'echo x > AGENTS.md; ln -s ../.ssh/id_rsa alt'],
  ] as const;
  for (const [a, b, first] of flips)
    it(`${a}, turned while commands start, binds nothing of the home`, () =>
      using(async ({ run, serve, write, home }) => {
        write('proj/.git/config', '[core]\n');
        const job = await serve(flipping(a, b, first), 'flipping');
        for (let i = 0; i < 150; i += 1) {
          const { text } = await run(`cat ${a} ${a}/.ssh/id_rsa ${a}/id_rsa ${b}; echo x > ${a}/planted; true`);
          assert.ok(!text.includes(SENTINEL), text);
        }
        await job.stop();
        assert.ok(!existsSync(join(home, 'planted')) && !existsSync(join(home, '.ssh/planted')));
      }));

  it('what was opened below the private home is not opened where it could be led elsewhere', () =>
    using(async ({ run, serve, write, home }) => {
      const path = join(home, '.fresh/deep/tool');
      write('.fresh/deep/tool/x', 'plain');
      const openings = [{ kind: 'write' as const, path }];
      const first = 'mkdir -p ~/.fresh/deep; ln -s /etc ~/.alt';
      const job = await serve(flipping(`${home}/.fresh`, `${home}/.alt`, first), 'flipping');
      assert.notEqual((await run(`cat ${path}/x`, { openings })).exitCode, 0);
      await job.stop();
    }));

  it('a folder that was replaced is not the one that was opened', () =>
    using(
      async ({ run, home, folder }) => {
        await run('cd ~/work; mv org o2; mkdir org; ln -s ../../.ssh org/proj');
        assert.equal((await run('cat id_rsa; pwd')).text.includes(SENTINEL), false);
        assert.ok(existsSync(folder) && !existsSync(join(home, 'work/o2')));
        // By a session that sees it from further up.
        const above = { sessionId: 's2', folder: join(home, 'work'), cwd: join(home, 'work') };
        assert.equal((await run('mv org o2; mkdir org; ln -s ../../.ssh org/proj', above)).exitCode, 0);
        await assert.rejects(run('cat id_rsa'), { code: 'folder-moved' });
      },
      { paths: ['~/work'], project: 'work/org/proj' },
    ));

  it('a folder that is written anyway is not led elsewhere by its further name', () =>
    using(
      async ({ run, folder, home }) => {
        mkdirSync(join(folder, 'a/cache'), { recursive: true });
        await run('true');
        renameSync(join(folder, 'a'), join(folder, 'b'));
        mkdirSync(join(folder, 'a'));
        symlinkSync('../../other', join(folder, 'a/cache'));
        assert.notEqual((await run('echo x > ~/other/planted')).exitCode, 0);
        assert.ok(!existsSync(join(home, 'other/planted')));
      },
      { paths: ['~/proj/a/cache'] },
    ));

  it('a session in a folder that a running command could move waits for its end', () =>
    using(async ({ run, serve, folder }) => {
      const sub = join(folder, 'sub');
      mkdirSync(sub);
      const change = { sessionId: 's2', folder: sub, cwd: sub };
      const job = await serve('echo up; sleep 600', 'up');
      await assert.rejects(run('true', change), { code: 'folder-in-use' });
      await job.stop();
      assert.equal((await run('echo on', change)).text, 'on\n');
    }));

  it('the owner goes on writing while a job runs: what was there before it is no finding', () =>
    using(async ({ run, serve, write, folder }) => {
      write('proj/AGENTS.md', 'mine');
      const job = await serve('echo up; sleep 600', 'up');
      writeFileSync(join(folder, 'AGENTS.md'), 'still mine');
      assert.deepEqual((await run('true')).met.planted, []);
      await job.stop();
      assert.equal(readFileSync(join(folder, 'AGENTS.md'), 'utf8'), 'still mine');
    }));
});
