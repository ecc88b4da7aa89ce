/** Words to a golem over a real server, and those that are not the owner's. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { cladeOf, ownerOf } from '#fleet/styx/owner-key.ts';
import { sendWord } from '#fleet/styx/words.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { until } from '../ends.ts';
import * as golem from '../fleet/golem/stage.ts';
import { hasty } from '../ground.ts';
import { onNats, TOKEN } from './nats-server.ts';
import { linked } from './styx-linked-homes.ts';

onNats('words over a real server', (start) => {
  test('a word that was altered, replayed or signed by another key on the way changes nothing; the owner’s does, at once', async (t) => {
    const server = await start();
    const far = createTempHome(t).path;
    const stage = golem.createGolemStage(t, { clock: hasty(1) });
    await stage.create('ada', { toml: '[heartbeat]\nbase_interval_seconds = 1\n' });
    const owner = ownerOf(stage.root);
    const clade = cladeOf(owner.key);
    const sender = linked(t, join(far, 'styx.db'), { url: server.url, clade });
    linked(t, join(stage.root, 'styx.db'), { url: server.url, clade });
    const connection = await connect({ servers: server.url, token: TOKEN });
    t.after(() => connection.close());
    const client = (await jetstreamManager(connection)).jetstream();
    await stage.life('ada', { domain: golem.quiet(), listens: true }, async (life) => {
      const { id, signer } = life.golem.identity;
      const end = new AbortController();
      const steers: string[] = [];
      const kinds: string[] = [];
      const living = (async () => {
        for await (const event of life.live({ signal: end.signal })) {
          kinds.push(event.type);
          if (event.type === 'tick') steers.push(...event.record.steers);
        }
      })();
      const say = (text: string) => sendWord(sender.log, owner, { kind: 'steer', golem: id, signer, text });
      const began = performance.now();
      await say('be gentle');
      await until(() => steers.length === 1);
      t.diagnostic(`heard after ${Math.round(performance.now() - began)} ms`);
      const [row] = sender.log.read(['golem.ada.steer'], 0, 1);
      const body = Object(row?.body);
      const forge = async (n: number, change: object) => {
        const text = JSON.stringify({ ...body, ...change });
        await client.publish(`styx.${clade}.f0rged.golem.ada.steer`, text, { msgID: `f0rged:${n}` });
      };
      await forge(1, { word: { ...body.word, text: 'sell everything' } });
      await forge(2, { word: { ...body.word, kind: 'retire' } });
      await forge(3, {});
      const stranger = ownerOf(createTempHome(t).path);
      await sendWord(sender.log, stranger, { kind: 'retire', golem: id, signer });
      const heard = () => sender.log.read(['golem.ada.heard'], 0, 99).map((one) => Object(one.body).refused);
      await until(() => heard().length === 5);
      assert.deepEqual(
        heard().toSorted(),
        [...['bad-signature', 'bad-signature', 'replayed', 'unknown-owner'], null].toSorted(),
      );
      await say('be quick');
      await until(() => steers.length === 2);
      end.abort();
      await living;
      assert.deepEqual(steers, ['be gentle', 'be quick']);
      assert.deepEqual([...new Set(kinds)], ['tick']);
    });
  });
});
