/** `skills export` and links; `skills list` and what could not be read. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { skillText } from '../../../../mind/skills/door/open-door.ts';
import { createStage, runCommand } from '../../app-fixture.ts';

describe('skills export', () => {
  test('a link that leads out is not copied, and said; one inside is', async (t) => {
    const stage = createStage(t);
    stage.temp.write('home/skills/data/box/SKILL.md', skillText('box'));
    stage.temp.write('secret.txt', 'a secret');
    const folder = join(stage.root, 'skills/data/box');
    mkdirSync(join(folder, 'references'));
    symlinkSync(join(stage.temp.path, 'secret.txt'), join(folder, 'references/out.txt'));
    symlinkSync('../../../../../secret.txt', join(folder, 'references/up.txt'));
    symlinkSync(stage.temp.path, join(folder, 'assets'));
    symlinkSync('../SKILL.md', join(folder, 'references/in.md'));
    const { text, failure } = await runCommand(stage, 'skills export', { name: 'box', to: 'copy' });
    assert.equal(failure, undefined, text);
    const copy = join(stage.cwd, 'copy/box');
    assert.equal(readFileSync(join(copy, 'references/in.md'), 'utf8'), skillText('box'));
    for (const path of ['references/out.txt', 'references/up.txt', 'assets']) {
      assert.ok(!existsSync(join(copy, path)), path);
      assert.match(text, new RegExp(`not copied: ${path} is a link`));
    }
  });
});

describe('skills list', () => {
  test('what could not be read is said, with its reason', async (t) => {
    const stage = createStage(t);
    stage.temp.write('home/skills/box/SKILL.md', skillText('box'));
    stage.temp.write('home/skills/bad/SKILL.md', '---js\nx\n---\n');
    const { text } = await runCommand(stage, 'skills list', {});
    const app = await stage.open();
    const [problem] = app.skills.library.problems();
    assert.ok(problem, 'the bad one is a problem');
    assert.ok(text.includes(`not read: ${problem.detail}`), text);
  });
});
