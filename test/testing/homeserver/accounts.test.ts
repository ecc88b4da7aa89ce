/** Registration, signing in and out, tokens, devices. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startFakeHomeserver } from '#testing/homeserver/start-fake-homeserver.ts';
import { callerOf, codeOf, person } from './matrix-caller.ts';

describe('fake homeserver: accounts', () => {
  test('a new account may ask who it is; another device has another token', async (context) => {
    const server = await startFakeHomeserver({ context, serverName: 'localhost:8448' });
    const alice = await server.register('alice');
    assert.equal(alice.userId, '@alice:localhost:8448');
    const who = await callerOf(server, alice)('GET', '/account/whoami');
    assert.deepEqual(who.body, { user_id: alice.userId, device_id: alice.deviceId, is_guest: false });
    const again = await server.signIn(alice);
    assert.notEqual(again.deviceId, alice.deviceId);
    assert.equal((await callerOf(server, again)('GET', '/account/whoami')).body.device_id, again.deviceId);
    const devices = await callerOf(server, alice)('GET', '/devices');
    assert.equal(devices.body.devices.length, 2);
  });

  test('registration asks for its step first, and refuses names that are taken or no names', async (context) => {
    const server = await startFakeHomeserver({ context });
    const call = callerOf(server);
    const wanted = { username: 'bob', password: 'p' };
    const asked = await call('POST', '/register', wanted);
    assert.equal(asked.status, 401);
    assert.deepEqual(asked.body.flows, [{ stages: ['m.login.dummy'] }]);
    const auth = { type: 'm.login.dummy', session: asked.body.session };
    assert.equal((await call('POST', '/register', { ...wanted, auth })).body.user_id, '@bob:localhost');
    assert.equal(codeOf(await call('POST', '/register', wanted)), '400 M_USER_IN_USE');
    assert.equal(codeOf(await call('POST', '/register', { username: 'b d', password: 'p' })), '400 M_INVALID_USERNAME');
    assert.equal(codeOf(await call('GET', '/register/available?username=bob')), '400 M_USER_IN_USE');
  });

  for (const strict of [true, false]) {
    test(`with a registration token, ${strict ? 'one step' : 'two steps'}`, async (context) => {
      const server = await startFakeHomeserver({ context, strict, registrationToken: 'open sesame' });
      const call = callerOf(server);
      const wanted = { username: 'eve', password: 'p' };
      const { session, flows } = (await call('POST', '/register', wanted)).body;
      assert.equal(flows[0].stages.length, strict ? 1 : 2);
      const wrong = { type: 'm.login.registration_token', token: 'guess', session };
      assert.equal(codeOf(await call('POST', '/register', { ...wanted, auth: wrong })), '401 M_UNAUTHORIZED');
      const dummy = { type: 'm.login.dummy', session };
      assert.notEqual((await call('POST', '/register', { ...wanted, auth: dummy })).status, 200);
      assert.equal((await server.register('carol')).userId, '@carol:localhost');
    });
  }

  test('wrong password, no token, unknown token, logout, expired token', async (context) => {
    const server = await startFakeHomeserver({ context });
    const alice = await person(server, 'alice');
    const identifier = { type: 'm.id.user', user: 'alice' };
    const guess = await callerOf(server)('POST', '/login', { type: 'm.login.password', identifier, password: 'no' });
    assert.equal(codeOf(guess), '403 M_FORBIDDEN');
    assert.equal(codeOf(await callerOf(server)('GET', '/sync')), '401 M_MISSING_TOKEN');
    assert.equal(codeOf(await callerOf(server, { accessToken: 'x' })('GET', '/sync')), '401 M_UNKNOWN_TOKEN');
    server.doors.expireToken(alice.accessToken);
    assert.equal(codeOf(await alice.call('GET', '/account/whoami')), '401 M_UNKNOWN_TOKEN');
    const again = callerOf(server, await server.signIn(alice));
    assert.equal((await again('POST', '/logout', {})).status, 200);
    assert.equal(codeOf(await again('GET', '/account/whoami')), '401 M_UNKNOWN_TOKEN');
  });

  test('versions, well-known, capabilities, unknown paths', async (context) => {
    const server = await startFakeHomeserver({ context, roomVersion: '12' });
    const alice = await person(server, 'alice');
    const versions = await (await fetch(`${server.url}/_matrix/client/versions`)).json();
    assert.ok((versions as { versions: string[] }).versions.includes('v1.11'));
    const wellKnown = await (await fetch(`${server.url}/.well-known/matrix/client`)).json();
    assert.deepEqual(wellKnown, { 'm.homeserver': { base_url: server.url } });
    assert.equal((await alice.call('GET', '/capabilities')).body.capabilities['m.room_versions'].default, '12');
    assert.equal(codeOf(await alice.call('GET', '/nothing')), '404 M_UNRECOGNIZED');
    assert.equal(codeOf(await alice.call('POST', '/sync', {})), '405 M_UNRECOGNIZED');
  });

  test('removing a device needs the password', async (context) => {
    const server = await startFakeHomeserver({ context });
    const alice = await person(server, 'alice');
    const second = await server.signIn(alice);
    const remove = (auth?: object) => alice.call('DELETE', `/devices/${second.deviceId}`, auth ? { auth } : {});
    assert.equal((await remove()).status, 401);
    assert.equal((await remove({ type: 'm.login.password', password: 'no' })).status, 401);
    assert.equal((await remove({ type: 'm.login.password', password: alice.password })).status, 200);
    assert.equal(codeOf(await callerOf(server, second)('GET', '/account/whoami')), '401 M_UNKNOWN_TOKEN');
  });
});
