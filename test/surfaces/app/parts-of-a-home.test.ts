/** What of the environment a command sees. */
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { commandVariables, isSecretVariable } from '#surfaces/app/environment.ts';
import { hopelessHost, hopelessPath } from '#surfaces/app/walls.ts';
import { createStage, runCommand } from './app-fixture.ts';

const NONE = { named: [], hidden: new Set<string>() };

/** As developers have them; none of a known shape, so that the names alone decide. */
const SECRETS = {
  AWS_ACCESS_KEY_ID: 'short',
  AWS_SECRET_ACCESS_KEY: 'short',
  AWS_SESSION_TOKEN: 'short',
  GITHUB_TOKEN: 'short',
  GH_TOKEN: 'short',
  NPM_TOKEN: 'short',
  NODE_AUTH_TOKEN: 'short',
  VAULT_TOKEN: 'short',
  PGPASSWORD: 'short',
  OPENAI_API_KEY: 'short',
  GOOGLE_APPLICATION_CREDENTIALS: '/home/u/key.json',
  NODE_PRE_GYP_GITHUB_TOKEN: 'short',
};

describe('variables of a command', () => {
  test('are those of the list, and say that it is an agent', () => {
    const plain = { PATH: '/bin', HOME: '/home/u', LC_ALL: 'C', GOPATH: '/go', NODE_ENV: 'test', VIRTUAL_ENV: '/v' };
    const others = { SSH_AUTH_SOCK: '/s', EDITOR: 'vi', BASH_ENV: '/x', LD_PRELOAD: '/x.so', MY_OWN: '1', LC: '1' };
    const ours = { NODE_OPTIONS: '--inspect', NODE_COMPILE_CACHE: '/c', NODE_TEST_CONTEXT: 'child' };
    assert.deepEqual(commandVariables({ ...plain, ...others, ...ours }, NONE), { ...plain, TALARIA_INSIDE: '1' });
  });

  test('hold no secret, by name or by look, until the owner names it', () => {
    for (const [name, value] of Object.entries(SECRETS)) assert.ok(isSecretVariable(name, value), name);
    assert.deepEqual(Object.keys(commandVariables(SECRETS, NONE)), ['TALARIA_INSIDE']);
    const named = ['GITHUB_TOKEN', 'NOT_SET'];
    assert.deepEqual(Object.keys(commandVariables(SECRETS, { ...NONE, named })), ['GITHUB_TOKEN', 'TALARIA_INSIDE']);
    const proxy = { HTTPS_PROXY: 'http://me:pa55word-x@proxy:3128', GOPROXY: 'https://proxy.golang.org,direct' };
    assert.deepEqual(Object.keys(commandVariables(proxy, NONE)), ['GOPROXY', 'TALARIA_INSIDE']);
    const token = { NODE_EXTRA: `ghp_${'a1B2c3D4e5'.repeat(4)}` };
    assert.deepEqual(Object.keys(commandVariables(token, NONE)), ['TALARIA_INSIDE']);
  });

  test('carry no password beside what else they say', () => {
    const carriers = {
      MAVEN_OPTS: '-Xmx1g -Dnexus.user=u -Dnexus.pass=short',
      GRADLE_OPTS: '-PsigningPassword=short',
      NODE_PG_PASS: 'short',
      NODE_CONFIG: '{"db":{"user":"u", "pw": "short"}}',
      HTTPS_PROXY: 'http://alice:pw@proxy:3128',
      PIP_INDEX_URL: 'https://short@registry/simple',
    };
    assert.deepEqual(Object.keys(commandVariables(carriers, NONE)), ['TALARIA_INSIDE']);
    assert.deepEqual(commandVariables(carriers, { ...NONE, named: Object.keys(carriers) }), {
      ...carriers,
      TALARIA_INSIDE: '1',
    });
    const plain = {
      PATH: '/opt/pass:/srv/token:/usr/bin',
      MAVEN_OPTS: '-Xmx1g -Djava.awt.headless=true',
      CFLAGS: '-O2 -fpass-plugin=x.so -DNAME="a b"',
      NODE_CONFIG: '{"db":{"port":5432}}',
      HTTPS_PROXY: 'http://proxy:3128',
      GOPROXY: 'https://proxy.golang.org,direct',
      NO_PROXY: 'localhost,10.0.0.0/8',
    };
    assert.deepEqual(commandVariables(plain, NONE), { ...plain, TALARIA_INSIDE: '1' });
  });

  test('leave out what this home keeps as a key, whatever it is called', () => {
    const hidden = new Set(['GOFLAGS']);
    assert.deepEqual(Object.keys(commandVariables({ GOFLAGS: 'x' }, { named: [], hidden })), ['TALARIA_INSIDE']);
    assert.ok('GOFLAGS' in commandVariables({ GOFLAGS: 'x' }, { named: ['GOFLAGS'], hidden }));
  });

  test('cannot wipe the mark away by being named', () => {
    const named = ['TALARIA_INSIDE'];
    assert.equal(commandVariables({ TALARIA_INSIDE: '' }, { ...NONE, named }).TALARIA_INSIDE, '1');
  });
});

