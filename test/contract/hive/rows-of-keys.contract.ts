/** What survives and where it lies, and what is meant for one peer reaching that one alone (R4.13, R4.14, R4.53 to R4.61, R4.74 to R4.76). */

import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { hasty } from '../../ground.ts';
import { inferring } from './hive-agent.ts';
import { roomPath } from './hive-raw-client.ts';
import {
  acquainted,
  allIntroduced,
  bobIntroduced,
  ENCRYPTED,
  infoOf,
  introduceByHand,
  localpart,
  messagesOf,
  NEVER,
  namesOf,
  OF_BOB,
  OF_CAROL,
  opaque,
  peersOf,
  send,
  suggestionsOf,
  talkOf,
  timeline,
} from './hive-scenes.ts';
import type { Rows } from './hive-stage.ts';

export function rowsOfRestarts(rows: Rows): void {
  rowsOfSurvival(rows);
  describe(`several at once: ${rows.title}`, () => {
    ofTwoAtOnce(rows);
    ofLateOnes(rows);
  });
}

function rowsOfSurvival(rows: Rows): void {
  describe(`restarts: ${rows.title}`, () => {
    ofSurvivors(rows);
    if (rows.mode.e2ee) ofKeys(rows);
    else ofNoState(rows);
  });
}

function ofSurvivors({ verifies }: Rows): void {
  verifies(['R4.54', 'R4.55', 'R4.56', 'R4.60', 'R4.61', 'R4.75'], 'after kill -9: as before', async (on) => {
    const { bob, carol } = await allIntroduced(on);
    await send(bob, carol.name, 'before the crash');
    const before = await peersOf(bob);
    assert.equal(before.length, 2);
    const again = await on.restart(bob);
    await again.prefetch();
    assert.deepEqual(await peersOf(again), before);
    assert.deepEqual(
      await infoOf(again, carol.name),
      before.find(({ id }) => id === carol.id),
    );
    assert.deepEqual(await talkOf(again, carol.name), ['before the crash']);
    await send(again, carol.name, 'after the crash');
    await carol.prefetch();
    assert.deepEqual(await talkOf(carol, bob.name), ['after the crash', 'before the crash']);
  });

  verifies(['R4.58', 'R4.59', 'R4.16'], 'after kill -9 no model is asked; dismissed is dismissed', async (on) => {
    const infer = inferring(
      {
        enclaves: { needs: ['an audit'], summary_text: 'Bob builds.' },
        TEE: { offers: ['an audit'], summary_text: 'Carol audits.' },
      },
      () => ({ reason: 'an audit', confidence: 'high' }),
    );
    const alice = await on.agent('hermes-of-alice', { infer });
    const { bob, carol } = await acquainted(on, alice, { bob: OF_BOB, carol: OF_CAROL });
    for (let turn = 0; turn < 2; turn++) await alice.prefetch();
    assert.equal((await suggestionsOf(alice)).length, 1);
    await alice.call('hivemind_dismiss_spark', { peer_a: carol.name, peer_b: bob.name });
    const again = await on.restart(alice, { infer });
    for (let turn = 0; turn < 2; turn++) await again.prefetch();
    assert.deepEqual(again.inferred, []);
    assert.deepEqual(await suggestionsOf(again), []);
  });

  verifies(['R4.55', 'R4.54', 'R4.46'], 'what happened while nobody was there is taken in at the start', async (on) => {
    const { alice, bob, carol, room } = await bobIntroduced(on);
    await bob.prefetch();
    const dave = await on.raw('hermes-of-dave');
    await introduceByHand(alice, [bob, 'Bob'], [dave, 'Dave cooks.']);
    await carol.say(room, 'are you there?');
    const again = await on.restart(bob);
    await again.prefetch();
    assert.deepEqual(await namesOf(again), [localpart(carol.userId), localpart(dave.userId)].sort());
    const [message] = await messagesOf(again, opaque(carol));
    assert.deepEqual([message?.text, message?.new], ['are you there?', true]);
  });
}

