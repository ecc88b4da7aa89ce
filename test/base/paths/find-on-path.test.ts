/** Whose programs are run with the owner's rights: his own, and none that a command can have left. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { findOnPath, ownPath } from '#base/paths/typed-path.ts';
import { createTempHome } from '#testing/temp-home.ts';

function place(context: TestContext) {
  const root = createTempHome(context).path;
  const put = (path: string) => {
    const full = join(root, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, '#!/bin/sh\n', { mode: 0o755 });
    return full;
  };
  return { put, root, at: (path: string) => join(root, path) };
}

describe('base/paths/find-on-path', () => {
  it('passes over what a command may write, by whatever way it is named', (context) => {
    const { put, at } = place(context);
    for (const path of ['project/bin/tool', 'project/node_modules/.bin/tool', 'other/node_modules/.bin/tool'])
      put(path);
    symlinkSync(at('project'), at('link'));
    mkdirSync(at('home/bin'), { recursive: true });
    symlinkSync(at('project/bin/tool'), at('home/bin/tool'));
    const planted = ['bin', '.', 'project/bin', 'project/node_modules/.bin', 'other/node_modules/.bin', 'link/bin'];
    const path = ['bin', '', '.', ...[...planted, 'home/bin'].map(at)].join(':');
    for (const written of [[at('project')], [at('link')]]) assert.equal(findOnPath('tool', path, written), undefined);
    const own = put('own/tool');
    assert.equal(findOnPath('tool', `${path}:${dirname(own)}`, [at('project')]), own);
    assert.equal(ownPath(`${at('link/bin')}:rel:${at('own')}`, [at('project')]), at('own'));
    assert.equal(findOnPath('tool', at('project-2/bin'), [at('project')]), undefined);
    assert.equal(findOnPath('tool', dirname(put('project-2/bin/tool')), [at('project')]), at('project-2/bin/tool'));
  });

  it('passes over the folder that this process was started in, unless that is the home', () => {
    assert.equal(ownPath(`${process.cwd()}/bin:/usr/bin`), '/usr/bin');
  });
});
