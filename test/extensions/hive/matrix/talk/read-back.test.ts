/** Going back through a room: pages without end, clear words where protection was promised, and answers that are no absence. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { errorCode } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import type { AccountDataCipher } from '#extensions/hive/matrix/account-data/account-data-cipher.ts';
import type { MatrixCall } from '#extensions/hive/matrix/http/matrix-http.ts';
import { startFake } from '../../../../contract/hive/hive-fake-server.ts';
import { sparkOf } from '../../../../contract/hive/hive-transport-ground.ts';
import { verifies } from '../../../../verifies.ts';
import { hastyClock } from '../hive-hasty-clock.ts';
import { transportFor } from '../hive-matrix-ground.ts';
import { RecordedCrypto } from '../introduce/hive-recorded-crypto.ts';

const NEVER = new AbortController().signal;
const ACCOUNT = { userId: '@bob:x', accessToken: 't', deviceId: 'D', password: '' };
const state = (type: string, key: string, sender: string, content: JsonObject): JsonObject => ({
  ...{ type, state_key: key, sender, content },
  event_id: `$${type}${key}`,
  origin_server_ts: 1,
});
const member = (userId: string) => state('m.room.member', userId, userId, { membership: 'join' });
const JOINED: JsonObject = {
  next_batch: 's',
  rooms: {
    join: {
      '!r:x': {
        state: {
          events: [state('m.room.create', '', '@alice:x', {}), ...['@alice:x', '@bob:x', '@carol:x'].map(member)],
        },
      },
    },
  },
};

describe('going back', () => {
  test('a server that never comes to the start is left after ten pages, one that turns in a circle after one round', async () => {
    for (const end of ['same', undefined]) {
      const calls: MatrixCall[] = [];
      const http = async (call: MatrixCall): Promise<JsonObject> => {
        calls.push(call);
        if (call.path.includes('sync')) return JOINED;
        return call.path.includes('messages') ? { chunk: [], end: end ?? `p${calls.length}` } : {};
      };
      const bob = transportFor({ url: 'http://127.0.0.1:9' }, ACCOUNT, { parts: { http } });
      await bob.refresh(NEVER);
      assert.equal(calls.filter(({ path }) => path.includes('messages')).length, end === undefined ? 10 : 2);
      assert.deepEqual(await bob.messages('carol@x', {}, NEVER), []);
      assert.ok(calls.length < 20);
    }
  });

  verifies(
    ['R4.34', 'R4.74'],
    'clear words in an encrypted room are not shown and give no context; encrypted ones do',
    async () => {
      const server = await startFake();
      try {
        const bob = await server.register('bob');
        for (const name of ['alice', 'carol']) server.doors.addAccount(name);
        const about = 'About @carol:localhost: ';
        const room = server.doors.addRoom({
          creator: '@alice:localhost',
          join: [bob.userId, '@carol:localhost'],
          messages: [`${about}clear`],
          encrypted: true,
        });
        const crypto = new RecordedCrypto();
        const open = () => transportFor(server, bob, { parts: { crypto: async () => crypto } });
        const first = open();
        await first.refresh(NEVER);
        assert.equal(first.peers()[0]?.peer.context, '');
        const [content] = await crypto.encrypt({ members: [] }, [
          { content: { msgtype: 'm.text', body: `${about}sealed` } },
        ]);
        server.doors.inject(room, { type: 'm.room.encrypted', sender: '@alice:localhost', content: content ?? {} });
        server.doors.inject(room, {
          type: 'm.room.encrypted',
          sender: '@carol:localhost',
          content: { ciphertext: {} },
        });
        await first.refresh(NEVER);
        assert.equal(first.peers()[0]?.peer.context, 'sealed');
        const messages = await first.messages('carol@localhost', {}, NEVER);
        assert.deepEqual(
          messages.map(({ state: shown }) => shown),
          ['unreadable', 'text', 'clear'],
        );
        assert.ok(!messages.some(({ text }) => text.includes('About carol@localhost: clear')));
      } finally {
        await server.stop();
      }
    },
  );
});

describe('what is kept on the server', () => {
  verifies(
    ['R4.40', 'R4.72'],
    'B6: only the word of the server is absence; everything else is a failure and nothing is written over',
    async () => {
      const server = await startFake();
      try {
        const account = await server.register('bob');
        const spark = sparkOf('a@x', 'b@x');
        for (const body of ['<html>not found', '{"errcode":"M_UNKNOWN"}', '{"errcode":"M_FORBIDDEN"}']) {
          const bob = transportFor(server, account, { clock: hastyClock });
          server.wire.clear();
          server.wire.fail(({ method, path }) => method === 'GET' && path.includes('sparks'), {
            type: 'status',
            status: 404,
            body,
          });
          await assert.rejects(
            bob.changeSparks(() => [spark], NEVER),
            (error) => /^peers-/.test(errorCode(error) ?? ''),
          );
          assert.ok(server.wire.requests().every(({ method }) => method === 'GET'));
          assert.deepEqual(bob.sparks(), []);
        }
      } finally {
        await server.stop();
      }
    },
  );

  verifies(['R4.59', 'R4.40'], 'suggestions that are sealed with a lost key are never written over', async () => {
    const server = await startFake();
    try {
      const account = await server.register('bob');
      const sealed = { encrypted: 'v1', nonce: 'n', ciphertext: 'of another key' };
      server.doors.setAccountData(account.userId, 'social.awareness.sparks', sealed);
      const lost: AccountDataCipher = { seal: (value) => value, open: () => undefined };
      for (const parts of [{}, { cipher: lost }]) {
        const bob = transportFor(server, account, { parts });
        await bob.refresh(NEVER);
        const change = bob.changeSparks(() => [sparkOf('a@x', 'b@x')], NEVER);
        await assert.rejects(change, (error) => errorCode(error) === 'peers-encryption');
        assert.deepEqual(server.doors.accountData(account.userId, 'social.awareness.sparks'), sealed);
        assert.ok((await bob.examine(NEVER)).checks.some(({ ok, name }) => !ok && name === 'notes'));
      }
    } finally {
      await server.stop();
    }
  });
});
