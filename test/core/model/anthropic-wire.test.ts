/** What the Anthropic client sends and reads, over a real socket. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { userMessage } from '#core/model/message.ts';
import { createAnthropicClient } from '#core/model/providers/anthropic-client.ts';
import type { ProviderClientOptions } from '#core/model/providers/provider-options.ts';
import type { JsonObject, Message, ModelRequest } from '#public/talaria.ts';
import { type ServerStep, startScriptedServer } from '#testing/scripted-server.ts';
import { collect, GREETING, textOf } from '../../contract/model-client.contract.ts';
import { verifies } from '../../verifies.ts';

async function exchange(
  step: ServerStep,
  request: ModelRequest = GREETING,
  extra: Partial<ProviderClientOptions> = {},
) {
  const server = await startScriptedServer([step]);
  try {
    const client = createAnthropicClient({
      endpoint: { provider: 'anthropic', kind: 'anthropic', baseUrl: server.baseUrl, apiKey: 'key-0123456789' },
      model: 'claude-sonnet-4-5',
      tier: 'T2',
      ...extra,
    });
    const events = await collect(client, request);
    server.done();
    const [sent] = server.requests;
    assert.ok(sent);
    return { events, sent, messages: sent.body.messages as readonly JsonObject[] };
  } finally {
    await server.close();
  }
}

describe('how long an answer may be', () => {
  test('first hour 8: a model that the library does not know gets a share of its window, at most 32 000', async () => {
    const limitOf = async (model: string, contextWindow: number) =>
      (await exchange('ok', GREETING, { model, overrides: { contextWindow } })).sent.body.max_tokens;
    assert.equal(await limitOf('glm-next', 40_000), 10_000);
    assert.equal(await limitOf('glm-next', 1_000_000), 32_000);
    assert.equal(await limitOf('claude-sonnet-4-5', 40_000), 64_000);
    const asked = await exchange('ok', { ...GREETING, maxOutputTokens: 64 }, { model: 'glm-next' });
    assert.equal(asked.sent.body.max_tokens, 64);
  });
});

const result = (callId: string, text: string, isError: boolean): Message => ({
  role: 'tool',
  parts: [
    { type: 'tool-result', callId, name: 'echo', text, isError, origin: 'foreign', observed: { ms: 1, bytes: 1 } },
  ],
});

const HISTORY: readonly Message[] = [
  userMessage('say one'),
  {
    role: 'assistant',
    model: 'anthropic/claude-sonnet-4-5',
    parts: [
      { type: 'reasoning', text: 'signed', origin: 'model', replay: { signature: 'abc' } },
      { type: 'reasoning', text: '', origin: 'model', replay: { redactedData: 'xyz' } },
      { type: 'reasoning', text: 'of another model', origin: 'model' },
      { type: 'text', text: 'Sure.', origin: 'model' },
      { type: 'tool-call', callId: 'call:1.a', name: 'echo', arguments: { text: 'one' }, origin: 'model' },
      { type: 'tool-call', callId: 'toolu_2', name: 'echo', arguments: {}, origin: 'model' },
    ],
  },
  result('call:1.a', 'one', false),
  result('toolu_2', 'text is missing', true),
];

describe('anthropic wire', () => {
  verifies('core:model:anthropic', 'messages with signed thinking, calls and results', async () => {
    const { messages, sent } = await exchange(
      'ok',
      { ...GREETING, messages: HISTORY },
      { overrides: { cacheMarks: false } },
    );
    assert.deepEqual(sent.body.system, [{ type: 'text', text: 'You are a test.' }]);
    assert.equal(sent.headers['x-api-key'], 'key-0123456789');
    const content = messages[1]?.content as readonly JsonObject[];
    const [thinking, redacted, text, first, second] = content;
    assert.deepEqual(thinking, { type: 'thinking', thinking: 'signed', signature: 'abc' });
    assert.deepEqual(redacted, { type: 'redacted_thinking', data: 'xyz' });
    assert.deepEqual(text, { type: 'text', text: 'Sure.' });
    assert.match(String(first?.id), /^call_[0-9a-f]{24}$/);
    assert.deepEqual(first?.input, { text: 'one' });
    assert.equal(second?.id, 'toolu_2');
    assert.equal(content.length, 5);
    assert.deepEqual(messages[2], {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: first?.id, content: 'one' },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: 'text is missing', is_error: true },
      ],
    });
    const [tool] = sent.body.tools as readonly JsonObject[];
    assert.deepEqual(tool?.input_schema, GREETING.tools[0]?.parameters);
  });

  test('marks: the system prompt and the last three messages, never more than four', async () => {
    const { sent } = await exchange('ok', { ...GREETING, messages: HISTORY }, { cacheTtl: '1h' });
    assert.equal(sent.raw.match(/"cache_control":\{"type":"ephemeral","ttl":"1h"\}/g)?.length, 4);
    const system = sent.body.system as readonly JsonObject[];
    assert.ok(system[0]?.cache_control);
  });

  verifies(
    'core:model:anthropic',
    'text, thinking with its signature, calls, usage with cache writes, cost',
    async () => {
      const usage = { inputTokens: 1000, outputTokens: 50, cachedTokens: 700, cacheWriteTokens: 200 };
      const { events } = await exchange(
        {
          reasoning: 'hm',
          signature: 'c2ln',
          reply: 'A call.',
          calls: [{ name: 'echo', arguments: { text: 'a' } }],
          usage,
        },
        GREETING,
        { overrides: { local: false } },
      );
      assert.deepEqual(
        events.filter((event) => event.type === 'reasoning-delta'),
        [
          { type: 'reasoning-delta', text: 'hm' },
          { type: 'reasoning-delta', text: '', replay: { signature: 'c2ln' } },
        ],
      );
      assert.equal(textOf(events), 'A call.');
      const finish = events.at(-1);
      assert.ok(finish?.type === 'finish');
      assert.equal(finish.reason, 'tool-calls');
      assert.deepEqual(finish.usage, { ...usage, reasoningTokens: 0 });
      assert.equal(finish.cost?.toFixed(8), ((100 * 3 + 700 * 0.3 + 200 * 3.75 + 50 * 15) / 1e6).toFixed(8));
    },
  );

  test('malformed arguments keep their raw text', async () => {
    const { events } = await exchange({ calls: [{ name: 'echo', arguments: '{"text": "un' }] });
    const call = events.find((event) => event.type === 'tool-call');
    assert.equal(call?.malformed, '{"text": "un');
  });

  test('a refusal and a cut answer say so', async () => {
    for (const finish of ['refusal', 'length'] as const) {
      const last = (await exchange({ reply: 'a', finish })).events.at(-1);
      assert.ok(last?.type === 'finish' && last.reason === finish);
    }
  });
});