/** Which openings are refused when they are set, and what doctor says of those that stand there. */

describe('sandbox.hosts and sandbox.paths', () => {
  const ground = { environment: { userHome: '/home/u' }, home: { root: '/home/u/.talaria' } };

  it('hosts are names, with a port or a star before them', () => {
    const good = [
      'example.com',
      'example.com:8080',
      '*.example.com',
      '*.example.com:443',
      'localhost',
      'my_host',
      'bücher.example',
    ];
    for (const host of [...good, '127.0.0.1:80', '::1', '[::1]:80']) assert.equal(hopelessHost(host), undefined, host);
    for (const host of [
      'http://x/',
      'https://x',
      'x/y',
      'a b',
      '*',
      'x:port',
      ':80',
      'x.com:99999',
      'x:65536',
      'x:0',
      '[::1]:70000',
      '*.',
      'x..y',
    ])
      assert.ok(hopelessHost(host)?.startsWith(host), host);
  });

  it('paths are absolute or in the home, and not everything', () => {
    for (const path of ['/srv/x', '~/shared', '~/ref:ro', '/srv/x:ro', '~:ro', '/home/me/x', '~/.talaria-2'])
      assert.equal(hopelessPath(path, ground), undefined, path);
    const wrong = [
      '/',
      '//',
      '/..',
      '/:ro',
      'relative',
      './x',
      '../x',
      '~other/x',
      ':ro',
      '~',
      '~/',
      '~/x/..',
      '/root',
      '/home',
      '/home/me/',
    ];
    for (const path of [...wrong, '~/.talaria', '/home/u/.talaria/:ro', '~/x/../.talaria/skills'])
      assert.ok(hopelessPath(path, ground)?.startsWith(`${path}: `), path);
  });

  test('config set refuses what can open nothing, in a list and in the whole section', async (t) => {
    const stage = createStage(t);
    const set = async (key: string, value: unknown) =>
      (await runCommand(stage, 'config set', { key, value: JSON.stringify(value) })).failure;
    const fault = async (key: string, value: unknown) => (await set(key, value))?.message;
    assert.match(
      (await fault('sandbox.hosts', ['ok.example', 'x:99999'])) ?? '',
      /^sandbox\.hosts\.1: x:99999: a port/,
    );
    assert.match(
      (await fault('sandbox', { paths: ['relative'] })) ?? '',
      /^sandbox\.paths\.0: relative: a path begins/,
    );
    assert.match(
      (await fault('sandbox.paths', [stage.root])) ?? '',
      /^sandbox\.paths\.0: .*: no command is shown the ag/,
    );
    assert.equal((await set('sandbox.hosts', ['ok.example', 'http://x/']))?.code, 'config-value');
    assert.equal((await set('sandbox.paths', ['/']))?.code, 'config-value');
    const typed = await runCommand(stage, 'config set', { key: 'sandbox.hosts', value: '[registry.npmjs.org:443]' });
    assert.match(typed.failure?.message ?? '', /talaria config set sandbox\.hosts '\["registry\.npmjs\.org:443"\]'/);
    assert.equal((await set('sandbox', { mode: 'auto', paths: ['relative'] }))?.code, 'config-value');
    assert.equal((await set('sandbox.hosts', ['*.ok.example:443']))?.code, undefined);
    assert.equal((await set('sandbox.paths', ['/nope', '~/not-there:ro', stage.cwd]))?.code, undefined);
    const doctor = await runCommand(stage, 'doctor', { offline: true });
    assert.match(doctor.text, /warn {2}walls: sandbox\.paths: \/nope is not there/);
    assert.match(doctor.text, /sandbox\.paths: ~\/not-there:ro is not there/);
    assert.equal(doctor.text.match(/is not there, so it opens nothing/g)?.length, 2);
  });
});