function ofTwoAtOnce({ verifies }: Rows): void {
  verifies(['R4.13', 'R4.8'], 'two agents in one process are two, each with its name and peers', async (on) => {
    const { alice, bob, carol } = await allIntroduced(on);
    assert.deepEqual(await namesOf(bob), [alice.name, carol.name].sort());
    assert.deepEqual(await namesOf(carol), [alice.name, bob.name].sort());
    assert.notEqual(bob.transport.selfId, carol.transport.selfId);
    await Promise.all([bob.prefetch(), carol.prefetch(), alice.prefetch()]);
    await Promise.all([send(bob, carol.name, 'from bob'), send(carol, bob.name, 'from carol')]);
    const [talk] = [await talkOf(alice, bob.name)];
    assert.deepEqual(talk, []);
    assert.deepEqual(
      (await messagesOf(bob, carol.name))
        .slice(0, 2)
        .map(({ from }) => from)
        .sort(),
      [bob.name, carol.name].sort(),
    );
  });

  verifies(['R4.28', 'R4.30', 'R4.59'], 'B13: two processes lose no suggestion and undo no dismissal', async (on) => {
    const alice = await on.agent('hermes-of-alice');
    const { bob, carol, dave } = await acquainted(on, alice, { bob: 'Bob', carol: 'Carol', dave: 'Dave' });
    const other = await on.open(alice.account, { folder: alice.folder });
    await other.prefetch();
    await Promise.all([
      alice.call('hivemind_dismiss_spark', { peer_a: bob.name, peer_b: carol.name }),
      other.call('hivemind_dismiss_spark', { peer_a: carol.name, peer_b: dave.name }),
    ]);
    await alice.call('hivemind_dismiss_spark', { peer_a: dave.name, peer_b: bob.name });
    const third = await on.open(alice.account, { folder: alice.folder });
    await third.prefetch();
    const pairs = third.transport.sparks().map((spark) => [spark.peer_a, spark.peer_b].sort().join());
    assert.deepEqual(
      pairs.sort(),
      [
        [bob.name, carol.name],
        [bob.name, dave.name],
        [carol.name, dave.name],
      ]
        .map((pair) => pair.sort().join())
        .sort(),
    );
    assert.ok(third.transport.sparks().every(({ status }) => status === 'dismissed'));
  });

  verifies(['R4.28', 'R4.30', 'R4.59'], 'B13: a stale process does not undo a dismissal', async (on) => {
    const infer = inferring(
      { Bob: { summary_text: 'Bob' }, Carol: { summary_text: 'Carol' }, Dave: { summary_text: 'Dave' } },
      () => ({
        reason: 'they fit',
        confidence: 'high',
      }),
    );
    const alice = await on.agent('hermes-of-alice', { infer });
    const { bob, carol, dave } = await acquainted(on, alice, { bob: 'Bob', carol: 'Carol', dave: 'Dave' });
    for (let turn = 0; turn < 4; turn++) await alice.prefetch();
    assert.equal((await suggestionsOf(alice)).length, 3);
    const other = await on.open(alice.account, { folder: alice.folder });
    await other.prefetch();
    await other.call('hivemind_dismiss_spark', { peer_a: bob.name, peer_b: carol.name });
    await other.call('hivemind_introduce_peers', { peer_a: bob.name, peer_b: dave.name });
    await alice.call('hivemind_dismiss_spark', { peer_a: bob.name, peer_b: dave.name });
    await alice.call('hivemind_dismiss_spark', { peer_a: carol.name, peer_b: dave.name });
    const third = await on.open(alice.account, { folder: alice.folder });
    await third.prefetch();
    const status = (a: string, b: string) =>
      third.transport.sparks().filter((spark) => [spark.peer_a, spark.peer_b].sort().join() === [a, b].sort().join());
    assert.deepEqual(
      status(bob.name, carol.name).map((spark) => spark.status),
      ['dismissed'],
    );
    assert.deepEqual(
      status(carol.name, dave.name).map((spark) => spark.status),
      ['dismissed'],
    );
    assert.equal(status(bob.name, dave.name).length, 1);
    assert.notEqual(status(bob.name, dave.name)[0]?.status, 'pending');
    assert.deepEqual(await suggestionsOf(third), []);
  });

  verifies(['R4.13', 'R4.36', 'R4.75'], 'two processes of an agent write: both are read', async (on) => {
    const { bob, carol } = await allIntroduced(on);
    const second = await on.open(bob.account, { folder: bob.folder });
    await second.prefetch();
    await send(second, carol.name, 'from the second');
    await send(bob, carol.name, 'from the first');
    await carol.transport.send(bob.id, 'to both', NEVER);
    await carol.prefetch();
    assert.deepEqual(await talkOf(carol, bob.name), ['to both', 'from the first', 'from the second']);
    for (const agent of [bob, second]) {
      await agent.prefetch();
      assert.deepEqual(await talkOf(agent, carol.name), ['to both', 'from the first', 'from the second']);
    }
  });
}

