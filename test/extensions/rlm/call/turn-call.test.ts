/** The inner call that is a turn, over the composed app with a scripted model: prompt, tools, session and cost are the real ones. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { TalariaError } from '#base/errors.ts';
import { messageText } from '#core/model/message.ts';
import { type ModelRequest, NO_USAGE, type Tier } from '#core/model/model-client.ts';
import { openNesting, tierOf } from '#extensions/rlm/call/call-limits.ts';
import type { InnerCall } from '#extensions/rlm/call/inner-call.ts';
import { createTurnCall } from '#extensions/rlm/call/turn-call.ts';
import type { TurnEvent } from '#public/talaria.ts';
import type { App } from '#surfaces/app/app.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createScriptedModel, type ScriptedModel, type ScriptedStep } from '#testing/scripted-model.ts';
import { createStage } from '../../../surfaces/app/app-fixture.ts';
import { verifies } from '../../../verifies.ts';
import { innerCallContract, type Part, requestOf } from './inner-call.contract.ts';

const never = () => new AbortController().signal;

interface Played {
  readonly call: InnerCall;
  readonly app: App;
  readonly model: ScriptedModel;
}

async function playing(t: TestContext, steps: readonly ScriptedStep[]): Promise<Played> {
  const model = createScriptedModel(steps);
  const app = await createStage(t).open({ extra: { client: model } });
  const runTurn = app.runExtensionTurn.bind(app);
  return { call: createTurnCall({ family: 'default', runTurn, tier: tierOf }), app, model };
}

const promptOf = ({ messages }: ModelRequest) => messages.map(messageText).join('');

function stepsOf(part: Part): readonly ScriptedStep[] {
  switch (part.plays) {
    case 'reply':
      return [{ reply: part.text }];
    case 'echo':
      return Array.from({ length: 6 }, () => (request) => ({ reply: [promptOf(request)] }));
    case 'flood':
      return [
        { reply: Array.from({ length: Math.ceil(part.chars / 1_000) }, (_, n) => piece(part.chars - n * 1_000)) },
      ];
    case 'hang':
      return [{ hang: true, after: 'As far as I' }];
    case 'fail':
      return [{ error: 'model-bad-request' }];
    case 'silence':
      return [{ reply: '' }, { reply: ' \n' }];
  }
}

const piece = (left: number) => 'x'.repeat(Math.min(1_000, left));

innerCallContract('turn call', { make: async (t, part) => (await playing(t, stepsOf(part))).call });

describe('turn call', () => {
  verifies('rlm:run:inner-bounded', 'sends its own system prompt and the prompt, and nothing else', async (t) => {
    const { call, app, model } = await playing(t, ['{"verdict":"passed"}']);
    const reply = await call.call(
      requestOf({ prompt: '{"a":1}', system: 'Only quote.', max_output_tokens: 77 }),
      never(),
    );
    assert.ok(reply.ok, JSON.stringify(reply));
    const [request] = model.requests;
    assert.equal(request?.system, 'Only quote.');
    assert.deepEqual(request?.tools, []);
    assert.equal(request?.messages.length, 1);
    assert.equal(request && promptOf(request), '{"a":1}');
    assert.equal(request?.purpose, 'recurse');
    assert.equal(request?.maxOutputTokens, 77);
    assert.deepEqual(reply.value.usage, { input_tokens: 100, output_tokens: 10 });
    assert.equal(reply.value.model, 'scripted/model');
    assert.equal(reply.value.exit_code, null);
    const costs = await app.doors.sessions.costs({});
    assert.ok(
      costs.some((row) => row.purpose === 'recurse'),
      JSON.stringify(costs),
    );
  });

  test('runs no tool: what calls one instead of answering is refused, what also answers is heard', async (t) => {
    const calls = [{ name: 'write_file', arguments: { path: 'x.txt', content: 'ran' } }];
    const { call, app } = await playing(t, [{ calls }, { calls, text: 'The answer.' }]);
    const refused = await call.call(requestOf(), never());
    assert.ok(!refused.ok && refused.reason === 'runtime_error', JSON.stringify(refused));
    const heard = await call.call(requestOf(), never());
    assert.ok(heard.ok && heard.value.completion === 'The answer.', JSON.stringify(heard));
    assert.equal(existsSync(join(app.environment.cwd, 'x.txt')), false);
  });

  test('thinking is no reply', async (t) => {
    const { call } = await playing(t, [
      { reply: '', reasoning: 'LC-001 says so' },
      { reply: '', reasoning: 'again' },
      { reply: 'LC-002', reasoning: 'LC-001?' },
    ]);
    const thought = await call.call(requestOf(), never());
    assert.ok(!thought.ok && thought.reason === 'runtime_error', JSON.stringify(thought));
    const said = await call.call(requestOf(), never());
    assert.ok(said.ok && said.value.completion === 'LC-002', JSON.stringify(said));
  });

  test('endless thinking is cut off', async () => {
    async function* runTurn(): AsyncGenerator<TurnEvent> {
      for (;;) {
        await Promise.resolve();
        yield { type: 'reasoning-delta', text: 'hm '.repeat(100) };
      }
    }
    const call = createTurnCall({ family: 'f', runTurn, tier: tierOf });
    const outcome = await call.call(requestOf({ max_output_tokens: 10 }), never());
    assert.equal(outcome.ok ? '' : outcome.reason, 'reply_too_large');
  });

  test('what was streamed before a retry or a fallback is forgotten', async () => {
    const call = createTurnCall({ family: 'f', tier: tierOf, runTurn: playOnce });
    const outcome = await call.call(requestOf(), never());
    assert.ok(outcome.ok && outcome.value.completion === 'right', JSON.stringify(outcome));
    async function* playOnce(): AsyncGenerator<TurnEvent> {
      yield { type: 'text-delta', text: 'wrong' };
      yield { type: 'model-retry', model: 'a/b', reason: 'reset', attempt: 1, delayMs: 0 };
      yield { type: 'text-delta', text: 'wrong too' };
      yield { type: 'model-fallback', from: 'a/b', to: 'c/d', reason: 'down' };
      yield { type: 'text-delta', text: 'right' };
      yield turnEnd();
    }
  });

  test('a turn that hears no abort is left behind within a second', async () => {
    const runTurn = () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) });
    const clock = createManualClock();
    const call = createTurnCall({ family: 'f', runTurn, tier: tierOf, clock });
    const controller = new AbortController();
    const work = call.call(requestOf(), controller.signal);
    await clock.advance(10);
    controller.abort();
    await clock.advance(1_000);
    const outcome = await work;
    assert.equal(outcome.ok ? '' : outcome.reason, 'cancelled');
    assert.equal(clock.pending, 0);
  });

  test('a model that is not set up is named; a fault of our own is thrown', async (t) => {
    const { app } = await playing(t, []);
    const runTurn = app.runExtensionTurn.bind(app);
    const unknown = createTurnCall({ family: 'f', runTurn, tier: tierOf, model: 'nobody/nothing' });
    const outcome = await unknown.call(requestOf(), never());
    assert.ok(
      !outcome.ok && outcome.reason === 'no_model' && outcome.detail.includes('nobody'),
      JSON.stringify(outcome),
    );
    // biome-ignore lint/correctness/useYield: a turn that breaks before its first event
    async function* broken(): AsyncGenerator<TurnEvent> {
      throw new TalariaError('the disk is gone', { code: 'database-io' });
    }
    const faulty = createTurnCall({ family: 'f', runTurn: broken, tier: tierOf });
    await assert.rejects(faulty.call(requestOf(), never()), { code: 'database-io' });
  });

  test('whatever runs inside knows that it is an inner call', async () => {
    const seen: boolean[] = [];
    async function* runTurn(): AsyncGenerator<TurnEvent> {
      seen.push(openNesting({}).ok);
      yield { type: 'text-delta', text: 'one' };
      await Promise.resolve();
      seen.push(openNesting({}).ok);
      yield turnEnd();
    }
    const call = createTurnCall({ family: 'f', runTurn, tier: tierOf });
    assert.ok((await call.call(requestOf(), never())).ok);
    assert.deepEqual(seen, [false, false]);
    assert.ok(openNesting({}).ok);
  });

  test('an answer is made by the deliberate tier, a piece of it by the fast one', () => {
    assert.equal(tierOf('{"schema_version":"rlm.hermes.input.v1","mode":"synthesize_parent"}'), 'T2');
    assert.equal(tierOf('{"schema_version":"talaria.rlm.repl.v1","step":1}'), 'T2');
    assert.equal(tierOf('{"schema_version":"rlm.vanilla_baseline.input.v1"}'), 'T2');
    for (const mode of ['execute_atomic', 'summarize_chunk', 'decompose_ac'])
      assert.equal(tierOf(`{"schema_version":"rlm.hermes.input.v1","mode":"${mode}"}`), 'T1');
    for (const prompt of ['{"schema_version":"talaria.rlm.sub.v1"}', 'prose', '', '{"mode":'])
      assert.equal(tierOf(prompt), 'T1');
  });

  test('a model that cannot answer is a failure; the rules that step in for a chat are no reply', async () => {
    const reason = 'HTTP 401: the key is wrong';
    const playTurn = (fallsBack: boolean) => {
      async function* runTurn(): AsyncGenerator<TurnEvent> {
        if (fallsBack) yield { type: 'model-fallback', from: 'openai/gpt-5', to: 'reflex/1', reason };
        yield { type: 'text-delta', text: '{}' };
        yield turnEnd('T0');
      }
      return createTurnCall({ family: 'default', runTurn, tier: tierOf }).call(requestOf(), never());
    };
    const detail = `openai/gpt-5 cannot answer: ${reason}`;
    assert.deepEqual(await playTurn(true), { ok: false, reason: 'runtime_error', detail });
    assert.equal((await playTurn(false)).ok, true);
  });
});

function turnEnd(tier: Tier = 'T2'): TurnEvent {
  const facts = { steps: 1, usage: NO_USAGE, cost: 0, model: 'c/d', tier, ms: 1 } as const;
  return { type: 'turn-end', outcome: 'done', text: '', ...facts };
}
