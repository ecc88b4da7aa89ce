/** What a command of the curator cannot do without is asked for by the words to type. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { extensionCommands } from '#surfaces/app/commands/shell-commands.ts';
import { createStage } from '../../../surfaces/app/app-fixture.ts';

const RAW = /expected (?:string|array)|received|invalid input|too small/i;

describe('the flags that must be typed', () => {
  test('are named when they are missing or empty, in no word of the checker', async (t) => {
    const { environment } = createStage(t);
    const all = await extensionCommands({ environment, app: () => assert.fail('the agent was opened') });
    const commands = all.filter(({ name }) => name.startsWith('curator'));
    const found: string[] = [];
    for (const { name, input } of commands) {
      const missing = input.safeParse({});
      if (missing.success) continue;
      for (const { path, message } of missing.error.issues) {
        const key = String(path[0]);
        found.push(`${name} ${key}`);
        assert.doesNotMatch(message, RAW, `${name} ${key}`);
        const empty = input.safeParse({ [key]: key === 'ids' ? [] : '' });
        const said = empty.error?.issues.find((issue) => issue.path[0] === key)?.message;
        assert.equal(said, message, `${name} ${key}, empty`);
      }
    }
    assert.ok(found.length >= 12, found.join('\n'));
  });
});
