/** A holder is told from every other process that has, or had, its number. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { errorCode } from '#base/errors.ts';
import { withFileLock } from '#base/platform.ts';
import { holderName, holderState } from '#base/process/holder.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { verifies } from '../../verifies.ts';

/** This process, with one word of its name exchanged: 0 number, 1 host, 2 boot, 3 start, 4 namespace. */
const but = (at: number, word: string) => holderName().split(' ').with(at, word).join(' ');
const ELSEWHERE = but(4, '4026539999');

describe('holders', () => {
  verifies(
    'core:lock:holder',
    'a number given again, a reboot, another container and another machine are told apart',
    () => {
      assert.equal(holderState(holderName()), 'alive');
      assert.equal(holderState(holderName().split(' ').slice(0, 2).join(' ')), 'alive', 'an older, shorter name');
      assert.equal(holderState(but(2, 'another-boot')), 'gone');
      assert.equal(holderState(but(1, 'another-machine')), 'unknown');
      assert.equal(holderState(''), 'gone');
      if (process.platform !== 'linux') return;
      assert.equal(holderState(but(3, '1')), 'gone', 'the number was given to this process after the holder had ended');
      assert.equal(holderState(ELSEWHERE), 'unknown');
    },
  );

  test('one that ended and was not yet collected by its parent is gone', async () => {
    if (process.platform !== 'linux') return;
    // The child ends when its parent is one that collects nobody.
    const child = "sh -c 'until grep -q sleep /proc/$PPID/comm; do :; done'";
    const parent = spawn('sh', ['-c', `${child} & echo $!; exec sleep 600`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const [line] = await once(parent.stdout, 'data');
      const ended = holderName().split(' ').with(0, String(line).trim()).with(3, '-').join(' ');
      while (!/\) Z /.test(readFileSync(`/proc/${String(line).trim()}/stat`, 'utf8'))) await systemClock.sleep(5);
      assert.equal(holderState(ended), 'gone');
    } finally {
      parent.kill('SIGKILL');
    }
  });
});

describe('locks of holders that cannot be looked at', () => {
  const locked = (content: string, beat: number): string => {
    const path = join(mkdtempSync(join(tmpdir(), 'talaria-holder-')), 'x.lock');
    writeFileSync(path, content);
    utimesSync(path, beat / 1000, beat / 1000);
    return path;
  };

  verifies(
    'core:lock:never-for-ever',
    'are waited for while they beat, and taken over when silent; a beat that lies ahead is none',
    async () => {
      const now = systemClock.now();
      for (const [beat, free] of [
        [now - 5_000, false],
        [now - 120_000, true],
        [now + 3_600_000, true],
      ] as const) {
        const path = locked(`${ELSEWHERE}\n`, beat);
        const taken = withFileLock(path, () => readFileSync(path, 'utf8').trim(), { waitMs: free ? 30_000 : 50 });
        if (free) assert.equal(await taken, holderName());
        else
          await assert.rejects(
            taken,
            (error) => errorCode(error) === 'locked' && /process \d+ on /.test(String(error)),
          );
        assert.equal(existsSync(path), !free);
        rmSync(join(path, '..'), { recursive: true });
      }
    },
  );

  test('a holder beats while it works, and does not give away what another took over', async () => {
    const clock = createManualClock({ now: systemClock.now() });
    const path = join(mkdtempSync(join(tmpdir(), 'talaria-holder-')), 'x.lock');
    await withFileLock(
      path,
      async () => {
        utimesSync(path, 1, 1);
        await clock.advance(20_000);
        assert.ok(statSync(path).mtimeMs > 1_000_000, 'it showed that it is there');
        writeFileSync(path, `${ELSEWHERE}\n`);
      },
      { clock },
    );
    assert.equal(readFileSync(path, 'utf8').trim(), ELSEWHERE);
    rmSync(join(path, '..'), { recursive: true });
  });
});
