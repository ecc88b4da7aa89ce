import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { createTempHome } from '#testing/temp-home.ts';
import { COMPILE_CACHE } from '../scenario/cli-process.ts';

const FOLDER = join(import.meta.dirname, '../../examples');

/** Run and looked at by a test of the deep run. */
const LONG = 'deep';

/** A line that shows that the example did what it is there for. */
const SHOWS: Readonly<Record<string, RegExp | typeof LONG>> = {
  'gateway.ts':
    /is an owner now\.[\s\S]*presses Once\n {2}bot {2}The build folder is gone\.[\s\S]*bot {2}Two tests broke/,
  'embed.ts': /The service listens on port 4711\.[\s\S]*ended: done/,
  'custom-tool.ts': /tool tide: Piraeus: 2\.4 m, rising\nThe tide at Piraeus is 2\.4 m and rising\./,
  'search-sessions.ts': /harbour #2: .*4711[\s\S]*harbour #4: /,
  'skills.ts': /valid: true\n {2}scan: safe\n[\s\S]*scan: dangerous\n {2}line 6: network\//,
  'check-synthesis.ts': /"accepted":true,"filled":\["result[\s\S]*"accepted":false[\s\S]*F3 is not present/,
  'peers-in-one-process.ts': /Carol audits what[\s\S]*says yes[\s\S]*new\n {6}the compiler is ready/,
  'peers-three-agents.ts': LONG,
  'parse-tool-calls.ts': /"calls":\[\{"name":"terminal","arguments":\{"command":"ls -la"\}\}\]/,
};

/** What each script of the shell shows without a model. */
const SCRIPTS: Readonly<Record<string, RegExp>> = {
  'rlm-dry-run.sh': /^Dry run: nothing was asked\. [\s\S]*\nWould be read:\n/,
  'rlm-vanilla-baseline.sh':
    /^Vanilla baseline completed; [\s\S]*\nhermes_subcalls: vanilla=1\nquality: vanilla=1\.00\n/,
  'rlm-truncation-comparison.sh':
    /^Shared truncation benchmark completed; [\s\S]*\nhermes_subcalls: vanilla=1, rlm=5\nchunks: selected=4, omitted=2\nquality: /,
};

describe('examples', () => {
  test('each is known here', () => {
    assert.deepEqual(
      readdirSync(FOLDER)
        .filter((name) => name.endsWith('.ts'))
        .sort(),
      Object.keys(SHOWS).sort(),
    );
  });

  for (const [name, shows] of Object.entries(SHOWS)) {
    if (shows === LONG) continue;
    test(`${name} runs offline and shows what it is for`, async () => {
      const env = { PATH: process.env.PATH, HOME: '/nonexistent', NODE_COMPILE_CACHE: COMPILE_CACHE };
      const { stdout } = await promisify(execFile)(process.execPath, [join(FOLDER, name)], { env });
      assert.match(stdout, shows);
    });
  }

  test('each script of the shell is known here, and is one command', () => {
    const scripts = readdirSync(FOLDER).filter((name) => name.endsWith('.sh'));
    assert.deepEqual(scripts.sort(), Object.keys(SCRIPTS).sort());
    for (const name of scripts) {
      const text = readFileSync(join(FOLDER, name), 'utf8');
      assert.match(
        text,
        /^#!\/bin\/sh\nexec "\$\(dirname "\$0"\)\/..\/(?:bin\/talaria|node_modules\/.bin\/node)" [^\n]+\n$/,
      );
      assert.equal(statSync(join(FOLDER, name)).mode & 0o111, 0o111, name);
    }
  });

  test('each runs without a key and shows what it is for', async (t) => {
    const { path } = createTempHome(t);
    const bin = join(path, 'bin');
    mkdirSync(bin);
    const main = join(FOLDER, '../src/surfaces/cli/main.ts');
    writeFileSync(join(bin, 'talaria'), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, { mode: 0o755 });
    const run = async ([name, shows]: readonly [string, RegExp]) => {
      const own = { HOME: path, TALARIA_HOME: join(path, name), NODE_COMPILE_CACHE: COMPILE_CACHE };
      const env = { PATH: `${bin}:/usr/bin:/bin`, ...own };
      const { stdout } = await promisify(execFile)(join(FOLDER, name), { env, cwd: join(FOLDER, '..') });
      assert.match(stdout, shows, name);
    };
    await Promise.all(Object.entries(SCRIPTS).map(run));
  });
});
