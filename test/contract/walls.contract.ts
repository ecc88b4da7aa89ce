/** What every Walls keeps: a state that stays, commands that run in their folder, one settlement each, an end that can come twice. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { WallState } from '#core/tools/walls/walls.ts';
import type { WallsScene } from '../core/tools/walls-scene.ts';
import { verifies } from '../verifies.ts';

export interface WallsHarness {
  readonly name: string;
  readonly kind: WallState['kind'];
  readonly make: () => WallsScene;
  /** A reason to skip. */
  readonly skip?: string | undefined;
}

export function wallsContract({ name, kind, make, skip }: WallsHarness): void {
  const using = async (use: (scene: WallsScene) => Promise<void>) => {
    const scene = make();
    try {
      await use(scene);
    } finally {
      await scene.close();
    }
  };

  describe(`walls contract: ${name}`, { skip: skip ?? false }, () => {
    verifies('core:walls:contract-shared', 'says what it is, the same each time, in words', () =>
      using(async ({ walls }) => {
        assert.equal(walls.state().kind, kind);
        assert.ok(walls.state().detail.length > 0);
        assert.deepEqual(walls.state(), walls.state());
      }),
    );

    it('runs a command in its folder, with its output, its status and its standard input', () =>
      using(async ({ run, enclose, folder }) => {
        const ran = await run('pwd; echo made > new.txt; exit 3');
        assert.deepEqual([ran.text, ran.exitCode], [`${folder}\n`, 3]);
        assert.equal(readFileSync(join(folder, 'new.txt'), 'utf8'), 'made\n');
        const { request, settle } = await enclose('cat');
        assert.equal(request.cwd, folder);
        await settle({ output: '', failed: false });
      }));

    it('settles once; a second time there is nothing to tell', () =>
      using(async ({ enclose }) => {
        const { settle } = await enclose('true');
        await settle({ output: 'Network is unreachable', failed: true });
        const again = await settle({ output: 'Network is unreachable', failed: true });
        assert.deepEqual(again, { openings: [], planted: [], notes: [] });
      }));

    it('guesses no wall for a command that did not fail', () =>
      using(async ({ run }) => assert.deepEqual((await run('echo Network is unreachable')).met.openings, [])));

    it('takes many commands of many sessions at once', () =>
      using(async ({ run }) => {
        const all = Array.from({ length: 12 }, (_, index) => run(`echo ${index}`, { sessionId: `s${index % 3}` }));
        assert.deepEqual(
          (await Promise.all(all)).map(({ text }) => text),
          all.map((_, index) => `${index}\n`),
        );
      }));

    it('ends a session that it never saw, one twice, and itself twice, and leaves nothing of its own', () =>
      using(async ({ walls, run, base }) => {
        await run('true');
        await walls.endSession('unknown');
        await walls.endSession('s1');
        await walls.endSession('s1');
        assert.equal((await run('echo again')).text, 'again\n');
        await walls.close();
        await walls.close();
        const root = join(base, 'private');
        assert.deepEqual(existsSync(root) ? readdirSync(root) : [], []);
      }));
  });
}