function ofNoState({ verifies, mode }: Rows): void {
  verifies(['R4.14', 'R4.53', 'R4.57'], 'e2ee off: nothing is written, an empty home answers alike', async (on) => {
    const { bob, carol } = await allIntroduced(on);
    await send(bob, carol.name, 'hello');
    await bob.prefetch();
    if (!mode.encryptAccountData) assert.equal(existsSync(bob.folder), false, 'no file of ours');
    const answers = async (agent = bob): Promise<readonly unknown[]> => [
      await peersOf(agent),
      await infoOf(agent, carol.name),
      await talkOf(agent, carol.name),
    ];
    const before = await answers();
    bob.kill();
    const again = await on.open(bob.account, mode.encryptAccountData ? { folder: bob.folder } : {});
    await again.prefetch();
    assert.deepEqual(await answers(again), before);
  });
}

function ofKeys({ verifies, mode }: Rows): void {
  verifies(['R4.75', 'R4.36'], 'with its key store an agent is the same device after kill -9', async (on) => {
    const { alice, bob } = await allIntroduced(on);
    const before = await deviceKeys(on.rawOf(alice), bob.userId);
    assert.equal(Object.keys(before).length, 1, JSON.stringify(before));
    const again = await on.restart(bob);
    await again.prefetch();
    assert.deepEqual(await deviceKeys(on.rawOf(alice), bob.userId), before);
    const folder = join(bob.folder, 'peers');
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    assert.ok(files.length > 0);
    for (const file of files) assert.equal(statSync(join(file.parentPath, file.name)).mode & 0o077, 0, file.name);
  });

  verifies(['R4.75', 'R4.72', 'R4.56'], 'a lost key store: peers are listed, old messages unreadable', async (on) => {
    const { alice, bob, carol } = await allIntroduced(on);
    await send(carol, bob.name, 'old secret');
    await bob.prefetch();
    assert.deepEqual(await talkOf(bob, carol.name), ['old secret']);
    await bob.close();
    rmSync(bob.folder, { recursive: true });
    const again = await on.open(bob.account);
    await again.prefetch();
    assert.deepEqual(await namesOf(again), [alice.name, carol.name].sort());
    if (!mode.encryptAccountData) assert.equal((await infoOf(again, carol.name)).context, OF_CAROL);
    const old = await again.transport.messages(carol.id, {}, NEVER);
    assert.ok(old.length > 0 && old.every(({ state, text }) => state === 'unreadable' && !text.includes('secret')));
    assert.equal((await again.call('hivemind_check_messages', { peer: carol.name })).isError, false);
  });

  verifies(['R4.75', 'R4.72', 'R4.74'], 'a stale key store: peers are listed, nothing goes in clear', async (on) => {
    const { alice, bob, carol } = await allIntroduced(on);
    await bob.close();
    const copy = on.emptyFolder();
    cpSync(bob.folder, copy, { recursive: true });
    const today = await on.open(bob.account, { folder: bob.folder });
    await today.prefetch();
    await send(today, carol.name, 'today');
    await carol.prefetch();
    await send(carol, bob.name, 'heard');
    await today.prefetch();
    await today.close();
    const yesterday = await on.open(bob.account, { folder: copy });
    await yesterday.prefetch();
    assert.deepEqual(await namesOf(yesterday), [alice.name, carol.name].sort());
    const answer = await yesterday.call('hivemind_send_to_peer', { peer: carol.name, message: 'from yesterday' });
    const texts = (await on.rawOf(alice).sync()).rooms?.join ?? {};
    assert.ok(!JSON.stringify(texts).includes('from yesterday'), answer.text);
    assert.equal((await yesterday.call('hivemind_check_messages')).isError, false);
  });

  verifies(['R4.75', 'R4.72'], 'a key store that is no database: a turn goes on, nothing is clear', async (on) => {
    const { alice, bob, carol } = await allIntroduced(on);
    await bob.close();
    const { writeFileSync } = await import('node:fs');
    for (const name of readdirSync(join(bob.folder, 'peers'))) {
      rmSync(join(bob.folder, 'peers', name), { recursive: true });
      writeFileSync(join(bob.folder, 'peers', name), 'this was a file once\n', { mode: 0o600 });
    }
    const outcome = await on.open(bob.account, { folder: bob.folder }).then(
      async (again) => {
        await again.prefetch().catch(() => '');
        const answer = await again.call('hivemind_send_to_peer', { peer: carol.name, message: 'in clear?' });
        return answer.text;
      },
      (error: unknown) => String(error),
    );
    const kept = JSON.stringify((await on.rawOf(alice).sync()).rooms?.join ?? {});
    assert.ok(!kept.includes('in clear?'), outcome);
  });
}

