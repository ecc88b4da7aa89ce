import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { userMessage } from '#core/model/message.ts';
import { findMessage, lastMessages, sessionMessages } from '#mind/sessions/find-message.ts';
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
