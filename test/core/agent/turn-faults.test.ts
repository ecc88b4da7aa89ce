/** Aborts at every event, every kind of model failure, failing hooks: one terminal event, a legal journal. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Hooks } from '#public/talaria.ts';
import { createScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { verifies } from '../../verifies.ts';
import { echoTool, playTurn, unansweredCalls } from './turn-fixture.ts';

const script = (): ScriptedStep[] => [
  {
    calls: [
      { name: 'echo', arguments: { text: 'a' } },
      { name: 'echo', arguments: { text: 'b' } },
    ],
    text: 'first ',
  },
  { calls: [{ name: 'echo', arguments: { text: 'c' } }], reasoning: 'thinking' },
  { reply: ['the ', 'end'] },
];

const FAILURES: readonly ScriptedStep[] = [
  { error: 'model-rate-limited' },
  { error: 'model-overloaded', after: 'half an ans' },
  { error: 'model-bad-response', after: 'half' },
  { error: 'model-auth' },
  { error: new Error('a bug') },
  { events: [] },
  { events: [{ type: 'text-delta', text: 'no finish' }] },
  { refusal: 'I will not' },
];

describe('turn faults', () => {
  verifies(
    ['core:turn:abort-anywhere', 'core:turn:one-terminal-event'],
    'an abort at any event ends the turn with one terminal event',
    async () => {
      const whole = await playTurn('go', { model: createScriptedModel(script()), tools: [echoTool()] });
      assert.equal(whole.end.outcome, 'done');
      for (let at = 0; at < whole.events.length - 1; at++) {
        const controller = new AbortController();
        let seen = 0;
        const onEvent = () => {
          if (seen++ === at) controller.abort(new DOMException('stop', 'AbortError'));
        };
        const turn = await playTurn(
          'go',
          { model: createScriptedModel(script()), tools: [echoTool()] },
          { signal: controller.signal, onEvent },
        );
        assert.equal(turn.events.filter((event) => event.type === 'turn-end').length, 1, `abort at ${at}`);
        assert.deepEqual(unansweredCalls(turn.journal), [], `abort at event ${at} (${whole.events[at]?.type})`);
        assert.ok(turn.end.outcome === 'aborted' || turn.end.outcome === 'done', `abort at ${at}: ${turn.end.outcome}`);
      }
    },
  );

  verifies(
    ['core:turn:one-terminal-event'],
    'every failure of the model, at every step, ends the turn once and leaves a legal journal',
    async () => {
      for (const failure of FAILURES) {
        for (let step = 0; step < 3; step++) {
          const steps = [...script().slice(0, step), failure];
          const turn = await playTurn('go', { model: createScriptedModel(steps), tools: [echoTool()] });
          assert.equal(turn.events.filter((event) => event.type === 'turn-end').length, 1);
          assert.deepEqual(unansweredCalls(turn.journal), []);
          const refusal = typeof failure === 'object' && 'refusal' in failure;
          assert.equal(turn.end.outcome, refusal ? 'done' : 'failed', JSON.stringify(failure));
        }
      }
    },
  );

  verifies(['core:turn:one-terminal-event'], 'text that was seen before a failure is kept, marked as cut', async () => {
    const turn = await playTurn('go', {
      model: createScriptedModel([{ error: 'model-overloaded', after: 'half an ans' }]),
    });
    const last = turn.journal.at(-1);
    assert.ok(last?.role === 'assistant' && last.cut === 'failed');
    assert.equal(last.parts[0]?.type === 'text' && last.parts[0].text, 'half an ans');
  });

  verifies(['core:hooks:failure-is-an-event'], 'a hook that throws becomes an event; the turn goes on', async (t) => {
    const broken: Hooks = {
      name: 'broken',
      beforeTurn: async () => Promise.reject(new Error('no network')),
      beforeTool: async () => Promise.reject(new Error('no network')),
      afterTool: async () => Promise.reject(new Error('no network')),
      afterTurn: async () => Promise.reject(new Error('no network')),
    };
    const turn = await playTurn('go', {
      model: createScriptedModel(script(), { context: t }),
      tools: [echoTool()],
      hooks: [broken],
    });
    const failed = turn.events.flatMap((event) => (event.type === 'hook-failed' ? [event.at] : []));
    assert.deepEqual([...new Set(failed)].sort(), ['afterTool', 'afterTurn', 'beforeTool', 'beforeTurn']);
    assert.equal(turn.end.outcome, 'done');
  });

  verifies(
    [
      'core:hooks:before-turn-into-user-message',
      'core:prompt:volatile-in-user-message',
      'core:hooks:before-tool-may-refuse',
    ],
    'beforeTurn adds to the user message, beforeTool may refuse; the system prompt stays',
    async (t) => {
      const hook: Hooks = {
        name: 'context',
        beforeTurn: async () => [{ type: 'text', text: 'it is raining', origin: 'foreign' }],
        beforeTool: async (_turn, toolCall) =>
          toolCall.arguments.text === 'b' ? { decision: 'refuse', reason: 'not b' } : { decision: 'allow' },
      };
      const model = createScriptedModel(script(), { context: t });
      const ran: string[] = [];
      const turn = await playTurn('go', { model, tools: [echoTool(ran)], hooks: [hook] });
      assert.deepEqual(ran, ['a', 'c']);
      assert.equal(model.requests[0]?.system, 'system');
      const user = turn.journal[0];
      assert.deepEqual(
        user?.parts.map((part) => part.type === 'text' && [part.label, part.text]),
        [
          ['context', 'it is raining'],
          [undefined, 'go'],
        ],
      );
    },
  );
});