async function deviceKeys(
  client: { call<T>(method: 'POST', path: string, body: unknown): Promise<T> },
  userId: string,
): Promise<Readonly<Record<string, unknown>>> {
  const body = { device_keys: { [userId]: [] } };
  const { device_keys } = await client.call<{ device_keys: Record<string, Record<string, { keys: unknown }>> }>(
    'POST',
    '/v3/keys/query',
    body,
  );
  return Object.fromEntries(Object.entries(device_keys[userId] ?? {}).map(([device, { keys }]) => [device, keys]));
}

function ofLateOnes({ verifies }: Rows): void {
  verifies(['R4.76', 'R4.34', 'R4.41'], 'who first starts after an introduction gets the context later', async (on) => {
    const alice = await on.agent('hermes-of-alice');
    const { bob } = await acquainted(on, alice, { bob: OF_BOB });
    const late = await on.agent('hermes-of-carol');
    await alice.transport.contact({ id: late.id, context: OF_CAROL, about: 'Alice knows people.' }, NEVER);
    await alice.prefetch();
    const answer = await alice.call('hivemind_introduce_peers', { peer_a: bob.name, peer_b: late.name });
    assert.equal(answer.isError, false, answer.text);
    await bob.prefetch();
    assert.equal((await infoOf(bob, late.id)).status, 'invited');
    for (const agent of [late, alice, bob, late, late]) await agent.prefetch();
    assert.deepEqual(await namesOf(late), [alice.name, bob.name].sort());
    assert.equal((await infoOf(late, bob.name)).context, OF_BOB);
    assert.equal((await infoOf(bob, late.name)).context, OF_CAROL);
    await send(bob, late.name, 'welcome');
    await late.prefetch();
    assert.equal((await talkOf(late, bob.name))[0], 'welcome');
  });
}

export function rowsOfProtection(rows: Rows): void {
  describe(`protection: ${rows.title}`, () => {
    ofListeners(rows);
    if (rows.ground.isFake) ofBrokenIntroductions(rows);
    ofDowngrades(rows);
    if (rows.mode.e2ee) ofDevices(rows);
  });
}

