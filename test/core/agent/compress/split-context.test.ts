/** What stays and what leaves, over random conversations. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  type CompressionPlan,
  planCompression,
  splitContext,
  summarise,
} from '#core/agent/compress/plan-compression.ts';
import { isSummary, renderSummary, summaryMessage } from '#core/agent/compress/summary.ts';
import { type CompressionBudget, compressionBudget, messageTokens } from '#core/agent/history.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import type { Message } from '#public/talaria.ts';
import { runs } from '../../../property-runs.ts';
import { verifies } from '../../../verifies.ts';
import { unansweredCalls } from '../turn-fixture.ts';
import { gave, said, stored, userMessage, words } from './compress-fixture.ts';

const size = fc.integer({ min: 1, max: 900 });

/** One turn: the owner asks, tools are called and answer, the agent says something. */
const turn = fc
  .record({
    asked: size,
    calls: fc.array(fc.array(size, { minLength: 1, maxLength: 3 }), { maxLength: 4 }),
    answer: size,
  })
  .map(({ asked, calls, answer }) => (number: number): Message[] => [
    userMessage(`ask ${number} ${words(asked)}`),
    ...calls.flatMap((results, step) => callMessages(`${number}-${step}`, results)),
    said(`answer ${number} ${words(answer)}`),
  ]);

function callMessages(id: string, results: readonly number[]): Message[] {
  const part = (at: number) =>
    ({ type: 'tool-call', callId: `${id}-${at}`, name: 'echo', arguments: { text: 'x' }, origin: 'model' }) as const;
  return [
    { role: 'assistant', model: 'm', parts: results.map((_, at) => part(at)) },
    ...results.map((tokens, at) => gave(`${id}-${at}`, 'echo', words(tokens))),
  ];
}

const conversation = fc
  .array(turn, { minLength: 1, maxLength: 40 })
  .map((turns) => stored(turns.flatMap((make, number) => make(number))));

const budget = fc
  .record({
    contextWindow: fc.constantFrom(8_192, 16_384, 32_768, 128_000),
    promptTokens: fc.integer({ min: 0, max: 3_200 }),
  })
  .map((facts) => compressionBudget({ ...facts, threshold: 0.5 }));

/** What the context is after the plan was carried out. */
function carriedOut(messages: readonly StoredMessage[], plan: CompressionPlan): readonly StoredMessage[] {
  const gone = new Set(plan.ids);
  const last = messages.findLastIndex(({ id }) => gone.has(id));
  const summary = { id: 9_999, sessionId: 's', at: 0, message: summarise(plan) };
  return messages.flatMap((one, at) => [...(gone.has(one.id) ? [] : [one]), ...(at === last ? [summary] : [])]);
}

/** Roles as a provider takes them: the user begins, results follow their call, and no answer follows an answer that did not before. */
function assertLegal(messages: readonly Message[]): void {
  assert.equal(messages[0]?.role, 'user');
  assert.deepEqual(unansweredCalls(messages), []);
  for (const [at, message] of messages.entries()) {
    const before = messages[at - 1];
    if (message.role === 'tool') assert.ok(before?.role === 'tool' || before?.role === 'assistant');
    if (message.role === 'assistant') assert.notEqual(before?.role, 'assistant');
  }
}

function assertKept(messages: readonly StoredMessage[], shares: CompressionBudget): void {
  const { head, middle, tail } = splitContext(messages, shares);
  const ids = [...head, ...middle, ...tail].map(({ id }) => id).sort((a, b) => a - b);
  assert.deepEqual(
    ids,
    messages.map(({ id }) => id),
  );
  assert.deepEqual(head, messages.slice(0, head.length));
  if (sizeOf(messages.slice(0, 3)) + 2_800 < shares.head && messages.length > 6) assert.ok(head.length >= 3);
  assert.equal(tail.at(-1), head.length === messages.length ? undefined : messages.at(-1));
  if (tail.length > 3) assert.ok(sizeOf(tail) <= shares.tail * 2);
}

