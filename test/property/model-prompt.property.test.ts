/** Laws of what is sent: cache marks, append-only prefixes, text rendering, and splitting of streams. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { userMessage } from '#core/model/message.ts';
import { toSdkPrompt } from '#core/model/providers/anthropic-client.ts';
import { type BodyRules, chatBody, chatMessages } from '#core/model/providers/openai-client.ts';
import { applyCacheMarks, markedIndexes } from '#core/model/providers/prompt-cache.ts';
import { renderToolCall, toTextHistory, withToolPrompt } from '#core/model/text-tools.ts';
import { ThinkSplitter } from '#core/model/tool-mode.ts';
import type { JsonObject, JsonValue, Message, ModelRequest } from '#public/talaria.ts';
import { parseTextToolCalls } from '#public/tool-calls.ts';
import { ECHO_TOOL } from '../contract/model-client.contract.ts';
import { verifies } from '../verifies.ts';

const wire = fc.array(
  fc.record({
    role: fc.constantFrom('system', 'user', 'assistant', 'tool'),
    content: fc.oneof(
      fc.string(),
      fc.constant(null),
      fc.array(fc.record({ type: fc.constant('text'), text: fc.string() }), { maxLength: 3 }),
    ),
  }),
  { maxLength: 12 },
);

describe('cache marks', () => {
  test('at most four, on a copy, and nothing else changes', () => {
    fc.assert(
      fc.property(wire, fc.constantFrom('5m' as const, '1h' as const), (messages, ttl) => {
        const before = JSON.stringify(messages);
        const marked = applyCacheMarks(messages, ttl);
        assert.equal(JSON.stringify(messages), before);
        const text = JSON.stringify(marked);
        const marks = text.match(/"cache_control"/g) ?? [];
        assert.equal(marks.length, markedIndexes(messages.map((message) => message.role)).length);
        assert.ok(marks.length <= 4);
        assert.deepEqual(marked.map(withoutMarks), messages.map(withoutMarks));
      }),
    );
  });

  test('the system prompt and the last three other messages', () => {
    assert.deepEqual(markedIndexes(['system', 'user', 'assistant', 'tool', 'user']), [0, 2, 3, 4]);
    assert.deepEqual(markedIndexes(['system', 'user']), [0, 1]);
    assert.deepEqual(markedIndexes(['user', 'system', 'user']), [0, 2]);
    assert.deepEqual(markedIndexes([]), []);
  });
});

/** A legal conversation: each call answered, ending with a user or tool message. */
const conversation = fc
  .array(
    fc.record({ ask: fc.string({ minLength: 1 }), calls: fc.array(fc.string(), { maxLength: 2 }), say: fc.string() }),
    { minLength: 1, maxLength: 5 },
  )
  .map((turns) => turns.flatMap((turn, index) => turnMessages(turn, index)));

function turnMessages(turn: { ask: string; calls: string[]; say: string }, index: number): Message[] {
  const ids = turn.calls.map((_, place) => `call_${index}_${place}`);
  const calling: Message = {
    role: 'assistant',
    model: 'a/b',
    parts: turn.calls.map((text, place) => ({
      type: 'tool-call',
      callId: ids[place] ?? '',
      name: 'echo',
      arguments: { text },
      origin: 'model',
    })),
  };
  const results = turn.calls.map(
    (text, place): Message => ({
      role: 'tool',
      parts: [
        {
          type: 'tool-result',
          callId: ids[place] ?? '',
          name: 'echo',
          text,
          isError: false,
          origin: 'foreign',
          observed: { ms: 1, bytes: 1 },
        },
      ],
    }),
  );
  const said: Message = {
    role: 'assistant',
    model: 'a/b',
    parts: [{ type: 'text', text: `.${turn.say}`, origin: 'model' }],
  };
  return [userMessage(`?${turn.ask}`), ...(turn.calls.length > 0 ? [calling, ...results] : []), said];
}

/** Lengths of the history at which a request is made: after a user message and after the last result of a step. */
function requestPoints(messages: readonly Message[]): number[] {
  return messages.flatMap((message, index) => (message.role === 'assistant' && index > 0 ? [index] : []));
}

