// What is said of many drafts that wait: the newest, how many more, and none of them twice.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { evidenceSchema } from '#mind/evidence/proposal-schema.ts';
import { createAnnouncements } from '#mind/learning/keep/announcements.ts';
import { learningSchema } from '#mind/learning/learning-schema.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';

test('of many that wait the newest are said and the rest counted, once', async (t) => {
  const clock = createManualClock();
  const path = join(createTempHome(t).path, 'state.db');
  const { database } = openDatabase(path, { rooms: [evidenceSchema, learningSchema], clock });
  t.after(() => database.close());
  const ledger = createProposalLedger({ database, clock });
  const ids: string[] = [];
  const wait = async (count: number, sessionId: string) => {
    for (let at = 0; at < count; at += 1) {
      const draft = { kind: 'memory', actor: 'review', target: 'user', action: 'add', citations: [] } as const;
      const { id } = await ledger.open({ ...draft, change: { content: `Fact ${at}.` }, sessionId });
      await ledger.decide(id, { status: 'pending', reason: 'not-judged' });
      await clock.advance(1);
      ids.push(id);
    }
  };
  const parts = { ledger, database, clock };
  const news = createAnnouncements(parts);
  await wait(30, 'a');
  assert.equal(news.take('a').length, 30);
  await wait(32, 'a');
  await wait(1, 'b');
  const lines = news.take('a');
  assert.equal(lines.length, 31);
  assert.ok(lines[0]?.endsWith(`talaria pending show ${ids[32]}`) && lines[29]?.endsWith(`show ${ids[61]}`));
  assert.equal(lines[30], '… and 2 more wait · talaria pending list');
  assert.deepEqual(news.take('a'), []);
  assert.equal(createAnnouncements(parts).take().length, 1, 'also a later program knows what was counted');
});
