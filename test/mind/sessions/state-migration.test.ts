import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe } from 'node:test';
import { messageText } from '#core/model/message.ts';
import { sessionSchema } from '#mind/sessions/session-schema.ts';
import { createSqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { verifies } from '../../verifies.ts';
import { withFolder } from './temp-store.ts';

const FIXTURES = resolve(import.meta.dirname, '../../fixtures');
const released = readdirSync(FIXTURES).filter((name) => /^state-v\d+\.sql$/.test(name));
const SESSION = '20251229_092000_0a1b2c';

function makeFrom(fixture: string, path: string): void {
  const raw = new DatabaseSync(path);
  raw.exec(readFileSync(join(FIXTURES, fixture), 'utf8'));
  raw.close();
}

describe('released versions of state.db', () => {
  for (const fixture of released) {
    verifies('core:session:migrations', `${fixture} opens with everything that it held`, () =>
      withFolder(async (folder) => {
        const path = join(folder, 'state.db');
        makeFrom(fixture, path);
        const store = createSqliteSessionStore({ path });
        const current = Number(/\d+/.exec(fixture)?.[0]) === sessionSchema.steps.length;
        assert.equal(
          store.notices.some((notice) => notice.code === 'migrated'),
          !current,
        );
        const texts = (await store.messages(SESSION)).map(({ message }) => messageText(message));
        const said = [
          'When was the lighthouse painted?',
          'I look.',
          'painted white in 1987',
          'It was painted in 1987.',
        ];
        assert.deepEqual(texts, said);
        assert.equal((await store.loadPrompt(SESSION))?.system, 'You are Talaria.');
        assert.equal((await store.costs())[0]?.usage.inputTokens, 10);
        assert.equal((await store.spans(SESSION)).length, 1);
        assert.equal((await store.search('lighthouse paint'))[0]?.sessionId, SESSION);
        assert.deepEqual(await store.checkIndex(), { agrees: true, differences: [] });
        await store.close();
      }),
    );
  }

  verifies('core:session:migrations', 'the newest fixture is what a new file looks like', () =>
    withFolder(async (folder) => {
      const newest = `state-v${sessionSchema.steps.length}.sql`;
      assert.ok(released.includes(newest), `add test/fixtures/${newest} before a release`);
      makeFrom(newest, join(folder, 'old.db'));
      const store = createSqliteSessionStore({ path: join(folder, 'new.db') });
      const schema = (db: DatabaseSync) => db.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all();
      await store.close();
      const [old, made] = [new DatabaseSync(join(folder, 'old.db')), new DatabaseSync(join(folder, 'new.db'))];
      assert.deepEqual(schema(old), schema(made));
      old.close();
      made.close();
    }),
  );
});
