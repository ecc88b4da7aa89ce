/** What the OpenAI-compatible client sends and reads, over a real socket. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { userMessage } from '#core/model/message.ts';
import { createOpenAiClient } from '#core/model/providers/openai-client.ts';
import type { ProviderClientOptions } from '#core/model/providers/provider-options.ts';
import type { Message, ModelEvent, ModelRequest } from '#public/talaria.ts';
import { type ServerStep, startScriptedServer } from '#testing/scripted-server.ts';
import { collect, GREETING, textOf } from '../../contract/model-client.contract.ts';
import { verifies } from '../../verifies.ts';

type Extra = Partial<ProviderClientOptions> & { readonly provider?: string };

async function exchange(step: ServerStep, request: ModelRequest = GREETING, extra: Extra = {}) {
  const { provider = 'acme', ...options } = extra;
  const server = await startScriptedServer([step]);
  try {
    const client = createOpenAiClient({
      endpoint: { provider, baseUrl: server.baseUrl, apiKey: 'key-0123456789', headers: { 'x-title': 'talaria' } },
      model: 'm-1',
      tier: 'T2',
      ...options,
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

const call = (callId: string, text: string) =>
  ({ type: 'tool-call', callId, name: 'echo', arguments: { text }, origin: 'model' }) as const;
const result = (callId: string, text: string, isError = false): Message => ({
  role: 'tool',
  parts: [
    { type: 'tool-result', callId, name: 'echo', text, isError, origin: 'foreign', observed: { ms: 1, bytes: 1 } },
  ],
});

const HISTORY: readonly Message[] = [
  userMessage('say one', [{ type: 'text', text: 'It is Monday.', origin: 'observed', label: 'context' }]),
  {
    role: 'assistant',
    model: 'acme/m-1',
    parts: [
      { type: 'reasoning', text: 'think', origin: 'model', replay: { field: 'reasoning_content' } },
      { type: 'reasoning', text: 'signed', origin: 'model', replay: { signature: 'abc' } },
      { type: 'text', text: 'Sure.', origin: 'model' },
      call('c1', 'one'),
      call('c2', 'two'),
    ],
  },
  result('c1', 'one'),
  result('c2', 'no such thing', true),
  { role: 'assistant', model: 'acme/m-1', parts: [{ type: 'text', text: 'Done.', origin: 'model' }] },
  userMessage('thanks'),
];

describe('openai wire: what is sent', () => {
  verifies(
    ['core:strategy:structured-result-role', 'core:loop:roles', 'core:strategy:reasoning-not-sent-back'],
    'messages, in one form for ever',
    async () => {
      const { messages, sent } = await exchange('ok', { ...GREETING, messages: HISTORY, maxOutputTokens: 99 });
      assert.deepEqual(messages, [
        { role: 'system', content: 'You are a test.' },
        { role: 'user', content: 'It is Monday.\n\nsay one' },
        {
          role: 'assistant',
          content: 'Sure.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'echo', arguments: '{"text":"one"}' } },
            { id: 'c2', type: 'function', function: { name: 'echo', arguments: '{"text":"two"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
        { role: 'tool', tool_call_id: 'c2', content: 'no such thing' },
        { role: 'assistant', content: 'Done.' },
        { role: 'user', content: 'thanks' },
      ]);
      const { model, stream, max_tokens: limit, stream_options: options } = sent.body;
      assert.deepEqual(
        { model, stream, limit, options },
        { model: 'm-1', stream: true, limit: 99, options: { include_usage: true } },
      );
      assert.equal(sent.headers.authorization, 'Bearer key-0123456789');
      assert.equal(sent.headers['x-title'], 'talaria');
    },
  );

  verifies('core:strategy:structured-tools-parameter', 'tools as functions, messages last', async () => {
    const { sent } = await exchange('ok');
    const [tool] = GREETING.tools;
    assert.deepEqual(sent.body.tools, [
      {
        type: 'function',
        function: { name: tool?.name, description: tool?.description, parameters: tool?.parameters },
      },
    ]);
    assert.equal(Object.keys(sent.body).at(-1), 'messages');
  });

  test('no tools, no key: neither is in the request', async () => {
    const server = await startScriptedServer(['ok']);
    const client = createOpenAiClient({
      endpoint: { provider: 'ollama', baseUrl: `${server.baseUrl}/` },
      model: 'm',
      tier: 'T1',
    });
    await collect(client, { ...GREETING, tools: [] });
    await server.close();
    const [sent] = server.requests;
    assert.equal(sent?.path, '/v1/chat/completions');
    assert.ok(sent && !('tools' in sent.body) && !('authorization' in sent.headers));
  });

  verifies(
    'core:strategy:reasoning-not-sent-back',
    'reasoning goes back only to models that want it, and only as it came',
    async () => {
      const { messages } = await exchange(
        'ok',
        { ...GREETING, messages: HISTORY },
        { overrides: { replayReasoning: true } },
      );
      assert.equal(messages[2]?.reasoning_content, 'think');
    },
  );

  test('a model that wants reasoning back marks it, once a block', async () => {
    const { events } = await exchange({ reasoning: 'a b c', reply: 'ok' }, GREETING, { model: 'deepseek-reasoner' });
    const reasoning = events.filter((event) => event.type === 'reasoning-delta');
    assert.equal(reasoning.map((event) => event.text).join(''), 'a b c');
    assert.deepEqual(
      reasoning.flatMap((event) => (event.replay ? [event.replay] : [])),
      [{ field: 'reasoning_content' }],
    );
    assert.ok(reasoning.at(-1)?.replay);
  });

  test('an aborted answer with nothing in it is left out', async () => {
    const messages: Message[] = [
      userMessage('a'),
      { role: 'assistant', model: 'x/y', parts: [], cut: 'aborted' },
      userMessage('b'),
    ];
    const sent = await exchange('ok', { ...GREETING, messages });
    assert.deepEqual(
      sent.messages.map((message) => message.role),
      ['system', 'user', 'user'],
    );
  });

  test('cache marks: at most four, all texts in block form, the rest unchanged', async () => {
    const marked = await exchange(
      'ok',
      { ...GREETING, messages: HISTORY },
      { provider: 'openrouter', model: 'anthropic/claude-sonnet-4.5', cacheTtl: '1h' },
    );
    const marks = JSON.stringify(marked.messages).match(/"cache_control":\{"type":"ephemeral","ttl":"1h"\}/g);
    assert.equal(marks?.length, 4);
    assert.deepEqual(marked.messages[0]?.content, [
      { type: 'text', text: 'You are a test.', cache_control: { type: 'ephemeral', ttl: '1h' } },
    ]);
    assert.deepEqual(marked.messages[1]?.content, [{ type: 'text', text: 'It is Monday.\n\nsay one' }]);
  });
});

describe('openai wire: what is read', () => {
  verifies('core:model:openai-compatible', 'text, reasoning, calls, usage and cost', async () => {
    const usage = { inputTokens: 1000, outputTokens: 50, cachedTokens: 800, reasoningTokens: 20 };
    const { events } = await exchange({
      reasoning: 'hm hm',
      reply: 'Two calls.',
      calls: [{ name: 'echo', arguments: { text: 'a' } }, { name: 'echo' }],
      usage,
    });
    assert.equal(events.map((event) => (event.type === 'reasoning-delta' ? event.text : '')).join(''), 'hm hm');
    assert.ok(!events.some((event) => event.type === 'reasoning-delta' && event.replay));
    assert.equal(textOf(events), 'Two calls.');
    assert.deepEqual(
      events
        .filter((event) => event.type === 'tool-call')
        .map(({ callId, name, arguments: args }) => ({ callId, name, args })),
      [
        { callId: 'call_1', name: 'echo', args: { text: 'a' } },
        { callId: 'call_2', name: 'echo', args: {} },
      ],
    );
    assert.deepEqual(events.at(-1), {
      type: 'finish',
      reason: 'tool-calls',
      usage: { ...usage, cacheWriteTokens: 0 },
      model: 'acme/m-1',
      tier: 'T2',
      cost: 0,
    });
  });

  const malformed = ['{"text": "un', '[1]', '"words"', '{"text": "a"} and more'];
  for (const raw of malformed) {
    test(`malformed arguments: ${raw}`, async () => {
      const { events } = await exchange({ calls: [{ name: 'echo', arguments: raw }] });
      const [first] = events;
      assert.ok(first?.type === 'tool-call');
      assert.deepEqual(first.arguments, {});
      assert.equal(first.malformed, raw);
    });
  }

  test('arguments encoded twice are read, and none are none', async () => {
    const { events } = await exchange({
      calls: [
        { name: 'echo', arguments: '"{\\"text\\":\\"a\\"}"' },
        { name: 'echo', arguments: '' },
      ],
    });
    assert.deepEqual(
      events.flatMap((event) => (event.type === 'tool-call' ? [event.arguments] : [])),
      [{ text: 'a' }, {}],
    );
  });

  test('equal call ids are told apart', async () => {
    const { events } = await exchange({
      calls: [
        { name: 'echo', callId: 'same' },
        { name: 'echo', callId: 'same' },
      ],
    });
    const ids = events.flatMap((event) => (event.type === 'tool-call' ? [event.callId] : []));
    assert.equal(new Set(ids).size, 2);
  });

  const reasons: readonly (readonly [ServerStep, string])[] = [
    [{ reply: 'a', finish: 'length' }, 'length'],
    [{ reply: 'a', finish: 'refusal' }, 'refusal'],
    [{ reply: 'a', finish: 'other' }, 'other'],
    [{ calls: [{ name: 'echo' }], finish: 'stop' }, 'tool-calls'],
  ];
  for (const [step, reason] of reasons) {
    test(`finish reason ${reason}`, async () => {
      const { events } = await exchange(step);
      assert.equal(finishOf(events).reason, reason);
    });
  }

  verifies('core:model:cost-by-purpose', 'tokens that nobody counted have an unknown price, not zero', async () => {
    const uncounted = await exchange({ reply: 'a', usage: null }, GREETING, { overrides: { local: false } });
    assert.equal(finishOf(uncounted.events).cost, null);
    const priced = await exchange({ reply: 'a', usage: { inputTokens: 1_000_000, outputTokens: 0 } }, GREETING, {
      model: 'gpt-5-mini',
      overrides: { local: false },
    });
    assert.equal(finishOf(priced.events).cost, 0.25);
  });

  test('what a router says that the call cost counts', async () => {
    const chunks = [
      { choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }] },
      { choices: [], usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11, cost: 0.00042 } },
    ];
    const body = `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
    const { events } = await exchange({ status: 200, headers: { 'content-type': 'text/event-stream' }, body });
    assert.equal(finishOf(events).cost, 0.00042);
  });

  test('an empty answer ends properly', async () => {
    const { events } = await exchange({ reply: '' });
    assert.deepEqual(
      events.map((event) => event.type),
      ['finish'],
    );
  });

  test('Gemini gets the signature of a thought back beside its call', async () => {
    const signed = {
      choices: [
        {
          index: 0,
          delta: {
            tool_calls: [
              {
                index: 0,
                id: 'g1',
                function: { name: 'echo', arguments: '{}' },
                extra_content: { google: { thought_signature: 'sig' } },
              },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
    };
    const { events } = await exchange({
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: `data: ${JSON.stringify(signed)}\n\ndata: [DONE]\n\n`,
    });
    const [thought, called] = events;
    assert.ok(thought?.type === 'reasoning-delta' && thought.replay && called?.type === 'tool-call');
    const assistant: Message = {
      role: 'assistant',
      model: 'acme/m-1',
      parts: [{ type: 'reasoning', text: '', origin: 'model', replay: thought.replay }, call('g1', 'x')],
    };
    const { messages } = await exchange('ok', {
      ...GREETING,
      messages: [userMessage('go'), assistant, result('g1', 'x')],
    });
    const sentCall = (messages[2]?.tool_calls as readonly JsonObject[] | undefined)?.[0];
    assert.ok(sentCall && isJsonObject(sentCall.extra_content));
    assert.deepEqual(sentCall.extra_content, { google: { thought_signature: 'sig' } });
  });
});

function finishOf(events: readonly ModelEvent[]): Extract<ModelEvent, { type: 'finish' }> {
  const last = events.at(-1);
  assert.ok(last?.type === 'finish');
  return last;
}
