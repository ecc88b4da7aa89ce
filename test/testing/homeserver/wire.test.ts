/** The wire: strictness about bodies, the log, every fault, down and up, nothing left behind. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startFakeHomeserver } from '#testing/homeserver/start-fake-homeserver.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { callerOf, codeOf, person, roomOf, say } from './matrix-caller.ts';

describe('fake homeserver: wire', () => {
  const raw = async (url: string, token: string, init: RequestInit) => {
    const headers = { authorization: `Bearer ${token}`, ...init.headers };
    const response = await fetch(url, { ...init, headers });
    return { status: response.status, body: await response.json(), headers: response.headers };
  };

  test('strict: a POST without a JSON body is refused; lenient: joining and leaving may have none', async (context) => {
    for (const strict of [true, false]) {
      const server = await startFakeHomeserver({ context, strict });
      const alice = await person(server, 'alice');
      const room = await roomOf(alice);
      const join = `${server.url}/_matrix/client/v3/join/${room}`;
      const json = { 'content-type': 'application/json' };
      const token = alice.accessToken;
      const empty = await raw(join, token, { method: 'POST' });
      assert.equal(codeOf(empty), strict ? '400 M_NOT_JSON' : '200');
      const untyped = await raw(join, token, { method: 'POST', body: new Blob(['{}']) });
      assert.equal(codeOf(untyped), strict ? '400 M_NOT_JSON' : '200');
      assert.equal(codeOf(await raw(join, token, { method: 'POST', body: 'no', headers: json })), '400 M_NOT_JSON');
      assert.equal(codeOf(await raw(join, token, { method: 'POST', body: '[]', headers: json })), '400 M_BAD_JSON');
      assert.equal(codeOf(await raw(join, token, { method: 'POST', body: '{}', headers: json })), '200');
      const event = `${server.url}/_matrix/client/v3/rooms/${room}/send/x.y/1`;
      assert.equal(codeOf(await raw(event, token, { method: 'PUT' })), '400 M_NOT_JSON');
    }
  });

  test('the log keeps what was asked, by whom, with escapes', async (context) => {
    const server = await startFakeHomeserver({ context });
    const alice = await person(server, 'alice');
    server.wire.clear();
    await alice.call('PUT', '/user/%40alice%3Alocalhost/account_data/x.y', { a: 1 });
    await alice.call('GET', '/sync?timeout=0&since=s1');
    const [put, sync] = server.wire.requests();
    assert.equal(put?.path, '/_matrix/client/v3/user/%40alice%3Alocalhost/account_data/x.y');
    assert.equal(put?.body, '{"a":1}');
    assert.equal(put?.userId, alice.userId);
    assert.equal(put?.headers['content-type'], 'application/json');
    assert.deepEqual(sync?.query, { timeout: '0', since: 's1' });
    assert.ok(Object.isFrozen(put));
  });

  test('ordered faults meet the next requests that match, then all is as before', async (context) => {
    const server = await startFakeHomeserver({ context });
    const alice = await person(server, 'alice');
    const isSync = ({ path }: { path: string }) => path.endsWith('/sync');
    server.wire.fail(isSync, { type: 'status', status: 503 }, 2);
    assert.equal((await alice.call('GET', '/account/whoami')).status, 200);
    assert.equal((await alice.call('GET', '/sync')).status, 503);
    assert.equal((await alice.call('GET', '/sync')).status, 503);
    assert.equal((await alice.call('GET', '/sync')).status, 200);
    server.wire.fail(isSync, { type: 'html' });
    await assert.rejects(alice.call('GET', '/sync'), SyntaxError);
    server.wire.fail(isSync, { type: 'reset' });
    await assert.rejects(alice.call('GET', '/sync'), TypeError);
    const remove = server.wire.fail(() => true, { type: 'reset' });
    remove();
    assert.equal((await alice.call('GET', '/sync')).status, 200);
  });

  test('a lost answer took effect, a reset did not', async (context) => {
    const server = await startFakeHomeserver({ context });
    const alice = await person(server, 'alice');
    const room = await roomOf(alice);
    const isSend = ({ path }: { path: string }) => path.includes('/send/');
    for (const type of ['reset', 'lost-answer'] as const) {
      server.wire.fail(isSend, { type });
      await assert.rejects(say(alice, room, `with ${type}`), TypeError);
    }
    const text = await server.storedText();
    assert.ok(text.includes('with lost-answer'));
    assert.ok(!text.includes('with reset'));
  });

  test('a slow answer comes when its time has come', async (context) => {
    const clock = createManualClock();
    const server = await startFakeHomeserver({ context, clock });
    const alice = await person(server, 'alice');
    server.wire.fail(() => true, { type: 'slow', ms: 5_000 });
    let done = false;
    const asked = alice.call('GET', '/account/whoami').then((answer) => {
      done = true;
      return answer;
    });
    while (clock.slept.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(4_999);
    assert.equal(done, false);
    await clock.advance(1);
    assert.equal((await asked).status, 200);
  });

  test('the rate limit says how long to wait, in both places', async (context) => {
    const server = await startFakeHomeserver({ context });
    const alice = await person(server, 'alice');
    const lift = server.wire.limitRate(1_500);
    const refused = await alice.call('GET', '/sync');
    assert.equal(codeOf(refused), '429 M_LIMIT_EXCEEDED');
    assert.equal(refused.body.retry_after_ms, 1_500);
    assert.equal(refused.headers.get('retry-after'), '2');
    lift();
    assert.equal((await alice.call('GET', '/sync')).status, 200);
  });

  test('down refuses connections, up is the same server at the same address', async (context) => {
    const server = await startFakeHomeserver({ context });
    const alice = await person(server, 'alice');
    await server.wire.down();
    await assert.rejects(alice.call('GET', '/sync'), TypeError);
    await server.wire.up();
    assert.equal((await alice.call('GET', '/account/whoami')).body.user_id, alice.userId);
  });

  test('stopping ends waiting requests, slow ones and every socket, and may be done twice', async () => {
    const server = await startFakeHomeserver();
    const alice = await person(server, 'alice');
    const since = (await alice.sync()).next_batch;
    server.wire.fail(({ path }) => path.endsWith('whoami'), { type: 'slow', ms: 60_000 });
    const hanging = [
      alice.call('GET', `/sync?timeout=60000&since=${since}`),
      callerOf(server, alice)('GET', '/account/whoami'),
    ].map((call) => assert.rejects(call, TypeError));
    while (server.wire.requests().length < 5) await new Promise((resolve) => setImmediate(resolve));
    await server.stop();
    await Promise.all(hanging);
    assert.equal(server.wire.openSockets, 0);
    await server.stop();
  });
});
