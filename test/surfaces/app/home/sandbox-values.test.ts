/** Which openings are refused when they are set, and what doctor says of those that stand there. */
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { hopelessHost, hopelessPath } from '#surfaces/app/home/sandbox-values.ts';
import { createStage, runCommand } from '../app-fixture.ts';

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