describe('splitting a context', () => {
  test('a summary of foreign words keeps the taint, one of none has none', () => {
    const tiny = { soft: 0, hard: 0, head: 0, tail: 0, summary: 1_300 };
    const origin = (rows: readonly Message[]) => {
      const plan = planCompression('s', stored([...rows, userMessage('last'), said('done')]), tiny);
      assert.ok(plan);
      return summarise(plan).parts[0]?.origin;
    };
    const talk = [userMessage('first'), said('one'), userMessage('second'), said('two')];
    assert.equal(origin(talk), 'model');
    assert.equal(origin([...talk, gave('c', 'web_fetch', 'Obey.'), ...talk]), 'foreign');
  });

  verifies(
    ['core:compression:head-kept', 'core:compression:tail-kept', 'core:compression:pairs-kept'],
    'head and tail stay word for word within their budgets, pairs stay together, roles stay legal',
    () => {
      fc.assert(
        fc.property(conversation, budget, (messages, shares) => {
          assertKept(messages, shares);
          const plan = planCompression('s', messages, shares);
          assert.equal(plan === undefined, splitContext(messages, shares).middle.length === 0);
          if (plan) assertLegal(carriedOut(messages, plan).map(({ message }) => message));
        }),
        { numRuns: runs(200) },
      );
    },
  );

  verifies('core:compression:nothing-between', 'with nothing between head and tail there is no plan', () => {
    const shares = compressionBudget({ contextWindow: 128_000, promptTokens: 1_000, threshold: 0.5 });
    assert.equal(planCompression('s', stored([userMessage('a'), said('b')]), shares), undefined);
    assert.equal(planCompression('s', [], shares), undefined);
  });

  test('compressed again and again it holds one summary behind the head, which covers all that left', () => {
    fc.assert(
      fc.property(conversation, budget, (messages, shares) => {
        const plan = planCompression('s', messages, shares);
        if (!plan) return;
        const later = stored([
          userMessage('on'),
          ...callMessages('late', [400, 700]),
          said('so'),
          userMessage(words(600)),
          said(words(900)),
        ]);
        const grown = [...carriedOut(messages, plan), ...later.map((one) => ({ ...one, id: one.id + 20_000 }))];
        const again = planCompression('s', grown, shares);
        if (!again) return;
        const result = carriedOut(grown, again);
        assert.equal(result.filter(({ message }) => isSummary(message)).length, 1);
        assertLegal(result.map(({ message }) => message));
        assert.equal(again.coverage.compressions, 2);
        assert.equal(again.coverage.stretches[0]?.messages, plan.middle.length + again.middle.length);
      }),
      { numRuns: runs(150) },
    );
  });

  test('a summary of a session that this one was forked from keeps its own stretch', () => {
    const coverage = {
      stretches: [{ sessionId: 'parent', fromId: 4, toId: 90, messages: 80 }],
      turns: 9,
      compressions: 1,
    };
    const before = summaryMessage(renderSummary({ coverage, sections: { Goal: ['sail #4'] } }));
    const shares = compressionBudget({ contextWindow: 8_192, promptTokens: 0, threshold: 0.5 });
    const rows = [...stored([userMessage('a'), before]), ...stored(Array.from({ length: 20 }, () => said(words(300))))];
    const plan = planCompression(
      'child',
      rows.map((one, at) => ({ ...one, id: at + 1 })),
      shares,
    );
    assert.deepEqual(
      plan?.coverage.stretches.map(({ sessionId }) => sessionId),
      ['parent', 'child'],
    );
  });

  verifies(
    'core:compression:small-windows',
    'shares fit into any window: what stays is well under what starts a compression',
    () => {
      for (const contextWindow of [8_192, 16_384, 32_768, 64_000, 128_000, 1_000_000])
        for (const promptTokens of [0, 1_500, Math.floor(contextWindow * 0.4)]) assertFits(contextWindow, promptTokens);
      assert.equal(compressionBudget({ contextWindow: 128_000, promptTokens: 2_000, threshold: 0.5 }).soft, 64_000);
    },
  );
});

function assertFits(contextWindow: number, promptTokens: number): void {
  const { soft, hard, head, tail, summary } = compressionBudget({ contextWindow, promptTokens, threshold: 0.5 });
  assert.ok(soft <= hard && hard < contextWindow);
  const kept = promptTokens + tail + summary + (contextWindow < 32_768 ? head : 0);
  assert.ok(kept < soft * 0.95, `${contextWindow} with a prompt of ${promptTokens}`);
}

function sizeOf(messages: readonly StoredMessage[]): number {
  return messages.reduce((sum, { message }) => sum + messageTokens(message), 0);
}
