/** Taking away what was planted: a link that was turned meanwhile leads to nothing else. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { removedNote } from '#core/tools/terminal/enclosed-run.ts';
import { moveAway } from '#core/tools/terminal/move-away.ts';
import { createTempHome } from '#testing/temp-home.ts';

function scene(context: TestContext) {
  const home = realpathSync(createTempHome(context).path);
  const [folder, trash] = [join(home, 'proj'), join(home, 'trash')];
  for (const path of [folder, trash, join(home, '.ssh'), join(folder, 'hooks')]) mkdirSync(path);
  writeFileSync(join(home, '.ssh/id'), 'key');
  writeFileSync(join(folder, 'hooks/post-merge'), 'evil');
  return { home, folder, trash };
}

describe('core/tools/terminal: what is taken away', () => {
  it('is never what lies behind a link', (context) => {
    const { home, folder, trash } = scene(context);
    symlinkSync('..', join(folder, 'link'));
    assert.throws(() => moveAway(join(folder, 'link/.ssh'), join(trash, 'x')), { code: 'path-moved' });
    const note = removedNote({ planted: [join(folder, 'link/.ssh')] });
    assert.match(note, /^\[STILL THERE, .*\.ssh/);
    assert.equal(readFileSync(join(home, '.ssh/id'), 'utf8'), 'key');
  });

  it('is a file, a folder with all in it, a link as such; what is gone is no error', (context) => {
    const { home, folder, trash } = scene(context);
    symlinkSync(join(home, '.ssh'), join(folder, 'hooks/to'));
    moveAway(join(folder, 'hooks'), join(trash, 'hooks'));
    moveAway(join(folder, 'hooks'), join(trash, 'again'));
    assert.ok(!existsSync(join(folder, 'hooks')));
    assert.equal(readFileSync(join(trash, 'hooks/post-merge'), 'utf8'), 'evil');
    assert.equal(readlinkSync(join(trash, 'hooks/to')), join(home, '.ssh'));
  });

  it('also goes to another disk', (context) => {
    if (!existsSync('/dev/shm')) return;
    const { home, folder } = scene(context);
    const trash = mkdtempSync('/dev/shm/talaria-test-');
    context.after(() => rmSync(trash, { recursive: true }));
    symlinkSync(join(home, '.ssh'), join(folder, 'hooks/to'));
    moveAway(join(folder, 'hooks'), join(trash, 'hooks'));
    assert.ok(!existsSync(join(folder, 'hooks')) && existsSync(join(home, '.ssh/id')));
    assert.equal(readFileSync(join(trash, 'hooks/post-merge'), 'utf8'), 'evil');
    assert.equal(readlinkSync(join(trash, 'hooks/to')), join(home, '.ssh'));
  });
});
