import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { openDatabase } from '#base/database.ts';
import { eraseFreed } from '#mind/sessions/forget/erase-freed.ts';
import { createTempHome } from '#testing/temp-home.ts';

const hasty = { ...systemClock, sleep: async () => {} };

describe('erasing what was deleted', () => {
  test('says so while another process reads, and does it when that one is done', async (t) => {
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
