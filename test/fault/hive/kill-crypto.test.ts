// An agent with keys on disk is killed (SIGKILL) between any two of its steps: what the server has was stored before, nothing is lost.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { diesAtFirstKeys, diesWhileSaying, killStage, PAIR } from '../../extensions/hive/key-stage.ts';
import { verifies } from '../../verifies.ts';

describe('an agent that is killed', () => {
  verifies(['R4.36', 'R4.75'], 'after keys were stored, before they were sent: the next message can be read', (t) =>
    diesWhileSaying(t, 'before', 'm.room.encrypted'),
  );

  verifies('R4.75', 'after the server got its first keys, before it said so: the same device goes on', (t) =>
    diesAtFirstKeys(t, 'after'),
  );

  verifies(['R4.37', 'R4.75'], 'after it took keys in, before the next sync: they are there', async (t) => {
    const { server, alice, start } = await killStage(t);
    const first = await start();
    await first.run({ do: 'sync' });
    const said = await alice.say(PAIR, 'kept');
    await first.run({ do: 'sync' });
    first.child.kill('SIGKILL');
    const second = await start();
    assert.equal(second.position, '3');
    await second.run({ do: 'sync' });
    assert.deepEqual(server.waiting('@bob:x', 'BOB'), []);
    assert.equal(await second.run({ do: 'read', event: said }), 'kept');
  });
});
