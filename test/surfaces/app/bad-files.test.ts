import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { openDatabase } from '#base/database.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { verifies } from '../../verifies.ts';
import { createStage, openConversation, play } from './app-fixture.ts';

describe('bad files', () => {
  verifies(
    'core:session:corrupt-kept',
    'a damaged state.db stops the start, and names what can be chosen',
    async (t) => {
      const stage = createStage(t);
      stage.temp.write('home/state.db', 'this is no database at all, '.repeat(500));
      await assert.rejects(stage.open(), {
        code: 'database-corrupt',
        fix: /repair salvage.*repair restore.*repair empty/,
      });
      assert.match(readFileSync(join(stage.root, 'state.db'), 'utf8'), /^this is no database/);
    },
  );

  verifies(
    'core:session:newer-read-only',
    'a state.db of a newer version is read, not written, and said so',
    async (t) => {
      const stage = createStage(t);
      const first = await stage.open({ extra: { client: createScriptedModel(['one'], { context: t }) } });
      await play(await openConversation(first), 'hello');
      await first.shutdown();
      const { database } = openDatabase(join(stage.root, 'state.db'), { rooms: [] });
      database.exec('UPDATE schema_versions SET version = 99');
      database.close();
      const app = await stage.open({ extra: { client: createScriptedModel([]) } });
      assert.ok(app.notices.some((text) => text.includes('newer version')));
      assert.equal((await app.doors.sessions.list()).length, 1);
      await assert.rejects(openConversation(app));
    },
  );

  verifies.slow(
    'core:bad-input:locked-database',
    'while another process writes, a turn waits and loses nothing',
    async (t) => {
      const stage = createStage(t);
      const app = await stage.open({ extra: { client: createScriptedModel(['one'], { context: t }) } });
      const conversation = await openConversation(app);
      const { database } = openDatabase(join(stage.root, 'state.db'), { rooms: [] });
      t.after(() => database.close());
      database.exec('BEGIN IMMEDIATE');
      const release = systemClock.sleep(250).then(() => database.exec('COMMIT'));
      const { end } = await play(conversation, 'hello');
      await release;
      assert.equal(end.outcome, 'done');
      assert.equal((await app.doors.sessions.messages(conversation.session.id)).length, 2);
    },
  );

  verifies(
    'core:bad-input:disk-full',
    'a full disk ends the turn with a clear message and keeps what was stored',
    async (t) => {
      const stage = createStage(t);
      const app = await stage.open({ extra: { client: createScriptedModel(['one', 'x'.repeat(3_000_000)]) } });
      const conversation = await openConversation(app);
      await play(conversation, 'hello');
      app.doors.sessions.database.exec('PRAGMA max_page_count = 1');
      const { end } = await play(conversation, 'a long one please');
      assert.equal(end.outcome, 'failed');
      assert.equal(end.error?.code, 'disk-full');
      assert.ok(end.error?.fix);
      const kept = await app.doors.sessions.messages(conversation.session.id);
      assert.ok(kept.length >= 2);
    },
  );
});
