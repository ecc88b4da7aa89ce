/** The guide to golems, typed word for word into a fresh home: a newcomer ends with a golem that cured a planted failure. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { test } from 'node:test';
import { createTempHome } from '#testing/temp-home.ts';
import { COMPILE_CACHE } from '../scenario/cli-process.ts';

const root = resolve(import.meta.dirname, '../..');

test('every block of the shell in the guide works, in order, and what it shows is what comes', {
  timeout: 300_000,
}, (t) => {
  const { path: home } = createTempHome(t);
  mkdirSync(join(home, 'data'));
  const guide = readFileSync(join(root, 'docs/guide/golems.md'), 'utf8');
  const blocks = Array.from(guide.matchAll(/^```sh\n([\s\S]*?)^```$/gm), ([, block = '']) => block);
  assert.ok(blocks.length >= 8, 'the guide has its blocks');
  const path = [join(root, 'bin'), process.env.PATH ?? ''].join(delimiter);
  const env = {
    PATH: path,
    HOME: home,
    XDG_DATA_HOME: join(home, 'data'),
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    NO_COLOR: '1',
  };
  const done = spawnSync('sh', ['-e'], { cwd: home, input: blocks.join('\n'), encoding: 'utf8', env });
  assert.equal(done.status, 0, done.stdout + done.stderr);
  assert.match(done.stdout, /tick 1 · T2 · rule · disk · .*rotate-logs · done: no check fails · expected 0\.50\n/);
  assert.match(
    done.stdout,
    /did {6}rotate-logs: ok, changed something, \d+ ms\ncame {5}success, no check fails \(check disk\)/,
  );
  assert.match(done.stdout, /tick 1 · T2 · rule · error-not-found · .*sh tasks\/build\.sh · done: sh test\.sh passes/);
  assert.match(done.stdout, /ledger ended at tick 1 \(owner-kill\)\. Testament: [\s\S]*next is born: /);
  assert.match(done.stdout, /"result":\{"value":\{"count":0\},"events":\[\{"type":"SkillsLoaded","count":0\}\]/);
});
