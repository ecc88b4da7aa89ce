/** What is offered behind `@`: files of the folder, without any program. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { absentAsker, denyingApprover } from '#core/agent/approver.ts';
import { ChatSession } from '#surfaces/cli/chat/chat-session.ts';
import { createCompletions } from '#surfaces/cli/chat/completions.ts';
import { createStage } from '../../app/app-fixture.ts';

const FILES = [
  'src/greet.js',
  'src/deep/greeting.js',
  'src/other.js',
  'my notes.txt',
  'README.md',
  '.env',
  'built/out.js',
  'node_modules/x/greet.js',
];

describe('completions', () => {
  it('first hour 7: @ offers files by name and folder, but no secret and nothing that ignore rules hide', async (t) => {
    const stage = createStage(t, { PATH: '' });
    for (const name of FILES) {
      mkdirSync(dirname(join(stage.cwd, name)), { recursive: true });
      writeFileSync(join(stage.cwd, name), '');
    }
    writeFileSync(join(stage.cwd, '.gitignore'), 'built/\n');
    const app = await stage.open({ model: 'reflex' });
    const seats = { approver: denyingApprover, asker: absentAsker, submit: () => undefined };
    const chat = new ChatSession({ app, ...seats, continueLast: false });
    const provider = await createCompletions(chat);
    const { signal } = new AbortController();
    const offered = async (line: string) => {
      const found = await provider.getSuggestions([line], 0, line.length, { signal });
      return found?.items.map(({ value }) => value) ?? [];
    };
    assert.deepEqual(await offered('show @'), ['@.gitignore', '@README.md', '@"my notes.txt"', '@src/']);
    assert.deepEqual(await offered('show @gre'), ['@src/greet.js', '@src/deep/greeting.js']);
    assert.deepEqual(await offered('@src/gr'), ['@src/greet.js', '@src/deep/greeting.js']);
    assert.deepEqual(await offered('(@src/'), ['@src/deep/', '@src/greet.js', '@src/other.js']);
    assert.deepEqual(await offered('@"my n'), ['@"my notes.txt"']);
    assert.deepEqual(await offered('@DEEP'), ['@src/deep/', '@src/deep/greeting.js']);
    assert.deepEqual(await offered('@.en'), []);
    assert.deepEqual(await offered('@nowhere/x'), []);
    assert.deepEqual(await offered('mail a@RE'), []);
    const found = await provider.getSuggestions(['show @my'], 0, 8, { signal });
    const [item] = found?.items ?? [];
    assert.ok(found && item);
    const { lines } = provider.applyCompletion(['show @my'], 0, 8, item, found.prefix);
    assert.deepEqual(lines, ['show @"my notes.txt" ']);
    assert.deepEqual((await offered('/hel')).slice(0, 1), ['help']);
  });
});