function ofListeners({ verifies }: Rows): void {
  verifies(['R4.32', 'R4.71'], 'B9: once a third is in the room, nothing meant for one is said there', async (on) => {
    const { alice, bob, carol, room } = await bobIntroduced(on);
    await bob.prefetch();
    await send(bob, opaque(carol), 'for Carol alone');
    const mallory = await on.raw('hermes-of-mallory');
    await alice.invite(room, mallory.userId);
    await mallory.join(room);
    await bob.prefetch();
    const answer = await bob.call('hivemind_send_to_peer', {
      peer: opaque(carol),
      message: 'nobody else may read this',
    });
    const heard = (await timeline(mallory, room)).filter(
      ({ sender, type }) => sender === bob.userId && type !== 'm.room.member',
    );
    const texts = heard.map(({ content }) => content.body);
    assert.ok(!texts.includes('nobody else may read this'), `Mallory reads it; the tool said ${answer.text}`);
    assert.ok(!(await namesOf(bob)).some((name) => name.includes('mallory')));
  });

  verifies(['R4.32', 'R4.35'], 'in a room of two, a third that comes later hears nothing', async (on) => {
    const dave = await on.raw('hermes-of-dave');
    const bob = await on.agent('hermes-of-bob');
    const room = await dave.createRoom({ preset: 'private_chat', invite: [bob.userId] });
    await bob.prefetch();
    const mallory = await on.raw('hermes-of-mallory');
    await dave.invite(room, mallory.userId);
    await mallory.join(room);
    await bob.prefetch();
    await bob.call('hivemind_send_to_peer', { peer: opaque(dave), message: 'for Dave alone' });
    assert.ok(!(await mallory.texts(room)).includes('for Dave alone'));
    await bob.call('hivemind_send_to_peer', { peer: opaque(mallory), message: 'for Mallory' });
    assert.ok(!(await dave.texts(room)).includes('for Mallory'));
  });
}

function ofBrokenIntroductions({ verifies }: Rows): void {
  const faults = { 'lost-answer': [1, 3, 5], reset: [2, 4] } as const;
  for (const type of ['lost-answer', 'reset'] as const)
    for (const nth of faults[type])
      verifies(
        ['R4.41', 'R4.72', 'R4.42'],
        `an introduction whose request ${nth} breaks (${type}), said again: both know each other in the right words, no line stands twice`,
        async (on) => {
          const account = await on.server.register('hermes-of-alice');
          const alice = await on.open(account, { clock: hasty(10) });
          const { bob, carol } = await acquainted(on, alice, { bob: OF_BOB, carol: OF_CAROL });
          let count = 0;
          const heal = on.wire.fail(
            ({ method, headers }) =>
              method !== 'GET' &&
              headers.authorization === `Bearer ${account.accessToken}` &&
              ++count >= nth &&
              count < nth + 6,
            { type },
            Number.POSITIVE_INFINITY,
          );
          const args = { peer_a: bob.name, peer_b: carol.name, reason: 'they get on' };
          await alice.call('hivemind_introduce_peers', args);
          heal();
          const again = await alice.call('hivemind_introduce_peers', args);
          assert.equal(again.isError, false, again.text);
          for (const agent of [bob, carol, bob, carol, alice, bob, carol]) await agent.prefetch();
          for (const [agent, other, context] of [
            [bob, carol, OF_CAROL],
            [carol, bob, OF_BOB],
          ] as const) {
            assert.equal((await infoOf(agent, other.name)).context, context);
            const said = (await agent.transport.messages(other.id, { limit: 50 }, NEVER)).map(({ text }) => text);
            assert.equal(new Set(said).size, said.length, said.join(' | '));
          }
          await send(bob, carol.name, 'hello');
          await carol.prefetch();
          assert.equal((await talkOf(carol, bob.name))[0], 'hello');
        },
      );
}

