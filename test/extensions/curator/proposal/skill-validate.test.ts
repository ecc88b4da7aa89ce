import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { findHome } from '#surfaces/app/home/home.ts';
import { extensionGround } from '#surfaces/app/host/lend-ground.ts';
import { createStage, type Stage } from '../../../surfaces/app/app-fixture.ts';
import { verifies } from '../../../verifies.ts';
import { runCommand } from './proposal-stage.ts';

const GOOD = '---\nname: a\ndescription: d\n---\n';

function validate(stage: Stage, input: object = {}) {
  const { environment, cwd } = stage;
  const app = () => Promise.reject(new Error('it composed the agent'));
  const ground = extensionGround({ environment, home: findHome(environment), clock: systemClock, app });
  return runCommand(ground, { name: 'curator skill-validate', input, cwd });
}

const pathsOf = (data: object) =>
  ('results' in data ? (data.results as readonly { path: string }[]) : []).map(({ path }) => path);

describe('curator skill-validate', () => {
  verifies(
    'curator:validate:skill-file',
    'a folder stands for every SKILL.md below it; faults leave with 1',
    async (t) => {
      const stage = createStage(t);
      const good = stage.temp.write('work/b/SKILL.md', GOOD);
      const hidden = stage.temp.write('work/.archive/x/SKILL.md', GOOD);
      stage.temp.write('work/b/notes.md', 'x');
      symlinkSync(stage.cwd, join(stage.cwd, 'b', 'loop'));
      const whole = await validate(stage);
      assert.deepEqual([whole.failure, pathsOf(whole.data)], [undefined, [hidden, good]]);
      assert.deepEqual(JSON.parse(whole.text), whole.data);
      stage.temp.write('work/a/SKILL.md', 'no front matter');
      const bad = await validate(stage, { format: 'text' });
      assert.deepEqual([bad.failure?.exitCode, bad.data.checked], [1, 3]);
      assert.match(bad.text, /✗ .*work\/a\/SKILL\.md: missing-frontmatter\n✓ [\s\S]*3 checked, 1 with faults$/);
    },
  );

  test('arguments come before the variable, the variable before the folder', async (t) => {
    const variables = { HERMES_CURATOR_TARGET_PATH: '' };
    const stage = createStage(t, variables);
    const there = stage.temp.write('other/SKILL.md', GOOD);
    const named = stage.temp.write('work/n/SKILL.md', GOOD);
    assert.equal((await validate(stage)).data.target_from_env, false);
    Object.assign(stage.environment.variables, { HERMES_CURATOR_TARGET_PATH: there });
    const byVariable = (await validate(stage)).data;
    assert.deepEqual([byVariable.target_from_env, pathsOf(byVariable)], [true, [there]]);
    const byName = (await validate(stage, { paths: ['n', '~/other'] })).data;
    assert.deepEqual([byName.target_from_env, pathsOf(byName)], [false, [named, there]]);
  });

  test('nothing, and what is no file, is not in order', async (t) => {
    const stage = createStage(t);
    const nothing = await validate(stage, { format: 'text' });
    assert.deepEqual([nothing.failure?.exitCode, nothing.data.ok], [1, false]);
    assert.match(nothing.text, /no SKILL\.md was found/);
    const missing = await validate(stage, { paths: ['x/SKILL.md', '/dev/null'] });
    assert.match(missing.text, /"file-not-found"[\s\S]*"file-not-found"/);
  });
});
