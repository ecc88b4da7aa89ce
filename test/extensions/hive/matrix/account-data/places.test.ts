/** Where notes are kept on the server: paths and bodies as the seed's table of layer 3 has them. */
import assert from 'node:assert/strict';
import { describe, type TestContext } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { startFake } from '../../../../contract/hive/hive-fake-server.ts';
import { sparkOf } from '../../../../contract/hive/hive-transport-ground.ts';
import { verifies } from '../../../../verifies.ts';
import { transportFor } from '../hive-matrix-ground.ts';

const NEVER = new AbortController().signal;
const BOB = '@bob:localhost';
const USER = encodeURIComponent(BOB);

async function bobWithCarol(context: TestContext) {
  const server = await startFake({ context });
  const account = await server.register('bob');
  for (const name of ['alice', 'carol']) server.doors.addAccount(name);
  const messages = ['About @carol:localhost: audits'];
  const room = server.doors.addRoom({
    creator: '@alice:localhost',
    invite: [BOB],
    join: ['@carol:localhost'],
    messages,
  });
  const bob = transportFor(server, account);
  await bob.refresh(NEVER);
  const put = (end: string) =>
    server.wire
      .requests()
      .filter(({ method, path }) => method === 'PUT' && path.endsWith(end))
      .map(({ path }) => path);
  const inRoom = (key: string) =>
    `/_matrix/client/v3/user/${USER}/rooms/${encodeURIComponent(room)}/account_data/social.awareness.${key}`;
  return { server, bob, room, put, inRoom };
}

describe('notes on the server', () => {
  verifies(['R4.38', 'R4.63'], 'facts about a peer lie with the room, under their key', async (t) => {
    const { server, room, put, inRoom } = await bobWithCarol(t);
    assert.deepEqual(put('social.awareness.peer'), [inRoom('peer')]);
    const stored = server.doors.accountData(BOB, 'social.awareness.peer', room);
    assert.deepEqual(
      [stored?.peer_name, stored?.peer_id, stored?.context, stored?.introduced_by_id, stored?.room_id],
      ['carol', '@carol:localhost', 'audits', '@alice:localhost', room],
    );
  });

  verifies(
    ['R4.22', 'R4.39'],
    'a summary lies with the room, under its key, with the fields of a summary',
    async (t) => {
      const { server, bob, room, put, inRoom } = await bobWithCarol(t);
      const summary = {
        peer_name: 'carol',
        needs: ['a logo'],
        offers: ['audits'],
        expertise: [],
        summary_text: 'Carol audits.',
        last_updated: '2026-01-01T00:00:00.000Z',
        message_count_at_update: 1,
        by: 'rule',
      } as const;
      await bob.keepSummary('carol@localhost', summary, NEVER);
      assert.deepEqual(put('social.awareness.summary'), [inRoom('summary')]);
      const stored: JsonObject = server.doors.accountData(BOB, 'social.awareness.summary', room) ?? {};
      for (const [name, value] of Object.entries(summary)) assert.deepEqual(stored[name], value, name);
    },
  );

  verifies(['R4.23', 'R4.40'], 'sparks lie with the user, under their key', async (t) => {
    const { server, bob, put } = await bobWithCarol(t);
    await bob.changeSparks((sparks) => [...sparks, sparkOf('carol@localhost', 'dave@localhost')], NEVER);
    assert.deepEqual(put('social.awareness.sparks'), [
      `/_matrix/client/v3/user/${USER}/account_data/social.awareness.sparks`,
    ]);
    const stored = server.doors.accountData(BOB, 'social.awareness.sparks');
    assert.ok(Array.isArray(stored?.sparks) && stored.sparks.length === 1);
  });
});
