import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { forgetEvents } from '#mind/evidence/forget/forget-events.ts';
import { ledgerSchema } from '#mind/evidence/ledger/ledger-schema.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';

const waiting = {
  room: 'waiting',
  steps: [
    'CREATE TABLE waiting(id TEXT PRIMARY KEY, title TEXT, created_at TEXT NOT NULL); CREATE TABLE plain(word TEXT);',
  ],
};

describe('events of the ledger are forgotten', () => {
  test('what waits in the same file goes by its words and its age; a table without a time stays', async (t) => {
    const path = join(createTempHome(t).path, 'evidence.sqlite');
    const { database } = openDatabase(path, { rooms: [ledgerSchema, waiting], clock: createManualClock() });
    t.after(() => database.close());
    const add = (id: string, title: string, at: string) =>
      database.run('INSERT INTO waiting VALUES(?, ?, ?)', id, title, at);
    add('a', 'the failure at Bergmann', '2020-01-02T00:00:00+00:00');
    add('b', 'something else', '2020-01-02T00:00:00+00:00');
    add('c', 'something old', '2019-01-02T00:00:00+00:00');
    database.run('INSERT INTO plain VALUES(?)', 'bergmann');
    const holds = (text: string) => text.toLowerCase().includes('bergmann');
    assert.equal(forgetEvents(database, { sessionIds: new Set(['a', 'b']), holds }), 1);
    assert.equal(forgetEvents(database, { sessionIds: new Set(), before: Date.UTC(2019, 5, 1) }), 1);
    assert.deepEqual(
      database.all<{ id: string }>('SELECT id FROM waiting').map(({ id }) => id),
      ['b'],
    );
    assert.equal(database.all('SELECT word FROM plain').length, 1);
  });
});
