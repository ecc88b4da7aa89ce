/** Lines that come back with the arrow key, also after a restart; keys never. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { absentAsker, denyingApprover } from '#core/agent/approver.ts';
import { ChatSession } from '#surfaces/cli/chat/chat-session.ts';
import { createCompletions } from '#surfaces/cli/chat/completions.ts';
import { isSecret, openInputHistory } from '#surfaces/cli/chat/typed-line.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';
import { createStage } from '../../app/app-fixture.ts';

const fail = (error: unknown) => assert.fail(String(error));

describe('input history', () => {
  verifies('core:cli:multi-line', 'is kept for the next start, lines of several lines included', (t) => {
    const path = join(createTempHome(t).path, 'input-history');
    const first = openInputHistory(path, fail);
    for (const line of ['one', 'two\nlines', 'two\nlines', 'three']) first.add(line);
    assert.deepEqual(openInputHistory(path, fail).lines, ['one', 'two\nlines', 'three']);
    const [left, right] = [openInputHistory(path, fail), openInputHistory(path, fail)];
    left.add('in one chat');
    right.add('in another');
    assert.deepEqual(openInputHistory(path, fail).lines.slice(-2), ['in one chat', 'in another']);
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  it('never holds a key', (t) => {
    const path = join(createTempHome(t).path, 'input-history');
    const history = openInputHistory(path, fail);
    const secret = `sk-${'a1B2'.repeat(12)}`;
    for (const line of [
      `my key is ${secret}`,
      `/model add ${secret}`,
      '/model add short',
      '/model  add',
      '/setup --key x',
    ])
      history.add(line);
    history.add('harmless');
    assert.equal(readFileSync(path, 'utf8'), '"harmless"\n');
    assert.ok(isSecret(`export OPENAI_API_KEY=${secret}`));
    assert.ok(!isSecret('/model other'));
  });

  it('keeps the newest, leaves out damaged and huge lines, and says when it cannot be written', (t) => {
    const home = createTempHome(t).path;
    const path = join(home, 'input-history');
    writeFileSync(path, `"old"\n{"not":"a line"}\nnonsense\n${'"x"\n'.repeat(3)}`);
    const history = openInputHistory(path, fail);
    assert.deepEqual(history.lines, ['old', 'x', 'x', 'x']);
    for (let i = 0; i < 250; i++) history.add(`line ${i}`);
    history.add('y'.repeat(100_000));
    assert.equal(history.lines.length, 200);
    assert.equal(history.lines.at(-1)?.slice(0, 20), 'line 249');
    const problems: unknown[] = [];
    mkdirSync(join(home, 'folder'));
    openInputHistory(join(home, 'folder'), (error) => problems.push(error)).add('lost');
    assert.equal(problems.length, 2);
  });
});

/** What is offered behind `@`: files of the folder, without any program. */

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
