/** A peer whose one-time keys were all taken, its fallback key too: the machine tries again after a quarter of a minute. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { acquainted, OF_BOB, OF_CAROL, roomOf, send, talkOf, timeline } from '../../contract/hive/hive-scenes.ts';
import { ON, onFake, rowsOn } from '../../contract/hive/hive-stage.ts';

const { title, verifies } = rowsOn({ name: 'fake homeserver', isFake: true, start: onFake() }, ON);

describe(`keys that ran out: ${title}`, () => {
  verifies(['R4.74', 'R4.76', 'R4.72'], 'nothing goes in clear, later words are read with new keys', async (on) => {
    const alice = await on.agent('hermes-of-alice');
    const { bob, carol } = await acquainted(on, alice, { bob: OF_BOB, carol: OF_CAROL });
    await alice.call('hivemind_introduce_peers', { peer_a: bob.name, peer_b: carol.name });
    on.doors.takeKeys(carol.userId, carol.account.deviceId);
    for (const agent of [bob, carol]) await agent.prefetch();
    on.doors.takeKeys(carol.userId, carol.account.deviceId);
    await bob.call('hivemind_send_to_peer', { peer: carol.name, message: 'without a key' });
    assert.ok(!(await on.server.storedText()).includes('without a key'));
    for (const agent of [carol, bob, carol, bob]) await agent.prefetch();
    await pause(18_000);
    await send(bob, carol.name, 'with a key');
    await carol.prefetch();
    assert.equal((await talkOf(carol, bob.name))[0], 'with a key');
    const room = await roomOf(on.rawOf(alice), [alice, bob, carol]);
    assert.ok((await timeline(on.rawOf(alice), room)).every(({ type }) => type !== 'm.room.message'));
  });
});
