// What goes when something is forgotten: events by words and age, verdicts with their proposals and by their own words.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { forgetEvents, forgetProposals } from '#mind/evidence/forget.ts';
import { ledgerSchema } from '#mind/evidence/ledger/evidence-ledger.ts';
import { createProposalLedger } from '#mind/evidence/proposal-ledger.ts';
import { evidenceSchema, recordVerdicts } from '#mind/evidence/proposal-schema.ts';
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

test('verdicts go with the proposal that they judged, others when they hold the text', async (t) => {
  const clock = createManualClock();
  const { database } = openDatabase(join(createTempHome(t).path, 'state.db'), { rooms: [evidenceSchema], clock });
  t.after(() => database.close());
  const ledger = createProposalLedger({ database, clock });
  const judge = async (subject: string, text: string, why: string) => {
    const judgement = { id: 'k', verdict: 'supported', why, model: 'a/b' } as const;
    const claim = { id: 'k', text, sources: [] };
    await recordVerdicts({ database, clock, redact: (one) => one }, [judgement], [claim], { task: 'keep', subject });
  };
  const draft = { kind: 'memory', actor: 'agent', target: 'user', action: 'add', citations: [] } as const;
  const gone = await ledger.open({ ...draft, change: { content: 'Met Bergmann.' } });
  const kept = await ledger.open({ ...draft, change: { content: 'Uses pnpm.' } });
  await judge(gone.id, 'Met somebody.', 'said so');
  await judge(kept.id, 'Uses pnpm.', 'said so');
  await judge('run_1', 'He met bergmann.', 'said so');
  await judge('run_2', 'He met him.', 'Bergmann is named');
  const holds = (text: string) => text.toLowerCase().includes('bergmann');
  assert.equal(forgetProposals(database, { messageIds: new Set(), sessionIds: new Set(), holds }).verdicts, 3);
  const subjects = () => database.all<{ subject: string }>('SELECT subject FROM verdicts').map((row) => row.subject);
  assert.deepEqual(subjects(), [kept.id]);
  assert.equal(forgetProposals(database, { messageIds: new Set(), sessionIds: new Set() }).verdicts, 0);
  assert.deepEqual(subjects(), [kept.id]);
});
