/** Recovery of calls from structured models' text, think blocks, and the switch to text for endpoints that refuse tools. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ModelError, type ModelEvent } from '#core/model/model-client.ts';
import { withCallRecovery, withToolStrategy } from '#core/model/tool-mode.ts';
import { createScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { collect, GREETING, modelClientContract, textOf } from '../../contract/model-client.contract.ts';
import { verifies } from '../../verifies.ts';

const CALL = '<tool_call>\n{"name": "echo", "arguments": {"text": "hi"}}\n</tool_call>';

const recover = (steps: readonly ScriptedStep[]) => async () => ({
  client: withCallRecovery(createScriptedModel(steps)),
});

modelClientContract({
  name: 'call recovery',
  replying: recover(['Hello there.', 'Hello again.']),
  calling: recover([`${CALL}${CALL}`]),
  hanging: recover([{ hang: true, after: 'Hel' }]),
});

async function run(step: ScriptedStep, request = GREETING) {
  const events = await collect(withCallRecovery(createScriptedModel([step])), request);
  return { events, calls: events.filter((event) => event.type === 'tool-call') };
}

describe('call recovery', () => {
  test('a container in the content becomes a call', async () => {
    const { events, calls } = await run({ reply: [...`I look.\n${CALL}`] });
    assert.deepEqual(
      calls.map((call) => [call.name, call.arguments]),
      [['echo', { text: 'hi' }]],
    );
    assert.equal(textOf(events).trim(), 'I look.');
  });

  test('an attempt that cannot be read, beside a good call, is told to the model', async () => {
    const { calls } = await run(`${CALL}\n<tool_call>\n{"name": "echo", "arguments": {"text": "un`);
    assert.deepEqual(
      calls.map((call) => call.malformed !== undefined),
      [false, true],
    );
  });

  test('not beside a structured call', async () => {
    const { events, calls } = await run({ text: CALL, calls: [{ name: 'echo', arguments: { text: 'real' } }] });
    assert.deepEqual(
      calls.map((call) => call.arguments),
      [{ text: 'real' }],
    );
    assert.equal(textOf(events), CALL);
  });

  test('not when no tools were offered', async () => {
    const { events, calls } = await run(CALL, { ...GREETING, tools: [] });
    assert.equal(calls.length, 0);
    assert.equal(textOf(events), CALL);
  });

  const plain = [
    '{"name": "echo", "arguments": {"text": "hi"}}',
    'Use echo(text="hi") or call:echo{text: "hi"}.',
    'Write <tool_call> around it.',
    'a < b and [TOOL for the job',
    'ends with <tool_c',
  ];
  for (const text of plain) {
    test(`stays text: ${text}`, async () => {
      const { events, calls } = await run({ reply: [...text] });
      assert.equal(calls.length, 0);
      assert.equal(textOf(events), text);
    });
  }

  test('text without a mark streams as it comes', async () => {
    const { events } = await run({ reply: ['one ', 'two ', 'three'] });
    assert.deepEqual(events.filter((event) => event.type === 'text-delta').length, 3);
  });

  test('a leading think block is reasoning, a later one is text', async () => {
    const { events } = await run({ reply: [...'\n<think>why\nnot</think>\n\nSo: <think>'] });
    assert.equal(textOf(events), 'So: <think>');
    assert.equal(events.map((event) => (event.type === 'reasoning-delta' ? event.text : '')).join(''), 'why\nnot');
  });

  test('an unclosed think block is reasoning to the end', async () => {
    const { events, calls } = await run(`<think>${CALL}`);
    assert.equal(calls.length, 0);
    assert.equal(textOf(events), '');
  });
});

describe('tool mode', () => {
  const refusal = new ModelError('ollama did not accept the request (HTTP 400): m does not support tools', {
    code: 'model-bad-request',
  });

  verifies(
    'core:strategy:structured-tools-parameter',
    'a structured model gets the schemas as its tools parameter',
    async () => {
      const model = createScriptedModel(['hello']);
      await collect(withToolStrategy(model), GREETING);
      assert.deepEqual(model.requests[0]?.tools, GREETING.tools);
      assert.equal(model.requests[0]?.system, GREETING.system);
    },
  );

  test('an endpoint that refuses tools is asked again in text, and stays there', async () => {
    const model = createScriptedModel([{ error: refusal }, CALL, 'done']);
    const client = withToolStrategy(model);
    const events = await collect(client, GREETING);
    assert.deepEqual(
      events.map((event) => event.type),
      ['retry', 'tool-call', 'finish'] satisfies ModelEvent['type'][],
    );
    assert.equal(client.traits.toolCalling, 'text');
    await collect(client, GREETING);
    assert.deepEqual(
      model.requests.map((request) => request.tools.length),
      [1, 0, 0],
    );
    model.done();
  });

  test('other bad requests are thrown on', async () => {
    const other = new ModelError('bad field', { code: 'model-bad-request' });
    await assert.rejects(collect(withToolStrategy(createScriptedModel([{ error: other }])), GREETING), other);
  });

  test('a text model gets text tools', async () => {
    const model = createScriptedModel([CALL], { traits: { toolCalling: 'text' } });
    const events = await collect(withToolStrategy(model), GREETING);
    assert.equal(events[0]?.type, 'tool-call');
    assert.deepEqual(model.requests[0]?.tools, []);
  });
});
