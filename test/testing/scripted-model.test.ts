/** The scripted model fails loudly. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { userMessage } from '#core/model/message.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { collect, GREETING, textOf } from '../contract/model-client.contract.ts';
import { verifies } from '../verifies.ts';

describe('scripted model', () => {
  verifies(
    ['core:model:scripted-fails-loudly', 'core:entry:testing'],
    'an unexpected call throws, also in done()',
    async () => {
      const model = createScriptedModel(['one']);
      assert.equal(textOf(await collect(model, GREETING)), 'one');
      await assert.rejects(collect(model, GREETING), /call 2 was not expected/);
      assert.throws(() => model.done(), /1 unexpected/);
    },
  );

  verifies('core:model:scripted-fails-loudly', 'leftover steps throw in done(), which runs by itself', () => {
    const after: (() => void | Promise<void>)[] = [];
    createScriptedModel(['one', { error: 'model-auth' }, () => 'two'], {
      context: { after: (run) => after.push(run) },
    });
    assert.equal(after.length, 1);
    assert.throws(() => after[0]?.(), /3 steps left over: "one", \{"error":"model-auth"\}, function/);
  });

  verifies('core:model:scripted-fails-loudly', 'requests are frozen snapshots', async () => {
    const model = createScriptedModel(['ok']);
    const messages = [userMessage('a')];
    await collect(model, { ...GREETING, messages });
    messages.push(userMessage('b'));
    const [seen] = model.requests;
    assert.ok(seen);
    assert.equal(seen.messages.length, 1);
    assert.throws(() => (seen.messages as unknown[]).push('c'), TypeError);
    assert.ok(Object.isFrozen(seen.messages[0]?.parts));
  });

  test('every kind of step', async () => {
    const model = createScriptedModel([
      { reply: ['a', 'b'], reasoning: 'r', usage: { inputTokens: 5 }, finish: 'length' },
      {
        text: 't',
        calls: [
          { name: 'echo', malformed: '{' },
          { name: 'echo', callId: 'mine' },
        ],
      },
      { refusal: 'no' },
      { error: 'model-overloaded', after: 'x' },
      { events: [{ type: 'text-delta', text: 'raw' }] },
      (request) => `you said ${request.messages.length}`,
    ]);
    const types = async () => (await collect(model, GREETING)).map((event) => event.type);
    assert.deepEqual(await types(), ['reasoning-delta', 'text-delta', 'text-delta', 'finish']);
    assert.deepEqual(await types(), ['text-delta', 'tool-call', 'tool-call', 'finish']);
    assert.deepEqual(await types(), ['text-delta', 'finish']);
    await assert.rejects(types(), { code: 'model-overloaded', retryable: true });
    assert.deepEqual(await types(), ['text-delta']);
    assert.equal(textOf(await collect(model, GREETING)), 'you said 1');
    assert.equal(model.left, 0);
    model.push('more');
    assert.equal(textOf(await collect(model, GREETING)), 'more');
    model.done();
  });
});
