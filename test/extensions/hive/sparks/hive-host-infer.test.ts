// How a question reaches the host: one bounded turn on the fast tier, without tools.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TurnRequest } from '#core/agent/extension-host.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import { NO_USAGE } from '#core/model/model-client.ts';
import { hostInfer } from '#extensions/hive/sparks/infer.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { verifies } from '../../../verifies.ts';

const QUESTION = { kind: 'spark', system: 'judge', input: { b: 1, a: 'x' }, maxOutputTokens: 150 } as const;
const never = new AbortController().signal;

function turnEnd(parts: Partial<Extract<TurnEvent, { type: 'turn-end' }>>): TurnEvent {
  const base = { type: 'turn-end', outcome: 'done', text: 'fine', steps: 1, usage: NO_USAGE, cost: 0 } as const;
  return { ...base, model: 'scripted/model', tier: 'T1', ms: 1, ...parts };
}

function host(...events: readonly TurnEvent[]) {
  const requests: TurnRequest[] = [];
  const runTurn = async function* (request: TurnRequest): AsyncGenerator<TurnEvent> {
    requests.push(request);
    yield* events;
  };
  return { requests, infer: hostInfer(async () => ({ runTurn })) };
}

describe('questions to the host', () => {
  verifies(
    ['R4.15', 'R4.24'],
    'a question is one turn of the fast tier: no tool, one step, a token cap, for `peers`',
    async () => {
      const { infer, requests } = host(turnEnd({}));
      assert.deepEqual(await infer(QUESTION, never), { text: 'fine', byRule: false });
      assert.deepEqual(requests, [
        {
          text: '{"a":"x","b":1}',
          system: 'judge',
          purpose: 'peers',
          tier: 'T1',
          tools: [],
          maxSteps: 1,
          maxOutputTokens: 150,
        },
      ]);
    },
  );

  test('what the model-free tier answered is told by rule', async () => {
    assert.equal((await host(turnEnd({ tier: 'T0' })).infer(QUESTION, never)).byRule, true);
  });

  test('a turn that failed, was stopped, said nothing or never ended throws', async () => {
    const error = { code: 'x', message: 'no credit left' };
    await assert.rejects(host(turnEnd({ outcome: 'failed', error })).infer(QUESTION, never), /no credit left/);
    await assert.rejects(host(turnEnd({ outcome: 'aborted' })).infer(QUESTION, never));
    await assert.rejects(host(turnEnd({ text: ' \n' })).infer(QUESTION, never), /empty/);
    await assert.rejects(host().infer(QUESTION, never));
  });

  test('a model that never stops talking is cut off', async () => {
    const flood = Array.from({ length: 400 }, (): TurnEvent => ({ type: 'text-delta', text: 'x'.repeat(1_000) }));
    await assert.rejects(host(...flood, turnEnd({})).infer(QUESTION, never), /longer/);
  });

  test('a turn that hangs ends with its time, or with the signal', async () => {
    const clock = createManualClock();
    const signals: AbortSignal[] = [];
    const runTurn = async function* (_: TurnRequest, signal: AbortSignal): AsyncGenerator<TurnEvent> {
      signals.push(signal);
      await new Promise<never>(() => {});
      yield turnEnd({});
    };
    const infer = hostInfer(async () => ({ runTurn }), { clock, timeoutMs: 5_000 });
    const late = assert.rejects(infer(QUESTION, never), /within 5 seconds/);
    await clock.advance(5_000);
    await late;
    assert.equal(signals[0]?.aborted, true);
    const stop = new AbortController();
    const stopped = assert.rejects(infer(QUESTION, stop.signal), /enough/);
    stop.abort(new Error('enough'));
    await stopped;
    assert.equal(clock.pending, 0);
  });
});
