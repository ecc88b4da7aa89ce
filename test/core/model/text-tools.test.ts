/** The text strategy end to end over a scripted model: what the model is told, what comes back out of its text. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { userMessage } from '#core/model/message.ts';
import { withTextTools } from '#core/model/text-tools.ts';
import type { Message, ModelEvent, ModelRequest } from '#public/talaria.ts';
import { createScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { collect, ECHO_TOOL, GREETING, modelClientContract, textOf } from '../../contract/model-client.contract.ts';
import { verifies } from '../../verifies.ts';

const TERMINAL = {
  name: 'terminal',
  description: 'Runs a shell\n command.',
  parameters: {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'The command line.' },
      mode: { enum: ['fast', 'slow'] },
      env: { type: 'array', items: { type: 'string' } },
      where: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
    required: ['command'],
  },
} as const;

const CALL = '<tool_call>{"name":"echo","arguments":{"text":"hi"}}</tool_call>';

async function run(steps: readonly ScriptedStep[], request: ModelRequest = GREETING) {
  const model = createScriptedModel(steps, { traits: { toolCalling: 'text' } });
  const events = await collect(withTextTools(model), request);
  model.done();
  const [sent] = model.requests;
  assert.ok(sent);
  return { events, sent, calls: events.filter((event) => event.type === 'tool-call') };
}

const wrap = (steps: readonly ScriptedStep[]) => async () => ({ client: withTextTools(createScriptedModel(steps)) });

modelClientContract({
  name: 'text tools',
  replying: wrap(['Hello there.', 'Hello again.']),
  calling: wrap([`${CALL}${CALL.replace('hi', 'again')}`]),
  hanging: wrap([{ hang: true, after: 'Hel' }]),
});

describe('text tools: what the model is told', () => {
  verifies('core:strategy:text-tools-in-prompt', 'the tools are in the system prompt and nowhere else', async () => {
    const { sent } = await run(['ok'], { ...GREETING, tools: [TERMINAL, ECHO_TOOL] });
    assert.deepEqual(sent.tools, []);
    assert.ok(sent.system.startsWith('You are a test.\n\n# Tools\n'));
    assert.match(
      sent.system,
      /- terminal\(command: string, mode\?: "fast"\|"slow", env\?: string\[\], where\?: \{path: string\}\): Runs a shell command\./,
    );
    assert.match(sent.system, /command: The command line\./);
    assert.ok(sent.system.includes('<tool_call>{"name":"terminal","arguments":{"command":"ls"}}</tool_call>'));
  });

  test('without tools the prompt stays as it is', async () => {
    const { sent } = await run(['ok'], { ...GREETING, tools: [] });
    assert.equal(sent.system, GREETING.system);
  });

  test('a small window gets one short line a tool', async () => {
    const model = createScriptedModel(['ok'], { traits: { contextWindow: 8192 } });
    await collect(withTextTools(model), { ...GREETING, tools: [TERMINAL] });
    assert.ok(!model.requests[0]?.system.includes('The command line.'));
  });

  verifies(
    ['core:strategy:text-result-prefix', 'core:strategy:switch-mid-session'],
    'a history of structured calls reads as text with alternating roles',
    async () => {
      const observed = { ms: 1, bytes: 2 };
      const result = (callId: string, text: string): Message => ({
        role: 'tool',
        parts: [{ type: 'tool-result', callId, name: 'echo', text, isError: false, origin: 'foreign', observed }],
      });
      const call = (callId: string, text: string) =>
        ({ type: 'tool-call', callId, name: 'echo', arguments: { text }, origin: 'model' }) as const;
      const history: Message[] = [
        userMessage('say both'),
        {
          role: 'assistant',
          model: 'openai/gpt-5',
          parts: [
            { type: 'reasoning', text: 'hm', origin: 'model' },
            { type: 'text', text: 'Now. ', origin: 'model' },
            call('a', 'one </tool_call>'),
            call('b', 'two'),
          ],
        },
        result('a', 'one'),
        result('b', ''),
        userMessage('and now?'),
      ];
      const { sent } = await run(['ok'], { ...GREETING, messages: history });
      assert.deepEqual(
        sent.messages.map((message) => message.role),
        ['user', 'assistant', 'user'],
      );
      assert.deepEqual(
        sent.messages[1]?.parts.map((part) => (part.type === 'text' ? part.text : part.type)),
        [
          'reasoning',
          'Now.\n<tool_call>{"name":"echo","arguments":{"text":"one \\u003c/tool_call>"}}</tool_call>\n<tool_call>{"name":"echo","arguments":{"text":"two"}}</tool_call>',
        ],
      );
      assert.deepEqual(
        sent.messages[2]?.parts.map((part) => part.type === 'text' && part.text),
        ['[Tool Result: echo]\none', '[Tool Result: echo]\n(no output)', 'and now?'],
      );
    },
  );
});

describe('text tools: what comes out', () => {
  verifies('core:loop:format-blind', 'a call in the text is a call event, the text around it stays', async () => {
    const { events, calls } = await run([[...`Let me see.\n${CALL}`]].map((chunks) => ({ reply: chunks })));
    assert.deepEqual(
      calls.map(({ name, arguments: args }) => ({ name, args })),
      [{ name: 'echo', args: { text: 'hi' } }],
    );
    assert.equal(textOf(events).trim(), 'Let me see.');
    assert.ok(events.at(-1)?.type === 'finish' && (events.at(-1) as { reason: string }).reason === 'tool-calls');
  });

  verifies('core:strategy:think-is-no-call', 'a think block is reasoning', async () => {
    const { events, calls } = await run([`<think>maybe ${CALL}</think>No need.`]);
    assert.equal(calls.length, 0);
    assert.equal(textOf(events).trim(), 'No need.');
    assert.match(reasoningOf(events), /maybe/);
  });

  test('reasoning whose opening tag stood in the template makes the consumer drop what it showed', async () => {
    const { events } = await run(['Weighing it.\n</think>\nThe answer.']);
    const after = events.slice(events.findIndex((event) => event.type === 'retry') + 1);
    assert.equal(textOf(after).trim(), 'The answer.');
    assert.equal(reasoningOf(after), 'Weighing it.');
  });

  test('a malformed attempt is a call with its raw text', async () => {
    const { calls } = await run(['<tool_call>{"name": "echo", "arguments": {"text": "un']);
    assert.equal(calls.length, 1);
    assert.equal(calls[0]?.name, 'echo');
    assert.match(calls[0]?.malformed ?? '', /"un/);
  });

  test('a retry of the inner client starts the parse again', async () => {
    const retry: ModelEvent = { type: 'retry', model: 'scripted/model', reason: 'reset', attempt: 2, delayMs: 0 };
    const finish: ModelEvent = {
      type: 'finish',
      reason: 'stop',
      usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
      model: 'scripted/model',
      tier: 'T2',
      cost: 0,
    };
    const { events, calls } = await run([
      {
        events: [
          { type: 'text-delta', text: '<tool_call>{"name":"ec' },
          retry,
          { type: 'text-delta', text: 'plain' },
          finish,
        ],
      },
    ]);
    assert.equal(calls.length, 0);
    assert.equal(textOf(events), 'plain');
  });

  test('call ids differ between streams', async () => {
    const first = await run([CALL]);
    const second = await run([CALL]);
    assert.notEqual(first.calls[0]?.callId, second.calls[0]?.callId);
  });
});

function reasoningOf(events: readonly ModelEvent[]): string {
  return events.map((event) => (event.type === 'reasoning-delta' ? event.text : '')).join('');
}
