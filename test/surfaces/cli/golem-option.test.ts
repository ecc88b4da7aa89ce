/** `--golem NAME`: everything as if TALARIA_HOME named the home of that golem. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createCliStage } from '../../scenario/cli-process.ts';
import { slow } from '../../slow.ts';

describe('--golem', () => {
  slow('commands and chats are of its home; keys of the home around it reach it, and are copied nowhere', async (t) => {
    const stage = createCliStage(t);
    const home = join(stage.root, 'golems/luna');
    mkdirSync(home, { recursive: true, mode: 0o700 });
    writeFileSync(join(home, 'golem.toml'), '');
    writeFileSync(join(stage.root, '.env'), 'OPENAI_API_KEY=a-key-for-tests\n', { mode: 0o600 });
    const added = await stage.run(['--golem', 'luna', 'memory', 'add', 'it is hers']);
    assert.equal(added.code, 0, added.err);
    assert.match(readFileSync(join(home, 'memories/MEMORY.md'), 'utf8'), /it is hers/);
    assert.match((await stage.run(['--golem', 'luna', 'models'])).out, /openai\/.*OPENAI_API_KEY is set/);
    const env = { TALARIA_HOME: '../home' };
    const chat = await stage.run(['--golem', 'luna', '-m', 'reflex', 'what', 'is', 'here'], { env });
    assert.equal(chat.code, 0, chat.err);
    assert.match((await stage.run(['--golem', 'luna', 'sessions', 'list'])).out, /what is here/);
    assert.deepEqual(
      ['memories', 'state.db'].filter((name) => existsSync(join(stage.root, name))),
      [],
    );
    assert.equal(existsSync(join(home, '.env')), false);
  });

  test('a golem that is not there is refused with its folder, and so is `golem` itself', async (t) => {
    const stage = createCliStage(t);
    const home = join(stage.root, 'golems/luna');
    mkdirSync(home, { recursive: true, mode: 0o700 });
    writeFileSync(join(home, 'golem.toml'), '');
    for (const name of ['nova', '../golems/luna']) {
      const run = await stage.run(['--golem', name, 'sessions', 'list']);
      assert.equal(run.code, 2, run.err);
      assert.ok(run.err.includes(join(stage.root, 'golems', name)), run.err);
    }
    const run = await stage.run(['--golem', 'luna', 'golem', 'list']);
    assert.deepEqual([run.code, /--golem does not go with the command "golem"/.test(run.err)], [2, true]);
  });
});
