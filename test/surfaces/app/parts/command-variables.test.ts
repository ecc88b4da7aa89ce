/** What of the environment a command sees. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { commandVariables, isSecretVariable } from '#surfaces/app/parts/command-variables.ts';

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
