// Two processes of one home (a chat and a command) that talk with a third party at the same time.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe } from 'node:test';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';
import { Agent, room } from './hive-crypto-bench.ts';
import { HiveKeyServer } from './hive-key-server.ts';
import { AgentProcess, serveKeys } from './hive-key-server-http.ts';

const PAIR = room('!pair:x', '@alice:x', '@bob:x');
const SAY = { do: 'say', room: PAIR.roomId, members: PAIR.members } as const;

describe('two processes of one home', () => {
  verifies(
    ['R4.75', 'R4.36', 'R4.37'],
    'both read and write at once; no key is used twice, none is lost',
    async (t) => {
      const server = new HiveKeyServer();
      const address = await serveKeys(server, t);
      const home = createTempHome(t);
      const alice = await Agent.open({
        server,
        userId: '@alice:x',
        deviceId: 'ALICE',
        folder: join(home.path, 'alice'),
      });
      t.after(() => alice.crypto.close());
      await alice.sync();
      const place = { address, userId: '@bob:x', deviceId: 'BOB', folder: join(home.path, 'bob', 'peers') };
      const both = await Promise.all([AgentProcess.start(place, t), AgentProcess.start(place, t)]);
      await Promise.all(both.map((one) => one.run({ do: 'sync' })));

      const used = new Set<string>();
      for (let round = 0; round < 4; round += 1) {
        const said = await alice.say(room(`!round${round}:x`, '@alice:x', '@bob:x'), `round ${round}`);
        await Promise.all(both.map((one) => one.run({ do: 'sync' })));
        const read = await Promise.all(both.map((one) => one.run({ do: 'read', event: said })));
        assert.deepEqual(read, [`round ${round}`, `round ${round}`]);
        const texts = [0, 1, 2].flatMap((at) => both.map((_, which) => `${round} ${at} ${which}`));
        const events = await Promise.all(texts.map((text, at) => both[at % 2]?.run<JsonObject>({ ...SAY, text })));
        await alice.sync();
        assert.deepEqual(await Promise.all(events.map((event) => alice.read(event ?? {}))), texts);
        for (const event of events) used.add(messageKey(event ?? {}));
      }
      assert.equal(used.size, 24, 'each message has a key of its own');
      for (const one of both) assert.deepEqual(await one.run({ do: 'warnings' }), []);
    },
  );
});

/** Session and index, which together are the key of a message: the index stands first in the ciphertext. */
function messageKey({ content }: JsonObject): string {
  const { session_id, ciphertext } = isJsonObject(content) ? content : {};
  const bytes = Buffer.from(String(ciphertext), 'base64');
  assert.deepEqual([bytes[0], bytes[1]], [3, 8]);
  assert.ok((bytes[2] ?? 128) < 128);
  return `${session_id} ${bytes[2]}`;
}
