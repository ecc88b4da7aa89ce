/** Keys of devices, messages to devices, and whose devices changed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startFakeHomeserver } from '#testing/homeserver/start-fake-homeserver.ts';
import { codeOf, type Loose, type Person, person, personOf, roomOf } from './matrix-caller.ts';

const identity = ({ userId, deviceId }: Person, mark = '1') => ({
  user_id: userId,
  device_id: deviceId,
  algorithms: ['m.olm.v1.curve25519-aes-sha2'],
  keys: { [`ed25519:${deviceId}`]: mark },
  signatures: {},
});
const oneTime = (id: string, key = id) => ({ [`signed_curve25519:${id}`]: { key, signatures: {} } });

describe('fake homeserver: keys', () => {
  const pair = async (context: { after(run: () => unknown): void }) => {
    const server = await startFakeHomeserver({ context });
    return { server, alice: await person(server, 'alice'), bob: await person(server, 'bob') };
  };

  test('one-time keys are given once each, then the fallback key again and again', async (context) => {
    const { alice, bob } = await pair(context);
    const fallback = { 'signed_curve25519:F': { key: 'f', fallback: true, signatures: {} } };
    const keys = { device_keys: identity(alice), one_time_keys: { ...oneTime('A'), ...oneTime('B') } };
    const uploaded = await alice.call('POST', '/keys/upload', { ...keys, fallback_keys: fallback });
    assert.deepEqual(uploaded.body, { one_time_key_counts: { signed_curve25519: 2 } });
    const before = await alice.sync();
    assert.deepEqual(before.device_unused_fallback_key_types, ['signed_curve25519']);
    const wanted = { one_time_keys: { [alice.userId]: { [alice.deviceId]: 'signed_curve25519' } } };
    const claimed: string[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const { body } = await bob.call('POST', '/keys/claim', wanted);
      claimed.push(...Object.keys(body.one_time_keys[alice.userId][alice.deviceId]));
    }
    assert.deepEqual(
      claimed.map((id) => id.at(-1)),
      ['A', 'B', 'F', 'F'],
    );
    const after = await alice.sync();
    assert.deepEqual(after.device_one_time_keys_count, { signed_curve25519: 0 });
    assert.deepEqual(after.device_unused_fallback_key_types, []);
    const nobody = { one_time_keys: { [alice.userId]: { NONE: 'signed_curve25519' } } };
    assert.deepEqual((await bob.call('POST', '/keys/claim', nobody)).body.one_time_keys, {});
  });

  test('the id of a one-time key with other bytes is refused, and nothing of that upload is kept', async (context) => {
    const { server, alice } = await pair(context);
    await alice.call('POST', '/keys/upload', { one_time_keys: oneTime('A') });
    assert.equal((await alice.call('POST', '/keys/upload', { one_time_keys: oneTime('A') })).status, 200);
    const clash = await alice.call('POST', '/keys/upload', {
      one_time_keys: { ...oneTime('B'), ...oneTime('A', 'x') },
    });
    assert.equal(codeOf(clash), '400 M_UNKNOWN');
    assert.match(clash.body.error, /^One time key signed_curve25519:A already exists/);
    assert.deepEqual((await alice.sync()).device_one_time_keys_count, { signed_curve25519: 1 });
    server.doors.takeKeys(alice.userId, alice.deviceId);
    assert.deepEqual((await alice.sync()).device_one_time_keys_count, { signed_curve25519: 0 });
  });

  test('queries give the devices that have keys; keys of somebody else are refused', async (context) => {
    const { alice, bob } = await pair(context);
    await alice.call('POST', '/keys/upload', { device_keys: identity(alice) });
    const query = (body: object) => bob.call('POST', '/keys/query', { device_keys: body });
    const found = (await query({ [alice.userId]: [], '@none:localhost': [] })).body;
    assert.deepEqual(Object.keys(found.device_keys[alice.userId]), [alice.deviceId]);
    assert.deepEqual(found.device_keys['@none:localhost'], {});
    assert.deepEqual((await query({ [alice.userId]: ['NONE'] })).body.device_keys[alice.userId], {});
    const foreign = await bob.call('POST', '/keys/upload', { device_keys: identity(alice) });
    assert.equal(codeOf(foreign), '400 M_BAD_JSON');
  });

  test('changed devices are told to those who share a room', async (context) => {
    const { server, alice, bob } = await pair(context);
    const room = await roomOf(alice, { invite: [bob.userId] });
    await alice.sync();
    await bob.call('POST', '/keys/upload', { device_keys: identity(bob) });
    assert.equal((await alice.sync()).device_lists, undefined);
    await bob.call('POST', `/join/${room}`, {});
    assert.deepEqual((await alice.sync()).device_lists, { changed: [bob.userId] });
    await bob.call('POST', '/keys/upload', { device_keys: identity(bob) });
    assert.equal((await alice.sync()).device_lists, undefined);
    const from = (await alice.sync()).next_batch;
    const second = personOf(server, await server.signIn(bob));
    await second.call('POST', '/keys/upload', { device_keys: identity(second) });
    assert.deepEqual((await alice.sync()).device_lists, { changed: [bob.userId] });
    assert.deepEqual((await alice.call('GET', `/keys/changes?from=${from}`)).body.changed, [bob.userId]);
    await bob.sync();
    await bob.call('POST', `/rooms/${room}/leave`, {});
    assert.deepEqual((await alice.sync()).device_lists, { left: [bob.userId] });
    assert.deepEqual((await bob.sync()).device_lists, { left: [alice.userId] });
  });

  test('messages to devices: once a transaction, until acknowledged, a hundred at a time', async (context) => {
    const { server, alice, bob } = await pair(context);
    const other = personOf(server, await server.signIn(bob));
    const send = (txn: string, device: string, content: object) =>
      alice.call('PUT', `/sendToDevice/m.test/${txn}`, { messages: { [bob.userId]: { [device]: content } } });
    await send('t1', bob.deviceId, { n: 1 });
    await send('t1', bob.deviceId, { n: 2 });
    await send('t2', '*', { n: 3 });
    const texts = (body: Loose) => (body.to_device?.events ?? []).map(({ content }: Loose) => content.n);
    assert.deepEqual(texts((await bob.call('GET', '/sync')).body), [1, 3]);
    assert.deepEqual(texts(await bob.sync()), [1, 3]);
    assert.equal(server.doors.waiting(bob.userId, bob.deviceId).length, 2);
    assert.deepEqual(texts(await bob.sync()), []);
    assert.equal(server.doors.waiting(bob.userId, bob.deviceId).length, 0);
    assert.deepEqual(texts(await other.sync()), [3]);
    for (let n = 0; n < 105; n += 1) await send(`many${n}`, bob.deviceId, { n });
    assert.equal(texts(await bob.sync()).length, 100);
    assert.deepEqual(texts(await bob.sync()), [100, 101, 102, 103, 104]);
    assert.deepEqual(texts(await bob.sync()), []);
  });

  test('cross-signing keys: first without, then with the password; signatures are added', async (context) => {
    const { alice, bob } = await pair(context);
    await alice.call('POST', '/keys/upload', { device_keys: identity(alice) });
    const master = (key: string) => ({
      master_key: { user_id: alice.userId, usage: ['master'], keys: { [`ed25519:${key}`]: key } },
    });
    assert.equal((await alice.call('POST', '/keys/device_signing/upload', master('M'))).status, 200);
    assert.equal((await alice.call('POST', '/keys/device_signing/upload', master('N'))).status, 401);
    const auth = { type: 'm.login.password', password: alice.password };
    assert.equal((await alice.call('POST', '/keys/device_signing/upload', { ...master('N'), auth })).status, 200);
    const signed = { ...identity(alice), signatures: { [alice.userId]: { 'ed25519:N': 'by master' } } };
    await alice.call('POST', '/keys/signatures/upload', { [alice.userId]: { [alice.deviceId]: signed } });
    const found = (await bob.call('POST', '/keys/query', { device_keys: { [alice.userId]: [] } })).body;
    assert.deepEqual(found.master_keys[alice.userId].keys, { 'ed25519:N': 'N' });
    const device = found.device_keys[alice.userId][alice.deviceId];
    assert.deepEqual(device.signatures, { [alice.userId]: { 'ed25519:N': 'by master' } });
    assert.equal(codeOf(await alice.call('GET', '/room_keys/version')), '404 M_NOT_FOUND');
  });
});
