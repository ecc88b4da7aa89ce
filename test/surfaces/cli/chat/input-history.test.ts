/** Lines that come back with the arrow key, also after a restart; keys never. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isSecret, openInputHistory } from '#surfaces/cli/chat/input-history.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';

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
