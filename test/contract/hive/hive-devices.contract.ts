/** What end-to-end encryption takes for granted of a homeserver: keys of devices, one-time keys and messages from device to device. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { type Agents, type HomeserverStart, withAgents } from './hive-introduction.ts';
import { HiveRawClient } from './hive-raw-client.ts';

type Keys = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
type Answer = Readonly<Record<string, Readonly<Record<string, Keys>>>>;

export function devicesContract(name: string, start: HomeserverStart): void {
  const agents = (body: (agents: Agents) => Promise<void>) => () => withAgents(start, body);

  describe(`homeserver contract, devices: ${name}`, () => {
    test(
      'keys of a device that were uploaded are found by others, with those of its other devices',
      agents(async ({ server, alice, bob }) => {
        const phone = new HiveRawClient(server, await server.signIn(bob.account));
        for (const device of [bob, phone]) await upload(device, { device_keys: deviceKeys(device) });
        const query = { device_keys: { [bob.userId]: [], '@nobody-at-all:localhost': [] } };
        const answer = await alice.call<Answer>('POST', '/v3/keys/query', query);
        const found = answer.device_keys?.[bob.userId] ?? {};
        assert.deepEqual(Object.keys(found).sort(), [bob.account.deviceId, phone.account.deviceId].sort());
        for (const device of [bob, phone]) {
          const { unsigned: _, ...keys } = found[device.account.deviceId] ?? {};
          assert.deepEqual(keys, deviceKeys(device));
        }
        assert.deepEqual(Object.keys(answer.device_keys?.['@nobody-at-all:localhost'] ?? {}), []);
      }),
    );

    test(
      'a one-time key is given out once, then the fallback key for ever; sync counts what is left',
      agents(async ({ alice, bob }) => {
        const counts = await upload(bob, {
          device_keys: deviceKeys(bob),
          one_time_keys: { 'signed_curve25519:AAAA': oneTime('first'), 'signed_curve25519:AAAB': oneTime('second') },
          fallback_keys: { 'signed_curve25519:AAAF': { ...oneTime('last'), fallback: true } },
        });
        assert.equal(counts.signed_curve25519, 2);
        assert.equal((await bob.sync()).device_one_time_keys_count?.signed_curve25519, 2);
        const claimed = [await claim(alice, bob), await claim(alice, bob)];
        assert.deepEqual(claimed.toSorted(), ['first', 'second']);
        const left = await bob.sync({ filter: '{"room":{"timeline":{"limit":2}}}' });
        assert.equal(left.device_one_time_keys_count?.signed_curve25519 ?? 0, 0);
        assert.deepEqual([await claim(alice, bob), await claim(alice, bob)], ['last', 'last']);
      }),
    );

    test(
      'the same one-time key may be uploaded again, another under its name not',
      agents(async ({ bob }) => {
        const keys = { 'signed_curve25519:AAAA': oneTime('first') };
        await upload(bob, { device_keys: deviceKeys(bob), one_time_keys: keys });
        assert.equal((await upload(bob, { one_time_keys: keys })).signed_curve25519, 1);
        const other = { one_time_keys: { 'signed_curve25519:AAAA': oneTime('other') } };
        const { status } = await bob.request({ method: 'POST', path: '/v3/keys/upload', body: other });
        assert.equal(status, 400);
      }),
    );

    test(
      'where no key is left a claim gives none, and no error',
      agents(async ({ alice, bob }) => {
        await upload(bob, { device_keys: deviceKeys(bob) });
        assert.equal(await claim(alice, bob), undefined);
      }),
    );

    test(
      'who shares a room hears of new device keys, once',
      agents(async ({ alice, bob, room }) => {
        await bob.join(room);
        const { next_batch: since } = await alice.sync();
        await upload(bob, { device_keys: deviceKeys(bob) });
        const heard = await alice.sync({ since });
        assert.ok(heard.device_lists?.changed?.includes(bob.userId));
        const later = await alice.sync({ since: heard.next_batch });
        assert.ok(!later.device_lists?.changed?.includes(bob.userId));
      }),
    );

    test(
      'who joins brings its keys to the notice of the others',
      agents(async ({ alice, bob, room }) => {
        await upload(bob, { device_keys: deviceKeys(bob) });
        const { next_batch: since } = await alice.sync();
        await bob.join(room);
        assert.ok((await alice.sync({ since })).device_lists?.changed?.includes(bob.userId));
      }),
    );

    test(
      'a message to a device waits until it is acknowledged by the next sync, and reaches no other',
      agents(async ({ server, alice, bob }) => {
        const phone = new HiveRawClient(server, await server.signIn(bob.account));
        await toDevice(alice, { [bob.userId]: { [bob.account.deviceId]: { secret: 1 } } });
        const first = await bob.sync();
        assert.deepEqual(first.to_device?.events, [{ type: 'm.test', sender: alice.userId, content: { secret: 1 } }]);
        const acknowledged = await bob.sync({ since: first.next_batch });
        assert.deepEqual(acknowledged.to_device?.events ?? [], []);
        const afresh = await bob.sync({ filter: '{"room":{"timeline":{"limit":3}}}' });
        assert.deepEqual(afresh.to_device?.events ?? [], []);
        assert.deepEqual((await phone.sync()).to_device?.events ?? [], []);
      }),
    );

    test(
      'a message to all devices reaches each; the same transaction reaches it once',
      agents(async ({ server, alice, bob }) => {
        const phone = new HiveRawClient(server, await server.signIn(bob.account));
        const txn = randomUUID();
        for (let times = 0; times < 2; times += 1) await toDevice(alice, { [bob.userId]: { '*': { to: 'all' } } }, txn);
        for (const device of [bob, phone]) assert.equal((await device.sync()).to_device?.events.length, 1);
      }),
    );
  });
}

function deviceKeys({ userId, account: { deviceId } }: HiveRawClient) {
  return {
    user_id: userId,
    device_id: deviceId,
    algorithms: ['m.olm.v1.curve25519-aes-sha2', 'm.megolm.v1.aes-sha2'],
    keys: { [`curve25519:${deviceId}`]: `curve-${deviceId}`, [`ed25519:${deviceId}`]: `ed-${deviceId}` },
    signatures: { [userId]: { [`ed25519:${deviceId}`]: 'unchecked' } },
  };
}

function oneTime(key: string) {
  return { key, signatures: { '@any:localhost': { 'ed25519:ANY': 'unchecked' } } };
}

async function upload(client: HiveRawClient, body: unknown): Promise<Readonly<Record<string, number>>> {
  type Counts = { one_time_key_counts: Readonly<Record<string, number>> };
  return (await client.call<Counts>('POST', '/v3/keys/upload', body)).one_time_key_counts;
}

async function claim(by: HiveRawClient, { userId, account }: HiveRawClient): Promise<unknown> {
  const body = { one_time_keys: { [userId]: { [account.deviceId]: 'signed_curve25519' } } };
  const answer = await by.call<Answer>('POST', '/v3/keys/claim', body);
  const [key] = Object.values(answer.one_time_keys?.[userId]?.[account.deviceId] ?? {});
  return (key as { key: string } | undefined)?.key;
}

function toDevice(by: HiveRawClient, messages: unknown, txn = randomUUID()): Promise<unknown> {
  return by.call('PUT', `/v3/sendToDevice/m.test/${txn}`, { messages });
}
