import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { forgetMessages, selectMessages } from '#mind/sessions/forget-messages.ts';
import { SearchLane } from '#mind/sessions/search/search-lane.ts';
import type { SqliteSessionStore } from '#mind/sessions/sqlite-session-store.ts';
import { type BroughtMessage, carryOut, planBringing } from '#mind/sessions/transfer/bring-session.ts';
import type { Message } from '#public/talaria.ts';
import { withStore } from '../mind/sessions/temp-store.ts';
import { runs } from '../property-runs.ts';

const WORDS = ['alpha', 'beta', 'gamma', 'delta'];
const speech = fc.record({
  user: fc.boolean(),
  word: fc.constantFrom(...WORDS),
  state: fc.constantFrom('live', 'compacted', 'rewound'),
});

function messageOf({ user, word }: { readonly user: boolean; readonly word: string }): Message {
  if (user) return { role: 'user', parts: [{ type: 'text', text: word, origin: 'owner' }] };
  return { role: 'assistant', model: 'm', parts: [{ type: 'text', text: word, origin: 'model' }] };
}

async function bring(store: SqliteSessionStore, id: string, messages: readonly BroughtMessage[]) {
  const lanes = { spoken: new SearchLane(store.database, 'spoken'), tool: new SearchLane(store.database, 'tool') };
  const session = { id, source: 'cli', cwd: '', startedAt: 1, lastActiveAt: 1 };
  const plan = planBringing(store.database, session, messages);
  await carryOut(store.database, lanes, plan);
  return plan;
}

function stored(store: SqliteSessionStore, id: string): readonly string[] {
  return store.database
    .all<{ text: string; at: number }>(
      'SELECT m.text, m.at FROM messages m JOIN sessions s ON s.key = m.session WHERE s.id = ? ORDER BY m.seq',
      id,
    )
    .map(({ text, at }) => `${at} ${text}`);
}

describe('a session that is brought again and again', () => {
  test('has each message once, in order, whatever was added there and forgotten here in between', () =>
    withStore(async (store) => {
      let n = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(speech, { minLength: 1, maxLength: 12 }),
          fc.nat(12),
          fc.constantFrom(...WORDS),
          async (speeches, cut, forgotten) => {
            const id = `s${++n}`;
            const all = speeches.map(
              (one, at): BroughtMessage => ({ at: at + 1, message: messageOf(one), state: one.state as 'live' }),
            );
            const first = all.slice(0, cut);
            await bring(store, id, first);
            const lanes = {
              spoken: new SearchLane(store.database, 'spoken'),
              tool: new SearchLane(store.database, 'tool'),
            };
            const chosen = selectMessages(store.database, { kind: 'match', text: forgotten });
            const sessions = chosen.filter((session) => session.id === id && !session.whole);
            await store.database.transaction(() => forgetMessages(store.database, lanes, { sessions }));
            const gone = new Set(sessions.flatMap(({ messages }) => messages.map((one) => one.id)));
            const kept = stored(store, id);
            assert.equal(kept.length, first.length - gone.size);
            await bring(store, id, all);
            const after = stored(store, id);
            assert.deepEqual(after.slice(0, kept.length), kept);
            const rest = all
              .slice(first.length)
              .map(({ at }, index) => `${at} ${speeches[first.length + index]?.word}`);
            if (kept.length > 0 || first.length === 0) assert.deepEqual(after.slice(kept.length), rest);
            assert.equal((await bring(store, id, all)).outcome, 'same');
          },
        ),
        { numRuns: runs(150) },
      );
      assert.equal((await store.checkIndex()).agrees, true);
    }));
});
