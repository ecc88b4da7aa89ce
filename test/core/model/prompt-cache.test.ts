/** Cache marks, as seed 001 chapter 6 places them. The laws for any input are in test/property/model-prompt.property.test.ts. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { userMessage } from '#core/model/message.ts';
import { chatBody } from '#core/model/providers/openai-client.ts';
import { applyCacheMarks, markedIndexes } from '#core/model/providers/prompt-cache.ts';
import { verifies } from '../../verifies.ts';

const conversation = [
  { role: 'system', content: 'You act.' },
  { role: 'user', content: 'one' },
  { role: 'assistant', content: 'two' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'context' },
      { type: 'text', text: 'three' },
    ],
  },
  { role: 'assistant', content: null, tool_calls: [{ id: 'c' }] },
];

describe('cache marks by the seed', () => {
  verifies(
    ['core:cache:system-and-last-three', 'core:cache:at-most-four-marks'],
    'system and the last three others, four in all',
    () => {
      assert.deepEqual(markedIndexes(conversation.map(({ role }) => role)), [0, 2, 3, 4]);
      const marks = JSON.stringify(applyCacheMarks(conversation)).match(/cache_control/g);
      assert.equal(marks?.length, 4);
    },
  );

  verifies('core:cache:no-system-message', 'without a system message all four stand on the last messages', () => {
    assert.deepEqual(markedIndexes(['user', 'assistant', 'user', 'assistant', 'user']), [1, 2, 3, 4]);
  });

  verifies(
    ['core:cache:string-content', 'core:cache:last-block'],
    'text becomes a block with the mark; of blocks the last carries it; no content marks the message',
    () => {
      const marked = applyCacheMarks(conversation);
      const mark = { type: 'ephemeral' };
      assert.deepEqual(marked[0]?.content, [{ type: 'text', text: 'You act.', cache_control: mark }]);
      assert.equal(marked[1]?.content, 'one');
      assert.deepEqual(marked[3]?.content, [
        { type: 'text', text: 'context' },
        { type: 'text', text: 'three', cache_control: mark },
      ]);
      assert.deepEqual(marked[4], { role: 'assistant', content: null, tool_calls: [{ id: 'c' }], cache_control: mark });
    },
  );

  verifies('core:cache:input-untouched', 'the messages themselves stay without marks', () => {
    const before = structuredClone(conversation);
    const marked = applyCacheMarks(conversation, '1h');
    assert.deepEqual(conversation, before);
    assert.notEqual(marked[1], conversation[1]);
  });

  verifies('core:cache:ttl', 'five minutes by default, one hour when asked for', () => {
    const texts = [applyCacheMarks(conversation), applyCacheMarks(conversation, '1h')].map((marked) =>
      JSON.stringify(marked),
    );
    assert.deepEqual(
      texts.map((text) => text.includes('"ttl":"1h"')),
      [false, true],
    );
  });

  verifies('core:cache:only-where-taken', 'an endpoint that takes no marks gets plain messages', () => {
    const request = { system: 'You act.', messages: [userMessage('one')], tools: [], purpose: 'answer' } as const;
    const rules = {
      endpoint: { provider: 'x', baseUrl: 'http://127.0.0.1/v1' },
      model: 'm',
      cacheTtl: '5m',
      replayReasoning: false,
      eyes: { model: 'm' },
    } as const;
    const bodies = [false, true].map((cacheMarks) => JSON.stringify(chatBody(request, { ...rules, cacheMarks })));
    assert.deepEqual(
      bodies.map((body) => body.includes('cache_control')),
      [false, true],
    );
  });
});