function ofDowngrades({ verifies, mode, ground }: Rows): void {
  verifies(['R4.74', 'R4.36'], 'a room that becomes encrypted gets nothing in clear any more', async (on) => {
    const { alice, bob, carol, room } = await bobIntroduced(on);
    await bob.prefetch();
    await alice.call('PUT', `${roomPath(room)}/state/m.room.encryption/`, ENCRYPTED.content);
    await bob.prefetch();
    const answer = await bob.call('hivemind_send_to_peer', { peer: opaque(carol), message: 'in clear?' });
    assert.equal(answer.isError, !mode.e2ee, answer.text);
    assert.ok(!(await carol.texts(room)).includes('in clear?'));
  });

  if (ground.isFake)
    verifies(['R4.74', 'R4.72'], 'a text stuck before its room was encrypted does not go in clear', async (on) => {
      const { alice, bob: first, carol, room } = await bobIntroduced(on);
      const bob = await on.restart(first, { clock: hasty(10) });
      await bob.prefetch();
      const heal = on.wire.fail(
        ({ path }) => path.includes('/send/m.room.message/'),
        { type: 'reset' },
        Number.POSITIVE_INFINITY,
      );
      assert.equal((await bob.call('hivemind_send_to_peer', { peer: opaque(carol), message: 'again' })).isError, true);
      heal();
      await alice.call('PUT', `${roomPath(room)}/state/m.room.encryption/`, ENCRYPTED.content);
      await bob.prefetch();
      const answer = await bob.call('hivemind_send_to_peer', { peer: opaque(carol), message: 'again' });
      assert.ok(!(await carol.texts(room)).includes('again'), answer.text);
    });

  for (const content of [{}, { algorithm: 'org.example.clear' }, { algorithm: 7 }])
    verifies(['R4.74', 'R4.72'], `once encrypted, always: ${JSON.stringify(content)} changes nothing`, async (on) => {
      const { alice, bob, carol, room } = await bobIntroduced(on, { encrypted: true });
      await bob.prefetch();
      await alice.call('PUT', `${roomPath(room)}/state/m.room.encryption/`, content);
      await bob.prefetch();
      await bob.call('hivemind_send_to_peer', { peer: opaque(carol), message: 'in clear?' });
      const again = await on.restart(bob);
      await again.prefetch();
      await again.call('hivemind_send_to_peer', { peer: opaque(carol), message: 'in clear?' });
      assert.ok(!(await carol.texts(room)).includes('in clear?'));
    });
}

function ofDevices({ verifies, ground }: Rows): void {
  verifies(['R4.75', 'R4.36'], 'after many restarts somebody new can write to the same device', async (on) => {
    const alice = await on.agent('hermes-of-alice');
    const friends = await acquainted(on, alice, { bob: OF_BOB, carol: OF_CAROL });
    let { bob } = friends;
    for (let i = 0; i < 4; i++) {
      if (i % 2 === 0) await bob.close();
      bob = await on.restart(bob);
      await bob.prefetch();
    }
    await alice.call('hivemind_introduce_peers', { peer_a: bob.name, peer_b: friends.carol.name });
    for (const agent of [bob, friends.carol, bob]) await agent.prefetch();
    await send(friends.carol, bob.name, 'to the old device');
    await bob.prefetch();
    assert.deepEqual(await talkOf(bob, friends.carol.name), ['to the old device']);
  });

  verifies(['R4.76', 'R4.75', 'R4.36'], 'a second device reads from its sign-in on; the first goes on', async (on) => {
    const { bob, carol } = await allIntroduced(on);
    await send(bob, carol.name, 'before');
    const second = await on.open(await on.server.signIn(carol.account));
    await second.prefetch();
    await bob.prefetch();
    await send(bob, carol.name, 'to both');
    for (const device of [carol, second]) {
      await device.prefetch();
      assert.equal((await talkOf(device, bob.name))[0], 'to both');
    }
    const old = await second.transport.messages(bob.id, {}, NEVER);
    assert.ok(old.some(({ state }) => state === 'unreadable'));
  });

  if (!ground.isFake) return;
  verifies(['R4.74', 'R4.36'], 'a device list that cannot be read holds the message back for all', async (on) => {
    const { bob, carol } = await allIntroduced(on);
    const second = await on.open(await on.server.signIn(carol.account));
    await second.prefetch();
    const heal = on.wire.fail(
      ({ path, headers }) =>
        path.endsWith('/keys/query') && headers.authorization === `Bearer ${bob.account.accessToken}`,
      { type: 'status', status: 403, body: '{"errcode":"M_FORBIDDEN","error":"no"}' },
      Number.POSITIVE_INFINITY,
    );
    await bob.prefetch().catch(() => '');
    await bob.call('hivemind_send_to_peer', { peer: carol.name, message: 'first try' });
    heal();
    await bob.prefetch();
    await send(bob, carol.name, 'second try');
    for (const device of [carol, second]) {
      await device.prefetch();
      assert.equal((await talkOf(device, bob.name))[0], 'second try');
    }
  });
}
