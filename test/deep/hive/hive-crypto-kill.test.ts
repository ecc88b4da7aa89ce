// As test/fault/hive/kill-crypto, at more of the moments: what the server has was stored before, nothing is lost.

import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { JsonObject } from '#public/talaria.ts';
import { diesAtFirstKeys, diesWhileSaying, killStage, PAIR, SAY } from '../../extensions/hive/key-stage.ts';
import { realClock } from '../../ground.ts';
import { verifies } from '../../verifies.ts';

describe('an agent that is killed, at more moments', () => {
  for (const [moment, step] of [
    ['after', 'claim'],
    ['after', 'm.room.encrypted'],
  ] as const)
    verifies(['R4.36', 'R4.75'], `${moment} the server got its ${step}: the next message can be read`, (t) =>
      diesWhileSaying(t, moment, step),
    );

  verifies('R4.75', 'before the server got its first keys: the same device goes on', (t) =>
    diesAtFirstKeys(t, 'before'),
  );

  verifies(['R4.36', 'R4.37', 'R4.75'], 'at any time: what both say afterwards is read', async (t) => {
    const { server, alice, start } = await killStage(t);
    let bob = await start();
    await bob.run({ do: 'sync' });
    const keys = server.deviceKeys('@bob:x', 'BOB');
    for (let round = 0; round < 15; round += 1) {
      await alice.say(PAIR, `lost or not ${round}`);
      const work = [bob.run({ do: 'sync' }), bob.run({ ...SAY, text: 'lost or not' })];
      await realClock.sleep(round * 4);
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
  });
});
