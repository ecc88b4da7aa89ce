/** The turn function: what it journals, in which order, and how it always ends. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { defineTool, lateTool } from '#core/agent/tool.ts';
import { defaultStopConditions, maxSteps } from '#core/agent/turn/run-step.ts';
import { withToolStrategy } from '#core/model/tool-mode.ts';
import type { Approver } from '#public/talaria.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { verifies } from '../../verifies.ts';
import { echoTool, playTurn, unansweredCalls } from './turn-fixture.ts';

const call = (text: string, callId?: string) => ({ name: 'echo', arguments: { text }, ...(callId ? { callId } : {}) });

describe('run-turn', () => {
  verifies(
    [
      'core:loop:user-message-appended',
      'core:loop:until-plain-text',
      'core:loop:assistant-before-tools',
      'core:loop:every-call-answered',
    ],
    'calls tools until the model answers in plain text, everything journaled in order',
    async (t) => {
      const model = createScriptedModel([{ calls: [call('a'), call('b')] }, { calls: [call('c')] }, 'all echoed'], {
        context: t,
      });
      const ran: string[] = [];
      const turn = await playTurn('echo three', { model, tools: [echoTool(ran)] });
      assert.deepEqual(
        turn.journal.map((message) => message.role),
        ['user', 'assistant', 'tool', 'tool', 'assistant', 'tool', 'assistant'],
      );
      assert.deepEqual(ran, ['a', 'b', 'c']);
      assert.equal(turn.end.outcome, 'done');
      assert.equal(turn.end.text, 'all echoed');
      assert.equal(turn.end.steps, 3);
      assert.deepEqual(unansweredCalls(turn.journal), []);
      assert.deepEqual(model.requests[2]?.messages, turn.journal.slice(0, -1));
    },
  );

  verifies(['core:turn:journal-before-effect'], 'a message is in the journal before its tools run', async (t) => {
    const model = createScriptedModel([{ calls: [call('a')] }, 'done'], { context: t });
    const seen: string[] = [];
    const turn = await playTurn('go', { model, tools: [echoTool()] }, { onEvent: (event) => seen.push(event.type) });
    const assistant = turn.events.findIndex((event) => event.type === 'message' && event.message.role === 'assistant');
    const started = turn.events.findIndex((event) => event.type === 'tool-start');
    assert.ok(assistant >= 0 && assistant < started, `message ${assistant} before tool ${started}`);
  });

  verifies(
    ['core:loop:iteration-cap', 'core:turn:stop-conditions'],
    'the iteration budget stops the turn and says so',
    async (t) => {
      const model = createScriptedModel([{ calls: [call('1')] }, { calls: [call('2')] }, 'so far'], { context: t });
      const turn = await playTurn('go', { model, tools: [echoTool()], stop: [maxSteps(2)] });
      assert.equal(turn.end.outcome, 'stopped');
      assert.equal(turn.end.stopped, 'max-steps');
      assert.deepEqual(unansweredCalls(turn.journal), []);
    },
  );

  describe('the last word', () => {
    test('first hour 8: at the cap the model is asked for a last word, which is the text of the stopped turn', async (t) => {
      const ran: string[] = [];
      const model = createScriptedModel([{ calls: [call('1')] }, 'I found one thing.'], { context: t });
      const turn = await playTurn('go', { model, tools: [echoTool(ran)], stop: [maxSteps(1)] });
      assert.deepEqual(
        [turn.end.outcome, turn.end.stopped, turn.end.text],
        ['stopped', 'max-steps', 'I found one thing.'],
      );
      assert.deepEqual(ran, ['1']);
      const said = turn.events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
      assert.match(said.join(), /agent\.max_steps is 1.*last word/);
      const [first, last] = model.requests;
      assert.ok(first && last);
      assert.deepEqual(last.tools, first.tools, 'the shown tools stay: the prefix is the cached one');
      assert.deepEqual(last.messages.slice(0, first.messages.length), first.messages);
      const asked = last.messages.at(-1);
      assert.deepEqual(
        asked?.parts.map((part) => [part.origin, 'label' in part ? part.label : '']),
        [['observed', 'notice']],
      );
    });

    test('first hour 8: a call in the last word is refused as data, and the turn ends', async (t) => {
      const ran: string[] = [];
      const model = createScriptedModel([{ calls: [call('1')] }, { calls: [call('2')], text: 'one more' }], {
        context: t,
      });
      const turn = await playTurn('go', { model, tools: [echoTool(ran)], stop: [maxSteps(1)] });
      assert.deepEqual([turn.end.outcome, turn.end.text, ran], ['stopped', 'one more', ['1']]);
      assert.deepEqual(unansweredCalls(turn.journal), []);
      const result = turn.journal.at(-1)?.parts[0];
      assert.ok(result?.type === 'tool-result' && result.observed.refused === 'max-steps');
    });

    test('a last word that fails leaves the turn stopped, and says why there is none', async (t) => {
      const model = createScriptedModel([{ calls: [call('1')] }, { error: 'model-overloaded' }], { context: t });
      const turn = await playTurn('go', { model, tools: [echoTool()], stop: [maxSteps(1)] });
      assert.equal(turn.end.outcome, 'stopped');
      assert.ok(turn.events.some((event) => event.type === 'notice' && /no last word: scripted/.test(event.text)));
    });
  });

  describe('an answer that was cut', () => {
    test('first hour 4: a reply that was cut at the limit ends as length', async (t) => {
      const model = createScriptedModel([{ reply: 'and the', finish: 'length' }], { context: t });
      const turn = await playTurn('go', { model });
      assert.deepEqual([turn.end.outcome, turn.end.text, turn.end.error], ['length', 'and the', undefined]);
    });

    test('first hour 4: the call that was cut is not run, those before it are, and the model hears of it', async (t) => {
      const ran: string[] = [];
      const cut = { calls: [call('whole'), call('cu')], finish: 'length' } as const;
      const model = createScriptedModel([cut, 'shorter'], { context: t });
      const turn = await playTurn('go', { model, tools: [echoTool(ran)] });
      assert.deepEqual([turn.end.outcome, turn.end.text, ran], ['done', 'shorter', ['whole']]);
      const heard = model.requests[1]?.messages.at(-1)?.parts[0];
      assert.ok(heard?.type === 'tool-result' && heard.observed.refused === 'cut', JSON.stringify(heard));
    });

    test('cut twice in a row the turn ends', async (t) => {
      const cut = { calls: [call('cu')], finish: 'length' } as const;
      const model = createScriptedModel([cut, cut], { context: t });
      const turn = await playTurn('go', { model, tools: [echoTool()] });
      assert.equal(turn.end.outcome, 'length');
      assert.deepEqual(unansweredCalls(turn.journal), []);
    });

    test('first hour 4: a call in text that was cut is not run either', async (t) => {
      const ran: string[] = [];
      const half = '<tool_call>{"name":"echo","arguments":{"text":"a"}}</tool_call>';
      const inner = createScriptedModel([{ reply: half, finish: 'length' }, 'well'], {
        context: t,
        traits: { toolCalling: 'text' },
      });
      const turn = await playTurn('go', { model: withToolStrategy(inner), tools: [echoTool(ran)] });
      assert.deepEqual([turn.end.outcome, ran], ['done', []]);
    });
  });

  verifies('core:turn:stop-conditions', 'a turn that costs more than it may stops between two steps', async (t) => {
    const model = createScriptedModel([{ calls: [call('1')] }, { calls: [call('2')] }], { context: t, cost: 0.3 });
    const turn = await playTurn('go', { model, tools: [echoTool()], stop: defaultStopConditions(10, 0.5) });
    assert.equal(turn.end.stopped, 'over-budget');
    assert.deepEqual(unansweredCalls(turn.journal), []);
  });

  verifies(['core:turn:repeated-call-guard'], 'the same failing call five times in a row stops the turn', async (t) => {
    const model = createScriptedModel(
      Array.from({ length: 5 }, () => ({ calls: [{ name: 'echo', arguments: {} }] })),
      { context: t },
    );
    const turn = await playTurn('go', { model, tools: [echoTool()] });
    assert.equal(turn.end.stopped, 'repeated-failure');
  });

  verifies(
    [
      'core:loop:unknown-tool-is-data',
      'core:tools:validated',
      'core:turn:failures-as-data',
      'core:bad-input:malformed-arguments',
      'core:loop:tool-throw-is-data',
    ],
    'unknown tools, bad arguments and throwing tools are results that the model can read',
    async (t) => {
      const model = createScriptedModel(
        [
          {
            calls: [
              { name: 'nope', arguments: {} },
              { name: 'echo', arguments: { text: 7 } },
              { name: 'echo', malformed: '{"text": ' },
              { name: 'boom', arguments: {} },
            ],
          },
          'understood',
        ],
        { context: t },
      );
      const boom = defineTool({
        name: 'boom',
        description: 'Throws.',
        input: z.object({}),
        toolset: 'test',
        effect: 'write',
        run: async () => {
          throw new Error('broken pipe');
        },
      });
      const turn = await playTurn('go', { model, tools: [echoTool(), boom] });
      const results = turn.journal.flatMap((message) => (message.role === 'tool' ? message.parts : []));
      assert.deepEqual(
        results.map((result) => result.isError),
        [true, true, true, true],
      );
      assert.match(results[0]?.text ?? '', /no tool named "nope".*echo, boom/s);
      assert.match(results[1]?.text ?? '', /Invalid arguments for echo: text/);
      assert.match(results[2]?.text ?? '', /not a JSON object/);
      assert.match(results[3]?.text ?? '', /broken pipe/);
      assert.equal(turn.end.outcome, 'done');
    },
  );

  test('a late tool is loaded by its first valid call and weighed as the whole tool; what cannot be loaded is a result', async (t) => {
    const calls = [{}, { text: 'a' }, { text: 'b' }].map((given) => ({ name: 'late', arguments: given }));
    const model = createScriptedModel([{ calls: [...calls, { name: 'lost', arguments: {} }] }, 'done'], { context: t });
    const card = {
      name: 'late',
      description: 'Late.',
      input: z.object({ text: z.string() }),
      toolset: 'test',
    } as const;
    let loads = 0;
    const late = lateTool({ ...card, effect: 'write' }, async () => {
      loads += 1;
      return defineTool({
        ...card,
        effect: 'write',
        risk: ({ text }) => (text === 'b' ? { level: 'never', reason: 'b is out' } : { level: 'none' }),
        run: async ({ text }) => ({ text: `late ${text}` }),
      });
    });
    const lost = lateTool({ ...card, name: 'lost', input: z.object({}), effect: 'write' }, () =>
      Promise.reject(new Error('no such file')),
    );
    const turn = await playTurn('go', { model, tools: [late, lost] });
    const results = turn.journal.flatMap((message) => (message.role === 'tool' ? message.parts : []));
    assert.deepEqual([loads, results[1]?.text], [1, 'late a']);
    assert.match(results[0]?.text ?? '', /Invalid arguments for late/);
    assert.match(results[2]?.text ?? '', /never run: b is out/);
    assert.match(results[3]?.text ?? '', /lost cannot be loaded: no such file/);
  });

  verifies(
    ['core:turn:not-shown-not-runnable', 'core:toolset:security-boundary'],
    'a tool outside the turn’s runnable set does not run',
    async (t) => {
      const model = createScriptedModel([{ calls: [call('x')] }, 'ok'], { context: t });
      const ran: string[] = [];
      const turn = await playTurn('go', { model, tools: [echoTool(ran)], runnable: new Set() });
      assert.deepEqual(ran, []);
      const result = turn.journal.find((message) => message.role === 'tool')?.parts[0];
      assert.equal(result?.type === 'tool-result' && result.observed.refused, 'tool-not-allowed');
    },
  );

  verifies(
    ['core:loop:output-capped', 'core:turn:spill-and-preview'],
    'large output goes whole to a file; the model sees head, tail and the file',
    async (t) => {
      const model = createScriptedModel([{ calls: [{ name: 'large', arguments: {} }] }, 'ok'], { context: t });
      const text = `start ${'x'.repeat(120_000)} finish`;
      const large = defineTool({
        name: 'large',
        description: 'Large output.',
        input: z.object({}),
        toolset: 'test',
        effect: 'read',
        run: async () => ({ text }),
      });
      const turn = await playTurn('go', { model, tools: [large] });
      const result = turn.journal.find((message) => message.role === 'tool')?.parts[0];
      assert.ok(result?.type === 'tool-result');
      assert.ok(result.text.length < 4_000);
      assert.match(result.text, /^start x+/);
      assert.match(result.text, /finish\n\[120013 characters in all/);
      assert.equal(readFileSync(result.observed.spill ?? '', 'utf8'), text);
    },
  );

  verifies(
    ['core:loop:parallel-read-only'],
    'read-only neighbours run at the same time, results in call order',
    async (t) => {
      const order: string[] = [];
      const release = new Map<string, () => void>();
      const slow = defineTool({
        name: 'slow',
        description: 'Waits for the other.',
        input: z.object({ id: z.string(), after: z.string().optional() }),
        toolset: 'test',
        effect: 'read',
        run: async ({ id, after }) => {
          if (after) await new Promise<void>((resolve) => release.set(after, resolve));
          order.push(id);
          release.get(id)?.();
          return { text: id };
        },
      });
      const calls = [
        { name: 'slow', arguments: { id: 'first', after: 'second' } },
        { name: 'slow', arguments: { id: 'second' } },
      ];
      const model = createScriptedModel([{ calls }, 'ok'], { context: t });
      const turn = await playTurn('go', { model, tools: [slow] });
      assert.deepEqual(order, ['second', 'first']);
      const texts = turn.journal.flatMap((message) => (message.role === 'tool' ? [message.parts[0].text] : []));
      assert.deepEqual(texts, ['first', 'second']);
    },
  );

  verifies(['core:turn:steering'], 'a line typed in mid-turn is read between two steps', async (t) => {
    const model = createScriptedModel([{ calls: [call('a')] }, 'with the steer'], { context: t });
    const steers: string[] = [];
    const turn = await playTurn(
      'go',
      { model, tools: [echoTool()] },
      { steers, onEvent: (e) => e.type === 'tool-end' && steers.push('shorter please') },
    );
    assert.deepEqual(
      turn.journal.map((message) => message.role),
      ['user', 'assistant', 'tool', 'user', 'assistant'],
    );
    assert.equal(turn.end.text, 'with the steer');
  });

  verifies(['core:turn:steering'], 'first hour 2: a turn that was stopped takes no line', async (t) => {
    const model = createScriptedModel([{ calls: [call('a')] }], { context: t });
    const steers = ['for later'];
    const stop = new AbortController();
    const turn = await playTurn(
      'go',
      { model, tools: [echoTool()] },
      { steers, signal: stop.signal, onEvent: (e) => e.type === 'tool-end' && stop.abort() },
    );
    assert.equal(turn.end.outcome, 'aborted');
    assert.deepEqual(steers, ['for later']);
    assert.ok(!turn.events.some((event) => event.type === 'steer'));
  });

  verifies(['core:turn:steering'], 'first hour 2: a line is durable before it is said to be taken', async (t) => {
    const model = createScriptedModel([{ calls: [call('a')] }], { context: t });
    const turn = await playTurn('go', { model, tools: [echoTool()] }, { steers: ['one', 'two'], failJournalAt: 5 });
    assert.deepEqual(
      turn.events.flatMap((event) => (event.type === 'steer' ? [event.text] : [])),
      ['one'],
    );
  });

  verifies(
    ['core:turn:empty-reply'],
    'an empty reply is asked for once more, then the turn fails with a way out',
    async (t) => {
      const model = createScriptedModel(['', 'better'], { context: t });
      const turn = await playTurn('go', { model });
      assert.equal(turn.end.text, 'better');
      const silent = createScriptedModel(['', ''], { context: t });
      const failed = await playTurn('go', { model: silent });
      assert.equal(failed.end.outcome, 'failed');
      assert.match(failed.end.error?.fix ?? '', /model/);
    },
  );

  verifies(
    ['core:approval:risky-asks', 'core:approval:non-interactive-denies'],
    'a risky call asks; denied it does not run',
    async (t) => {
      const ran: string[] = [];
      const risky = defineTool({
        name: 'risky',
        description: 'Risky.',
        input: z.object({}),
        toolset: 'test',
        effect: 'write',
        risk: () => ({ level: 'ask', reason: 'deletes things', key: 'k', preview: 'rm -r build' }),
        run: async () => {
          ran.push('ran');
          return { text: 'gone' };
        },
      });
      const script = () => createScriptedModel([{ calls: [{ name: 'risky', arguments: {} }] }, 'ok'], { context: t });
      const denied = await playTurn('go', { model: script(), tools: [risky] });
      assert.deepEqual(ran, []);
      const result = denied.journal.find((message) => message.role === 'tool')?.parts[0];
      assert.ok(result?.type === 'tool-result' && result.observed.refused === 'denied');
      const yes: Approver = { approve: async () => ({ decision: 'once' }) };
      await playTurn('go', { model: script(), tools: [risky], approver: yes });
      assert.deepEqual(ran, ['ran']);
    },
  );

  verifies(
    ['core:loop:reasoning-kept', 'core:origin:every-part', 'core:origin:tool-content-is-foreign'],
    'every part is stored with its origin, reasoning included',
    async (t) => {
      const model = createScriptedModel([{ calls: [call('a')], reasoning: 'hm' }, 'ok'], { context: t });
      const turn = await playTurn('go', { model, tools: [echoTool()] });
      const origins = turn.journal.flatMap((message) => message.parts.map((part) => `${part.type}:${part.origin}`));
      assert.deepEqual(origins, [
        'text:owner',
        'reasoning:model',
        'tool-call:model',
        'tool-result:foreign',
        'text:model',
      ]);
    },
  );

  verifies(
    ['core:turn:spans'],
    'every step, tool and the turn itself is a span with time, tokens and cost',
    async (t) => {
      const model = createScriptedModel([{ calls: [call('a')] }, 'ok'], { context: t, cost: 0.5 });
      const turn = await playTurn('go', { model, tools: [echoTool()] });
      assert.deepEqual(turn.spans.map((span) => span.kind).sort(), ['step', 'step', 'tool', 'turn']);
      assert.equal(turn.end.cost, 1);
      assert.equal(turn.end.usage.inputTokens, 200);
      const steps = turn.spans.filter((span) => span.kind === 'step');
      assert.ok(steps.every((span) => span.cost === 0.5 && span.purpose === 'answer'));
    },
  );

  verifies(
    ['core:bad-input:disk-full'],
    'a journal that cannot write fails the turn with its code and asks no model',
    async () => {
      const model = createScriptedModel([]);
      const turn = await playTurn('go', { model }, { failJournalAt: 1 });
      assert.equal(turn.end.outcome, 'failed');
      assert.match(turn.end.error?.message ?? '', /no space/);
      assert.equal(model.requests.length, 0);
    },
  );
});
