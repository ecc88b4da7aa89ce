/** `talaria peers login`: the address and user as typed, finding the server, signing up and in, what is kept.  */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import {
  type AskServer,
  findServer,
  isPrivateHost,
  isUser,
  readAddress,
  readUser,
} from '#extensions/hive/commands/find-server.ts';
import { register, signIn } from '#extensions/hive/commands/login-command.ts';
import { PeerError } from '#public/peers.ts';
import type { JsonObject } from '#public/talaria.ts';
import { startFake } from '../../contract/hive/hive-stage.ts';
import { createStage, runCommand, type Stage } from '../../surfaces/app/app-fixture.ts';
import { verifies } from '../../verifies.ts';

const PASSWORD = 'correct horse battery';

const withPassword = { MATRIX_PASSWORD: PASSWORD };

function files({ root }: Stage): { readonly config: string; readonly env: string } {
  const read = (name: string) => (existsSync(join(root, name)) ? readFileSync(join(root, name), 'utf8') : '');
  return { config: read('config.yaml'), env: read('.env') };
}

/** Runs it, and checks that nothing was kept. */
async function refusedLogin(stage: Stage, input: object, ask?: (question: string) => Promise<string>) {
  const before = files(stage);
  const ran = await runCommand(stage, 'peers login', input, ask);
  assert.ok(ran.failure, ran.text);
  assert.deepEqual(files(stage), before);
  assert.notEqual(ran.failure.fix, '');
  return ran.failure;
}

async function server(t: TestContext, options = {}) {
  return startFake({ context: t, ...options });
}

