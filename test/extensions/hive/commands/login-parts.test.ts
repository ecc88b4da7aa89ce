import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import {
  type AskServer,
  findServer,
  isPrivateHost,
  isUser,
  readAddress,
  readUser,
} from '#extensions/hive/commands/find-server.ts';
import { register, signIn } from '#extensions/hive/commands/sign-in.ts';
import { PeerError } from '#extensions/hive/peers/peer-error.ts';

const { signal } = new AbortController();

/** Answers by address; what is not named is a page. */
function server(answers: Readonly<Record<string, { readonly status?: number; readonly body: JsonObject }>>): AskServer {
  return async ({ url }) => {
    const { status = 200, body } = answers[url] ?? {};
    if (body === undefined) throw new PeerError(`${url} is a page`, { code: 'peers-bad-response' });
    return { status, body };
  };
}

const VERSIONS = { body: { versions: ['v1.11'] } };

describe('the address of a server, as typed', () => {
  test('a whole address loses its last slash; http is for private networks', () => {
    for (const [typed, url, isOpen] of [
      ['https://matrix.example.org/', 'https://matrix.example.org', false],
      [' https://example.org:8448/base/ ', 'https://example.org:8448/base', false],
      ['http://127.0.0.1:8008', 'http://127.0.0.1:8008', true],
      ['http://conduit:6167', 'http://conduit:6167', true],
      ['http://[::1]:8008', 'http://[::1]:8008', true],
    ] as const)
      assert.deepEqual(readAddress(typed), { ok: true, value: { kind: 'url', url, isOpen } });
    for (const typed of [
      'http://matrix.example.org',
      'http://8.8.8.8',
      'http://[2001:db8::1]:8008',
      'http://172.32.0.1',
    ]) {
      const read = readAddress(typed);
      assert.ok(!read.ok && read.reason === 'address-unprotected', typed);
    }
  });

  test('a bare name is the name of a server; anything else is refused', () => {
    assert.deepEqual(readAddress('Example.ORG'), { ok: true, value: { kind: 'name', name: 'example.org' } });
    assert.deepEqual(readAddress('localhost:8448'), { ok: true, value: { kind: 'name', name: 'localhost:8448' } });
    for (const typed of [
      '',
      ' ',
      'ftp://x.org',
      'https://',
      'https://me:pw@x.org',
      'https://x.org/?a',
      'file:///etc',
      'two words',
      '-x',
    ])
      assert.ok(!readAddress(typed).ok, typed);
  });

  test('private is what no one else can see', () => {
    for (const host of [
      'localhost',
      'a.localhost',
      '10.1.2.3',
      '172.16.0.1',
      '192.168.1.1',
      'fd00::1',
      'fe80::1',
      'nas.local',
      'host.docker.internal',
    ])
      assert.ok(isPrivateHost(host), host);
    for (const host of ['example.org', '172.15.0.1', '11.0.0.1', '192.169.0.1', '2001:db8::1', 'localhost.example.org'])
      assert.ok(!isPrivateHost(host), host);
  });
});

describe('finding the server', () => {
  test('a name is asked where its server is; without an answer it is at the name itself', async () => {
    const told = {
      'https://example.org/.well-known/matrix/client': {
        body: { 'm.homeserver': { base_url: 'https://matrix.example.org/' } },
      },
      'https://matrix.example.org/_matrix/client/versions': VERSIONS,
    };
    const found = await findServer('example.org', server(told), signal);
    assert.deepEqual(found, { ok: true, value: { url: 'https://matrix.example.org', isOpen: false } });
    const silent = server({ 'https://example.org/_matrix/client/versions': VERSIONS });
    assert.deepEqual(await findServer('example.org', silent, signal), {
      ok: true,
      value: { url: 'https://example.org', isOpen: false },
    });
  });

  test('a name may not lead to an unprotected address', async () => {
    const told = {
      'https://example.org/.well-known/matrix/client': {
        body: { 'm.homeserver': { base_url: 'http://matrix.example.org' } },
      },
    };
    const found = await findServer('example.org', server(told), signal);
    assert.ok(!found.ok && found.reason === 'address-unprotected');
  });

  test('what answers JSON and is no Matrix server is said to be none', async () => {
    const other = server({ 'https://x.org/_matrix/client/versions': { body: { hello: 'world' } } });
    await assert.rejects(findServer('https://x.org', other, signal), /https:\/\/x\.org is no Matrix server/);
  });
});

