import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe } from 'node:test';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { verifies } from '../verifies.ts';
import { createCliStage } from './cli-process.ts';

describe('the demo', () => {
  verifies.slow('core:cli:demo', 'two processes act, remember and recall; what it prints is there', async (t) => {
    const stage = createCliStage(t);
    const run = await stage.run(['demo']);
    assert.equal(run.code, 0, run.err);
    assert.match(run.out, /you type: run `wc -w notes\.txt`/);
    assert.match(run.out, /18 notes\.txt/, 'the command really ran');
    const database = /sessions (\/\S+state\.db)/.exec(run.out)?.[1] ?? '';
    const memory = /memory +(\/\S+\.md)/.exec(run.out)?.[1] ?? '';
    assert.ok(database.startsWith(stage.folder), 'below the folder of this test');
    assert.match(readFileSync(memory, 'utf8'), /sandal.*4711/);
    assert.equal(existsSync(stage.root), false, 'never the home of the person');
    const store = createSqliteSessionStore({ path: database, readOnly: true });
    const sessions = await store.list();
    await store.close();
    assert.equal(sessions.length, 2);
    assert.match(run.out, /What it cost: \$0\.0000/);
  });
});
