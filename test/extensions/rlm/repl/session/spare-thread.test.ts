/** A thread that is used again: the next session finds nothing of the one before, and none that was killed comes back. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { slow } from '../../../../slow.ts';
import { openGround } from './session-ground.ts';

const LEFT_BEHIND = `
globalThis.secret = 'left behind';
var kept = 'left behind';
print(context.slice(0, 12));
span(0, 5);
`;
const LOOK = `print(typeof secret, typeof kept, context.slice(0, 12), span(0, 5).id)`;

describe('a thread for the next session', () => {
  slow('variables, context and handles of the first are gone', async () => {
    for (let round = 0; round < 3; round += 1) {
      const first = await openGround('first notes of somebody');
      assert.match(await first.prints(LEFT_BEHIND), /first notes/);
      await first.session.close();
      const second = await openGround('second notes of somebody');
      assert.equal((await second.prints(LOOK)).trim(), 'undefined undefined second notes h1');
      assert.equal(second.session.handles().length, 1);
      await second.session.close();
    }
  });

  slow('holds no process open', async (t) => {
    const root = join(import.meta.dirname, '../../../../..');
    const code = `
      import { createReplSession, DEFAULT_REPL_LIMITS as limits } from '${root}/src/extensions/rlm/repl/create-repl-session.ts';
      import { systemClock } from '${root}/src/base/clock.ts';
      import { textSource } from '${root}/src/extensions/rlm/repl/file-bytes.ts';
      const session = await createReplSession({ source: textSource('notes', 'a'), host: {}, limits });
      await session.run('print(1)', new AbortController().signal);
      // No timer ends the thread: if it held the process, it would for ever.
      systemClock.after = () => () => {};
      await session.close();
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { cwd: root, stdio: 'ignore' });
    t.after(() => child.kill('SIGKILL'));
    const [exit] = await once(child, 'exit');
    assert.equal(exit, 0);
  });

  slow('one that ran out of time is not used again', async () => {
    const killed = await openGround('first notes', { limits: { block_ms: 100 } });
    assert.equal((await killed.run('for (;;) {}')).failure?.reason, 'out_of_time');
    await killed.session.close();
    const next = await openGround('second notes');
    assert.equal((await next.prints('print(1 + 1)')).trim(), '2');
    await next.session.close();
  });

  test('two at once have a thread each', async () => {
    const both = await Promise.all([openGround('one is here'), openGround('two is here')]);
    const printed = await Promise.all(both.map(({ prints }) => prints('print(context.slice(0, 3))')));
    assert.deepEqual(
      printed.map((text) => text.trim()),
      ['one', 'two'],
    );
    await Promise.all(both.map(({ session }) => session.close()));
  });
});