describe('the user, as typed', () => {
  test('three forms; case does not matter to whom is meant', () => {
    assert.deepEqual(readUser('@alice:example.org:8448'), {
      ok: true,
      value: { name: 'alice', server: 'example.org:8448' },
    });
    assert.deepEqual(readUser('alice@example.org'), { ok: true, value: { name: 'alice', server: 'example.org' } });
    assert.deepEqual(readUser('alice'), { ok: true, value: { name: 'alice' } });
    for (const typed of ['', '@', '@a:', 'a b', '@a b:c', 'a@b@c']) assert.ok(!readUser(typed).ok, typed);
    assert.ok(isUser({ name: 'Alice' }, '@alice:example.org'));
    assert.ok(!isUser({ name: 'alic' }, '@alice:example.org'));
    assert.ok(!isUser({ name: 'alice', server: 'example.org' }, '@alice:example.org:8448'));
  });
});

describe('signing up and in', () => {
  test('a server that wants a browser is said to want one, and is asked nothing more', async () => {
    const asked: unknown[] = [];
    const flows = { flows: [{ stages: ['m.login.recaptcha', 'm.login.dummy'] }], session: 's' };
    const ask: AskServer = async ({ body }) => {
      asked.push(body);
      return { status: 401, body: flows };
    };
    await assert.rejects(register({ url: 'https://x.org', name: 'a', password: 'p' }, ask, signal), /need a browser/);
    assert.equal(asked.length, 1);
    const token: AskServer = async () => ({
      status: 401,
      body: { flows: [{ stages: ['m.login.registration_token'] }], session: 's' },
    });
    await assert.rejects(register({ url: 'https://x.org', name: 'a', password: 'p' }, token, signal), (error) => {
      assert.ok(error instanceof PeerError && /registration token/.test(error.message));
      assert.match(error.fix ?? '', /MATRIX_REGISTRATION_TOKEN/);
      return true;
    });
  });

  test('a server that asks for the same stage for ever is left', async () => {
    let asked = 0;
    const ask: AskServer = async () => {
      asked += 1;
      return { status: 401, body: { flows: [{ stages: ['m.login.dummy'] }], session: 's' } };
    };
    await assert.rejects(register({ url: 'https://x.org', name: 'a', password: 'p' }, ask, signal), PeerError);
    assert.equal(asked, 5);
  });

  test('no passwords, no token, another token than it said: each is named', async () => {
    const sso = server({ 'https://x.org/_matrix/client/v3/login': { body: { flows: [{ type: 'm.login.sso' }] } } });
    const request = { url: 'https://x.org', user: 'a', password: 'p' };
    await assert.rejects(signIn(request, sso, signal), /takes no passwords/);
    const none: AskServer = async ({ method }) => ({
      status: 200,
      body: method === 'GET' ? { flows: [{ type: 'm.login.password' }] } : { user_id: '@a:x.org' },
    });
    await assert.rejects(signIn(request, none, signal), /gave no access token/);
    const calls: string[] = [];
    const stranger: AskServer = async ({ method, url }) => {
      calls.push(`${method} ${new URL(url).pathname.split('/').at(-1)}`);
      if (url.endsWith('/whoami'))
        return { status: 401, body: { errcode: 'M_UNKNOWN_TOKEN', error: 'no\u001b[31m such' } };
      return { status: 200, body: { access_token: 't' } };
    };
    await assert.rejects(
      signIn(request, stranger, signal),
      /does not confirm the new sign-in: no such \(M_UNKNOWN_TOKEN\)/,
    );
    assert.deepEqual(calls, ['GET login', 'POST login', 'GET whoami', 'POST logout'], 'no sign-in is left behind');
  });
});
