// Rows of stored conversations as others read them, what turns cost, and deleted bytes.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { openDatabase } from '#base/database.ts';
import type { Span } from '#core/agent/session-store.ts';
import { userMessage } from '#core/model/message.ts';
import type { Purpose } from '#core/model/model-client.ts';
import { costOfTurns, NO_TURN_COST } from '#mind/sessions/span-rows.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { eraseFreed } from '#mind/sessions/sweep-text.ts';
import { findMessage, lastMessages, sessionMessages } from '#mind/sessions/told-messages.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { slow } from '../../slow.ts';
import { withStore } from './temp-store.ts';

describe('single stored messages', () => {
  test('are found by id with their session; those of a session in order, or the newest first', () =>
    withStore(async (store) => {
      const one = await store.create({ source: 'test', cwd: '/' });
      const other = await store.create({ source: 'test', cwd: '/' });
      const first = await store.append(one.id, userMessage('first'));
      const beside = await store.append(other.id, userMessage('beside'));
      const second = await store.append(one.id, userMessage('second'));
      assert.deepEqual(findMessage(store.database, beside.id), beside);
      assert.equal(findMessage(store.database, 9_999), undefined);
      assert.deepEqual(sessionMessages(store.database, one.id), [first, second]);
      assert.deepEqual(lastMessages(store.database, one.id, 1), [second]);
      assert.deepEqual(sessionMessages(store.database, 'none'), []);
    }));

  test('what was compressed away is still there, what was withdrawn is not', () =>
    withStore(async (store) => {
      const { id: sessionId } = await store.create({ source: 'test', cwd: '/' });
      const compressed = await store.append(sessionId, userMessage('compressed'));
      const withdrawn = await store.append(sessionId, userMessage('withdrawn'));
      store.database.run('UPDATE messages SET active = 0, compacted = 1 WHERE id = ?', compressed.id);
      store.database.run('UPDATE messages SET active = 0 WHERE id = ?', withdrawn.id);
      assert.deepEqual(sessionMessages(store.database, sessionId), [compressed]);
      assert.equal(findMessage(store.database, withdrawn.id), undefined);
    }));
});

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

const hasty = { ...systemClock, sleep: async () => {} };

describe('erasing what was deleted', () => {
  slow('says so while another process reads, and does it when that one is done', async (t) => {
    const path = `${createTempHome(t).path}/x.db`;
    const steps = ['CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT)'];
    const { database } = openDatabase(path, { rooms: [{ room: 'x', steps }] });
    t.after(() => database.close());
    database.run('INSERT INTO notes(text) VALUES(?)', 'quorndelta');
    const reader = openDatabase(path, { rooms: [], readOnly: true }).database;
    t.after(() => reader.close());
    reader.exec('BEGIN');
    reader.get('SELECT * FROM notes');
    database.exec('DELETE FROM notes');
    assert.equal(await eraseFreed(database, hasty), 'busy');
    reader.exec('COMMIT');
    assert.equal(await eraseFreed(database, hasty), 'clean');
    for (const file of [path, `${path}-wal`]) assert.ok(!readFileSync(file).includes('quorndelta'), file);
  });
});
