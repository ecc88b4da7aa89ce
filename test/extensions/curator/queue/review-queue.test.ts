import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { type Candidate, createCandidate } from '#extensions/curator/mine/candidate.ts';
import { classifyCandidate } from '#extensions/curator/mine/classify-candidate.ts';
import { openExistingQueue, openQueue } from '#extensions/curator/queue/open-queue.ts';
import { ledgerSchema } from '#mind/evidence/ledger/ledger-schema.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';

const START = Date.UTC(2020, 0, 1);

function place(t: { after(run: () => void): void }) {
  const clock = createManualClock({ now: START });
  return { path: join(createTempHome(t).path, 'queue', 'q.sqlite'), isOwn: false, clock };
}

const mined = (text: string, ref: string): Candidate => classifyCandidate({ text, evidence_ref: ref });

describe('the review queue', () => {
  verifies('curator:mine:queue', 'holds each candidate once, with its status, oldest first', async (t) => {
    const file = place(t);
    const { queue } = openQueue(file);
    const [failure, workflow, other] = [mined('it failed', 'r1'), mined('use `a` and `b`', 'r2'), mined('hi', 'r3')];
    assert.deepEqual(await queue.enqueue([failure, workflow, failure]), [true, true, false]);
    await file.clock.advance(60_000);
    assert.deepEqual(await queue.enqueue([other, workflow]), [true, false]);
    queue.close();
    const opened = openExistingQueue(file, 'read');
    assert.ok(opened.ok);
    const { queue: read } = opened.value;
    t.after(() => read.close());
    const [first, ...rest] = read.list();
    const older = [failure.id, workflow.id].sort();
    assert.deepEqual([first?.id, ...rest.map(({ id }) => id)], [...older, other.id]);
    assert.deepEqual(rest.at(-1), {
      ...other,
      status: 'pending',
      created_at: '2020-01-01T00:01:00+00:00',
      updated_at: '2020-01-01T00:01:00+00:00',
    });
    assert.deepEqual(
      read.list({ candidateType: 'skill_new' }).map(({ id }) => id),
      [workflow.id],
    );
    assert.deepEqual(read.list({ status: 'accepted' }), []);
  });

  verifies(
    'curator:mine:never-auto',
    'refuses what says that it needs no person, and adds nothing of its call',
    async (t) => {
      const { queue } = openQueue(place(t));
      t.after(() => queue.close());
      const good = mined('it failed', 'r1');
      for (const flags of [{ auto_apply_allowed: true }, { requires_human_review: false }]) {
        const bad = { ...mined('hello', 'r2'), ...flags } as unknown as Candidate;
        await assert.rejects(queue.enqueue([good, bad]), { code: 'unsafe-candidate' });
      }
      await assert.rejects(queue.enqueue([good, { ...good, id: 'x', confidence: 2 }]), { code: 'invalid-candidate' });
      assert.deepEqual(queue.list(), []);
    },
  );

  verifies(
    'curator:mine:review',
    'a decision changes the status, once, and is found by how the id begins',
    async (t) => {
      const file = place(t);
      const { queue } = openQueue(file);
      t.after(() => queue.close());
      const draft = { ...mined('it failed', 'r1'), evidence_refs: ['r'] };
      const [one, two] = [
        { ...createCandidate(draft), id: 'ab12' },
        { ...createCandidate(draft), id: 'ab34' },
      ];
      await queue.enqueue([one, two]);
      const ids = (prefix: string) => queue.find(prefix).map(({ id }) => id);
      assert.deepEqual(
        [ids('ab'), ids('ab3'), ids('ab12'), ids('%'), ids('b')],
        [['ab12', 'ab34'], ['ab34'], ['ab12'], [], []],
      );
      await file.clock.advance(1000);
      assert.deepEqual([await queue.decide('ab12', 'accepted'), await queue.decide('ab12', 'accepted')], [true, false]);
      assert.equal(await queue.decide('nobody', 'accepted'), false);
      const [decided] = queue.list({ status: 'accepted' });
      assert.deepEqual([decided?.id, decided?.updated_at], ['ab12', '2020-01-01T00:00:01+00:00']);
      assert.deepEqual(
        queue.list({ status: 'pending' }).map(({ id }) => id),
        ['ab34'],
      );
    },
  );

  test('lives in the file of the evidence ledger, whichever room came first', async (t) => {
    for (const rooms of [
      ['ledger', 'queue'],
      ['queue', 'ledger'],
    ]) {
      const file = place(t);
      for (const room of rooms) {
        if (room === 'queue') {
          const { queue } = openQueue(file);
          await queue.enqueue([mined('it failed', 'r')]);
          queue.close();
        } else openDatabase(file.path, { rooms: [ledgerSchema] }).database.close();
      }
      const { queue, notices } = openQueue(file);
      assert.deepEqual([queue.list().length, notices], [1, []]);
      queue.close();
    }
    const ledgerOnly = place(t);
    openDatabase(ledgerOnly.path, { rooms: [ledgerSchema] }).database.close();
    const opened = openExistingQueue(ledgerOnly, 'read');
    assert.ok(opened.ok);
    assert.deepEqual([opened.value.queue.list(), opened.value.queue.find('a')], [[], []]);
    opened.value.queue.close();
  });

  test('reading makes no file, and a file of the person that is no database stays where it is', (t) => {
    const file = place(t);
    for (const purpose of ['read', 'decide'] as const) {
      const missing = openExistingQueue(file, purpose);
      assert.equal(missing.ok ? '' : missing.reason, 'no-such-queue');
    }
    assert.equal(existsSync(file.path), false);
    const notes = createTempHome(t).write('notes.txt', 'x'.repeat(200));
    const named = { ...file, path: notes };
    assert.throws(() => openQueue(named), { code: 'database-corrupt', fix: /--queue-db/ });
    assert.throws(() => openExistingQueue(named, 'read'), { code: 'database-corrupt' });
    assert.equal(readFileSync(notes, 'utf8'), 'x'.repeat(200));
    const own = openQueue({ ...named, isOwn: true });
    assert.deepEqual(
      own.notices.map(({ code }) => code),
      ['database-quarantined'],
    );
    own.queue.close();
  });

  test('a queue that the original made is read as it is; a row whose flags were changed is not', async (t) => {
    const path = createTempHome(t).write('original.db', '');
    const raw = new DatabaseSync(path);
    raw.exec(`CREATE TABLE review_candidates(id TEXT PRIMARY KEY, candidate_type TEXT NOT NULL, title TEXT NOT NULL, rationale TEXT NOT NULL,
      confidence REAL NOT NULL, evidence_refs_json TEXT NOT NULL, target_skill TEXT, auto_apply_allowed INTEGER NOT NULL DEFAULT 0,
      requires_human_review INTEGER NOT NULL DEFAULT 1, metadata_json TEXT NOT NULL DEFAULT '{}', status TEXT NOT NULL DEFAULT 'pending',
      created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
      INSERT INTO review_candidates(id, candidate_type, title, rationale, confidence, evidence_refs_json, created_at, updated_at)
      VALUES('aa', 'memory', 't', 'r', 0.9, '["x", 1]', '2020', '2020'), ('ab', 'memory', 't', 'r', 0.9, '{broken', '2020', '2020')`);
    raw.close();
    const file = { path, isOwn: false, clock: createManualClock() };
    const { queue } = openQueue(file);
    assert.deepEqual(
      queue.list().map(({ evidence_refs }) => evidence_refs),
      [['x', '1'], []],
    );
    assert.deepEqual(await queue.enqueue([mined('it failed', 'r')]), [true]);
    queue.close();
    const again = new DatabaseSync(path);
    again.exec("UPDATE review_candidates SET auto_apply_allowed = 1 WHERE id = 'aa'");
    again.close();
    const opened = openQueue(file).queue;
    t.after(() => opened.close());
    assert.throws(() => opened.list(), { code: 'unsafe-candidate' });
    assert.throws(() => opened.find('aa'), { code: 'unsafe-candidate' });
  });

  test('any text goes in and comes out', async (t) => {
    const { queue } = openQueue(place(t));
    t.after(() => queue.close());
    const odd = classifyCandidate({ text: 'a\0b😀', evidence_refs: ['r\0', "'; DROP TABLE x"], target_skill: '技能' });
    const torn = { ...odd, id: 'torn', rationale: 'a\ud800b' };
    await queue.enqueue([odd, torn]);
    const byId = new Map(queue.list().map((one) => [one.id, one]));
    assert.partialDeepStrictEqual(byId.get(odd.id), odd);
    assert.equal(byId.get('torn')?.rationale, 'a\ufffdb');
  });
});
