// As test/fault/hive/kill-crypto, at more of the moments: what the server has was stored before, nothing is lost.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { systemClock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { killAt, killStage, PAIR, SAY } from '../../extensions/hive/crypto/hive-kill-stage.ts';
import { verifies } from '../../verifies.ts';

describe('an agent that is killed, at more moments', () => {
  for (const [moment, step] of [
    ['after', 'claim'],
    ['after', 'm.room.encrypted'],
  ] as const) {
    verifies(['R4.36', 'R4.75'], `${moment} the server got its ${step}: the next message can be read`, async (t) => {
      const { server, alice, start } = await killStage(t);
      const first = await start();
      await first.run({ do: 'sync' });
      server[moment] = killAt(first, step);
      assert.equal(await first.run({ ...SAY, text: 'never sent' }), undefined);
      server[moment] = () => undefined;
      const second = await start();
      await second.run({ do: 'sync' });
      const said = await second.run<JsonObject>({ ...SAY, text: 'sent' });
      await alice.sync();
      assert.equal(await alice.read(said ?? {}), 'sent');
      const answer = await alice.say(PAIR, 'answer');
      await second.run({ do: 'sync' });
      assert.equal(await second.run({ do: 'read', event: answer }), 'answer');
    });
  }

  verifies('R4.75', 'before the server got its first keys: the same device goes on', async (t) => {
    const { server, alice, start } = await killStage(t);
    const first = await start();
    server.before = killAt(first, 'upload');
    assert.equal(await first.run({ do: 'sync' }), undefined);
    server.before = () => undefined;
    const second = await start();
    await second.run({ do: 'sync' });
    const said = await alice.say(PAIR, 'hello');
    await second.run({ do: 'sync' });
    assert.equal(await second.run({ do: 'read', event: said }), 'hello');
    assert.deepEqual(await second.run({ do: 'warnings' }), []);
  });

  verifies(
    ['R4.36', 'R4.37', 'R4.75'],
    'at any time: what both sides say afterwards is read, by the same device',
    async (t) => {
      const { server, alice, start } = await killStage(t);
      let bob = await start();
      await bob.run({ do: 'sync' });
      const keys = server.deviceKeys('@bob:x', 'BOB');
      for (let round = 0; round < 15; round += 1) {
        await alice.say(PAIR, `lost or not ${round}`);
        const work = [bob.run({ do: 'sync' }), bob.run({ ...SAY, text: 'lost or not' })];
        await systemClock.sleep(round * 4);
        bob.child.kill('SIGKILL');
        await Promise.allSettled(work);
        bob = await start();
        await bob.run({ do: 'sync' });
        const said = await bob.run<JsonObject>({ ...SAY, text: `from bob ${round}` });
        await alice.sync();
        assert.equal(await alice.read(said ?? {}), `from bob ${round}`);
        const answer = await alice.say(PAIR, `from alice ${round}`);
        await bob.run({ do: 'sync' });
        assert.equal(await bob.run({ do: 'read', event: answer }), `from alice ${round}`);
      }
      assert.deepEqual(server.deviceKeys('@bob:x', 'BOB'), keys);
      assert.deepEqual(await bob.run({ do: 'warnings' }), []);
    },
  );
});