describe('append-only', () => {
  const rules: BodyRules = {
    endpoint: { provider: 'openrouter', baseUrl: 'https://openrouter.ai/api/v1' },
    model: 'm',
    cacheMarks: true,
    cacheTtl: '5m',
    replayReasoning: true,
    eyes: { model: 'm' },
  };
  const forms: readonly (readonly [string, (messages: readonly Message[]) => readonly JsonValue[]])[] = [
    ['openai', (messages) => plain(chatMessages(requestOf(messages), rules))],
    ['openai, text', (messages) => plain(chatMessages(requestOf(toTextHistory(messages)), rules))],
    ['openai, marks removed', (messages) => plain(sentMessages(messages).map(withoutMarks))],
    ['anthropic', (messages) => plain(toSdkPrompt(requestOf(messages), rules.eyes))],
  ];
  const sentMessages = (messages: readonly Message[]) => chatBody(requestOf(messages), rules).messages as object[];
  for (const [name, form] of forms) {
    test(`${name}: each request extends the one before`, () => {
      fc.assert(
        fc.property(conversation, (messages) => {
          let before: readonly JsonValue[] = [];
          for (const point of requestPoints(messages)) {
            const now = form(messages.slice(0, point));
            assert.deepEqual(now.slice(0, before.length), before);
            before = now;
          }
        }),
      );
    });
  }

  test('text history alternates between user and assistant', () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const roles = toTextHistory(messages).map((message) => message.role);
        for (const [index, role] of roles.entries()) assert.equal(role, index % 2 === 0 ? 'user' : 'assistant');
      }),
    );
  });
});

describe('text rendering', () => {
  const awkward = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '</tool_call>',
      '<think>',
      '<tool_call>{"name":"echo"}',
      '```json\n{}\n```',
      '</think> [TOOL_CALLS]',
    ),
  );

  verifies('core:strategy:render-parse-identity', 'what is rendered as a call is parsed as the same call', () => {
    fc.assert(
      fc.property(fc.array(awkward, { minLength: 1, maxLength: 3 }), (texts) => {
        const rendered = texts.map((text) => renderToolCall('echo', { text })).join('\n');
        const { calls } = parseTextToolCalls(rendered, [ECHO_TOOL]);
        assert.deepEqual(
          calls.map((call) => call.arguments),
          texts.map((text) => ({ text })),
        );
      }),
    );
  });

  test('the prompt is the same for the same tools, and its example is a call', () => {
    fc.assert(
      fc.property(fc.string(), fc.boolean(), (system, brief) => {
        const prompt = withToolPrompt(system, [ECHO_TOOL], { brief });
        assert.equal(prompt, withToolPrompt(system, [structuredClone(ECHO_TOOL)], { brief }));
        assert.ok(prompt.startsWith(system));
      }),
    );
  });
});

describe('think splitter', () => {
  test('any chunking gives the same split', () => {
    const piece = fc.constantFrom(
      '<think>',
      '</think>',
      '<thi',
      'nk>',
      '<thinking>',
      '</thinking>',
      ' ',
      '\n',
      'word',
      '<',
      '/',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const whole = split([pieces.join('')]);
        assert.deepEqual(split(pieces), whole);
        assert.deepEqual(split([...pieces.join('')]), whole);
      }),
    );
  });
});

function split(chunks: readonly string[]): { text: string; reasoning: string } {
  const splitter = new ThinkSplitter();
  const events = [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()];
  const join = (type: string) =>
    events.map((event) => (event.type === type && 'text' in event ? event.text : '')).join('');
  return { text: join('text-delta'), reasoning: join('reasoning-delta') };
}

function requestOf(messages: readonly Message[]): ModelRequest {
  return { system: 's', messages, tools: [], purpose: 'answer' };
}

function plain(value: unknown): readonly JsonValue[] {
  return JSON.parse(JSON.stringify(value)) as readonly JsonValue[];
}

/** A message in block form without marks. */
function withoutMarks(message: object): unknown {
  const { content, cache_control: _, ...rest } = message as { content?: unknown; cache_control?: unknown };
  const blocks = typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : content;
  const bare = Array.isArray(blocks) ? blocks.map(({ cache_control: __, ...block }: JsonObject) => block) : blocks;
  return { ...rest, content: bare };
}
