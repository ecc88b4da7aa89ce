import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Span } from '#core/agent/session-store.ts';
import type { Purpose } from '#core/model/model-client.ts';
import { costOfTurns, NO_TURN_COST } from '#mind/sessions/cost/turn-costs.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { createTempHome } from '#testing/temp-home.ts';

let spans = 0;

function step(sessionId: string, turn: number, cost: number | null, purpose: Purpose = 'answer'): Span {
  spans += 1;
  const usage = { inputTokens: 100, outputTokens: 10, cachedTokens: 50, cacheWriteTokens: 0, reasoningTokens: 0 };
  const common = { id: `span ${spans}`, sessionId, turn, kind: 'step', name: 'm', startedAt: spans, ms: 1 } as const;
  return { ...common, status: 'ok', purpose, usage, cost };
}

describe('the cost of turns', () => {
  test('is what the turns themselves took, unknown prices counted apart', async (t) => {
    const store = createSqliteSessionStore({ path: join(createTempHome(t).path, 'state.db') });
    t.after(() => store.close());
    const { id } = await store.create({ source: 'cli', cwd: '/' });
    await store.recordSpans([
      step(id, 1, 0.2),
      step(id, 1, null),
      step(id, 1, 9, 'review'),
      step(id, 2, 0.1, 'compress'),
      step(id, 3, 5),
    ]);
    const of = (...turns: readonly number[]) =>
      costOfTurns(
        store.database,
        turns.map((turn) => ({ sessionId: id, turn })),
      );
    const { cost, ...counts } = of(1, 2, 99);
    assert.deepEqual(counts, { turns: 2, calls: 3, tokens: 330, unpriced: 1 });
    assert.ok(Math.abs(cost - 0.3) < 1e-9);
    assert.deepEqual(of(), NO_TURN_COST);
    assert.deepEqual(costOfTurns(store.database, [{ sessionId: 'gone', turn: 1 }]), NO_TURN_COST);
    const many = Array.from({ length: 1_203 }, (_, at) => ({ sessionId: id, turn: at + 3 }));
    assert.equal(costOfTurns(store.database, many).turns, 1);
  });
});