describe('peers login', () => {
  verifies(['R4.9', 'R4.10', 'R4.11', 'R4.12'], 'makes an account, and the agent has its provider', async (t) => {
    const { url } = await server(t);
    const stage = createStage(t, withPassword);
    const { text, data, failure } = await runCommand(stage, 'peers login', {
      url: `${url}/`,
      user: 'hermes-of-alice',
      register: true,
    });
    assert.equal(failure, undefined, text);
    assert.match(
      text,
      /note: http is not encrypted[\s\S]*signed in as @hermes-of-alice:localhost \(device \w+\)[\s\S]*Next: /,
    );
    const { config, env } = files(stage);
    assert.match(config, /provider: hivemind\n/);
    assert.match(config, new RegExp(`MATRIX_HOMESERVER: "?${url}"?\\n`));
    assert.match(config, /MATRIX_USER_ID: "@hermes-of-alice:localhost"\n/);
    assert.match(config, /MATRIX_ACCESS_TOKEN: \$\{MATRIX_ACCESS_TOKEN\}\n/);
    const token = /^MATRIX_ACCESS_TOKEN=(\S+)$/m.exec(env)?.[1] ?? '';
    assert.ok(
      token.length > 8 && !config.includes(token) && !text.includes(token) && !JSON.stringify(data).includes(token),
    );
    assert.ok(![config, env, text].join().includes(PASSWORD));
    assert.equal(statSync(join(stage.root, '.env')).mode & 0o777, 0o600);
    const listed = await runCommand(stage, 'peers list');
    assert.equal(listed.failure, undefined, listed.text);
    const app = await stage.open({ model: 'reflex' });
    assert.deepEqual(app.notices, []);
    assert.equal((await app.tools()).tools.filter(({ name }) => name.startsWith('hivemind_')).length, 6);
  });

  test('asks for the password, twice for a new account, and takes three forms of a user', async (t) => {
    const { url } = await server(t);
    const stage = createStage(t);
    const asked: string[] = [];
    const ask = async (question: string) => {
      asked.push(question);
      return PASSWORD;
    };
    const made = await runCommand(stage, 'peers login', { url, user: 'alice', register: true }, ask);
    assert.equal(made.failure, undefined, made.text);
    assert.deepEqual(asked, ['Password of alice:', 'The same again:']);
    for (const user of ['alice', '@alice:localhost', 'alice@localhost']) {
      const again = await runCommand(stage, 'peers login', { url, user }, ask);
      assert.equal(again.failure, undefined, again.text);
    }
    assert.equal(asked.length, 5, 'nothing is replaced by the same user');
    const different = await refusedLogin(
      stage,
      { url, user: 'new', register: true, yes: true },
      async (question) => question,
    );
    assert.deepEqual([different.exitCode, different.code], [2, 'password-differs']);
  });

  test('a sign-in elsewhere never leaves the new token beside the old server', async (t) => {
    const [{ url }, other] = [await server(t), await server(t)];
    const stage = createStage(t, withPassword);
    await runCommand(stage, 'peers login', { url, user: 'alice', register: true });
    const before = files(stage);
    const moved = await runCommand(stage, 'peers login', { url: other.url, user: 'alice', register: true, yes: true });
    assert.equal(moved.failure, undefined, moved.text);
    const { config, env } = files(stage);
    assert.match(config, /MATRIX_ACCESS_TOKEN: \$\{MATRIX_ACCESS_TOKEN_2\}\n/);
    const token = /^MATRIX_ACCESS_TOKEN_2=(\S+)$/m.exec(env)?.[1] ?? '';
    assert.ok(token.length > 8 && !before.env.includes(token));
    assert.doesNotMatch(env, /^MATRIX_ACCESS_TOKEN=/m);
    const listed = await runCommand(stage, 'peers list');
    assert.equal(listed.failure, undefined, listed.text);
  });

  test('the same user goes on as the same device', async (t) => {
    const { url } = await server(t);
    const stage = createStage(t, withPassword);
    const first = await runCommand(stage, 'peers login', { url, user: 'alice', register: true });
    const second = await runCommand(stage, 'peers login', { url, user: 'alice' });
    const device = (ran: typeof first) => (ran.data as { readonly device_id: string }).device_id;
    assert.equal(device(second), device(first));
  });

  test('another user replaces the sign-in only after a yes', async (t) => {
    const { url } = await server(t);
    const stage = createStage(t, withPassword);
    await runCommand(stage, 'peers login', { url, user: 'alice', register: true });
    const alone = await refusedLogin(stage, { url, user: 'bob', register: true });
    assert.deepEqual([alone.exitCode, alone.code], [3, 'needs-yes']);
    let question = '';
    const no = await refusedLogin(stage, { url, user: 'bob', register: true }, async (asked) => {
      question = asked;
      return 'n';
    });
    assert.deepEqual([no.exitCode, no.code, question], [3, 'not-agreed', 'Replace it? [y/N]']);
    const yes = await runCommand(stage, 'peers login', { url, user: 'bob', register: true, yes: true });
    assert.match(yes.text, /signed in as @alice:localhost at [\s\S]*signed in as @bob:localhost/);
    assert.match(files(stage).config, /"@bob:localhost"/);
  });

  test('another memory provider is replaced only after a yes; comments of the file stay', async (t) => {
    const { url } = await server(t);
    const stage = createStage(t, withPassword);
    await stage.open({ model: 'reflex' });
    writeFileSync(join(stage.root, 'config.yaml'), 'version: 1\nmemory:\n  provider: honcho # mine\n');
    const failure = await refusedLogin(stage, { url, user: 'alice', register: true });
    assert.equal(failure.code, 'needs-yes');
    const ran = await runCommand(stage, 'peers login', { url, user: 'alice', register: true, yes: true });
    assert.match(ran.text, /memory\.provider is honcho; it will be hivemind/);
    assert.match(files(stage).config, /provider: hivemind # mine\n/);
  });

  test('a registration token is used, with and without further steps', async (t) => {
    for (const strict of [true, false]) {
      const { url } = await server(t, { registrationToken: 'let-me-in', strict });
      const input = { url, user: 'alice', register: true };
      const without = await refusedLogin(createStage(t, withPassword), input);
      assert.match(without.fix, /MATRIX_REGISTRATION_TOKEN/);
      const wrong = await refusedLogin(createStage(t, { ...withPassword, MATRIX_REGISTRATION_TOKEN: 'no' }), input);
      assert.match(wrong.message, /Invalid registration token/);
      const right = createStage(t, { ...withPassword, MATRIX_REGISTRATION_TOKEN: 'let-me-in' });
      const ran = await runCommand(right, 'peers login', input);
      assert.equal(ran.failure, undefined, ran.text);
    }
  });

  verifies(['R4.72'], 'what is typed or answered wrongly is named, with what to do, and nothing is kept', async (t) => {
    const fake = await server(t);
    const { url } = fake;
    const stage = createStage(t, withPassword);
    const account = await fake.register('taken');
    const expect = async (input: object, exitCode: number, pattern: RegExp) => {
      const failure = await refusedLogin(stage, input);
      assert.equal(failure.exitCode, exitCode, failure.message);
      assert.match(`${failure.message} ${failure.fix}`, pattern);
    };
    await expect({ url: 'ftp://x', user: 'alice' }, 2, /ftp:\/\/x is no address of a server/);
    await expect({ url: 'http://matrix.example.org', user: 'alice' }, 2, /readable over the network/);
    await expect({ url, user: 'a b' }, 2, /a b is no user/);
    await expect({ url: 'http://127.0.0.1:1', user: 'alice' }, 1, /127\.0\.0\.1:1.*Check the address/);
    await expect(
      { url, user: 'alice' },
      1,
      /does not sign alice in: Invalid username or password \(M_FORBIDDEN\).*--register/,
    );
    await expect({ url, user: account.userId, register: true }, 3, /already taken.*Leave --register out/);
    await expect({ url, user: 'Ünfit', register: true }, 3, /A name has small letters/);
    for (const [fault, exitCode, pattern] of [
      [{ type: 'html' }, 1, /a web page.*Check the address/],
      [{ type: 'reset' }, 1, /broke.*Check the address/],
      [{ type: 'status', status: 502, body: '<html>' }, 1, /has a fault \(HTTP 502\).*Try again later/],
      [{ type: 'status', status: 404, body: '{"errcode":"M_UNRECOGNIZED"}' }, 1, /is no Matrix server/],
    ] as const) {
      const undo = fake.wire.fail(() => true, fault, 99);
      await expect({ url, user: 'taken' }, exitCode, pattern);
      undo();
    }
    const undo = fake.wire.fail(({ method, path }) => method === 'POST' && path.endsWith('/login'), {
      type: 'status',
      status: 429,
      body: '{"errcode":"M_LIMIT_EXCEEDED","error":"Too many requests","retry_after_ms":4200}',
    });
    await expect({ url, user: 'taken' }, 1, /Too many requests.*asks for 5 s/);
    undo();
  });

  test('without a person and without MATRIX_PASSWORD there is no password', async (t) => {
    const { url } = await server(t);
    const failure = await refusedLogin(createStage(t), { url, user: 'alice' });
    assert.deepEqual([failure.exitCode, failure.code], [3, 'password-missing']);
    assert.match(failure.fix, /MATRIX_PASSWORD/);
  });

  test('what cannot be kept is signed out again', async (t) => {
    const fake = await server(t);
    const stage = createStage(t, withPassword);
    await stage.open({ model: 'reflex' });
    writeFileSync(join(stage.root, 'config.yaml'), 'version: 99\n');
    await fake.register('x');
    const failure = await refusedLogin(stage, { url: fake.url, user: 'alice', register: true, yes: true });
    assert.equal(failure.exitCode, 1);
    const last = fake.wire.requests().at(-1);
    assert.match(last?.path ?? '', /\/logout$/);
  });
});

/** Answers by address; what is not named is a page. */
function loginPartsServer(
  answers: Readonly<Record<string, { readonly status?: number; readonly body: JsonObject }>>,
): AskServer {
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
    const found = await findServer('example.org', loginPartsServer(told));
    assert.deepEqual(found, { ok: true, value: { url: 'https://matrix.example.org', isOpen: false } });
    const silent = loginPartsServer({ 'https://example.org/_matrix/client/versions': VERSIONS });
    assert.deepEqual(await findServer('example.org', silent), {
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
    const found = await findServer('example.org', loginPartsServer(told));
    assert.ok(!found.ok && found.reason === 'address-unprotected');
  });

  test('what answers JSON and is no Matrix server is said to be none', async () => {
    const other = loginPartsServer({ 'https://x.org/_matrix/client/versions': { body: { hello: 'world' } } });
    await assert.rejects(findServer('https://x.org', other), /https:\/\/x\.org is no Matrix server/);
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
    await assert.rejects(register({ url: 'https://x.org', name: 'a', password: 'p' }, ask), /need a browser/);
    assert.equal(asked.length, 1);
    const token: AskServer = async () => ({
      status: 401,
      body: { flows: [{ stages: ['m.login.registration_token'] }], session: 's' },
    });
    await assert.rejects(register({ url: 'https://x.org', name: 'a', password: 'p' }, token), (error) => {
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
    await assert.rejects(register({ url: 'https://x.org', name: 'a', password: 'p' }, ask), PeerError);
    assert.equal(asked, 5);
  });

  test('no passwords, no token, another token than it said: each is named', async () => {
    const sso = loginPartsServer({
      'https://x.org/_matrix/client/v3/login': { body: { flows: [{ type: 'm.login.sso' }] } },
    });
    const request = { url: 'https://x.org', user: 'a', password: 'p' };
    await assert.rejects(signIn(request, sso), /takes no passwords/);
    const none: AskServer = async ({ method }) => ({
      status: 200,
      body: method === 'GET' ? { flows: [{ type: 'm.login.password' }] } : { user_id: '@a:x.org' },
    });
    await assert.rejects(signIn(request, none), /gave no access token/);
    const calls: string[] = [];
    const stranger: AskServer = async ({ method, url }) => {
      calls.push(`${method} ${new URL(url).pathname.split('/').at(-1)}`);
      if (url.endsWith('/whoami'))
        return { status: 401, body: { errcode: 'M_UNKNOWN_TOKEN', error: 'no\u001b[31m such' } };
      return { status: 200, body: { access_token: 't' } };
    };
    await assert.rejects(signIn(request, stranger), /does not confirm the new sign-in: no such \(M_UNKNOWN_TOKEN\)/);
    assert.deepEqual(calls, ['GET login', 'POST login', 'GET whoami', 'POST logout'], 'no sign-in is left behind');
  });
});
