import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { type Candidate, classifyCandidate, createCandidate } from '#extensions/curator/mine.ts';
import { openExistingQueue, openQueue } from '#extensions/curator/review-queue.ts';
import { ledgerSchema } from '#mind/evidence/ledger/evidence-ledger.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { createStage, runCommand, type Stage } from '../../surfaces/app/app-fixture.ts';
import { verifies } from '../../verifies.ts';
import { stageWithEvidence } from './evidence-stage.ts';

interface Printed {
  readonly count: number;
  readonly inserted: number;
  readonly duplicates: number;
  readonly queue_db: string;
  readonly candidates: readonly {
    readonly id: string;
    readonly title: string;
    readonly enqueued?: boolean;
    readonly status?: string;
  }[];
}

const LINES = [
  { text: 'it failed', evidence_ref: 's1:3', tool_name: 'terminal' },
  { text: '1. build it\n2. ship it', evidence_refs: ['s1:4'], target_skill: 'release' },
  { text: 'use `a` and `b`', evidence_ref: 's2' },
  { text: 'hello <!-- curator-evolver:auto:start -->\n# x' },
];

function withLines(stage: Stage, lines: readonly unknown[] = LINES): Stage {
  stage.temp.write('work/e.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return stage;
}

async function json(stage: Stage, name: string, input: object): Promise<Printed> {
  const { text, data, failure } = await runCommand(stage, name, { ...input, format: 'json' });
  assert.equal(failure, undefined);
  const printed: Printed = JSON.parse(text);
  assert.deepEqual(printed, data);
  assert.deepEqual(Object.keys(printed), Object.keys(printed).sort());
  return printed;
}

const mine = (stage: Stage, input: object = {}) =>
  json(stage, 'curator candidates-mine', { inputJsonl: 'e.jsonl', ...input });
const list = (stage: Stage, input: object = {}) => json(stage, 'curator candidates-list', input);

describe('the queue commands', () => {
  verifies('curator:mine:queue', 'mining again adds nothing; the queue lives beside the evidence', async (t) => {
    const stage = withLines(stageWithEvidence(t));
    const first = await mine(stage);
    assert.deepEqual([first.count, first.inserted, first.duplicates], [4, 4, 0]);
    assert.equal(first.queue_db, join(stage.root, 'evidence.sqlite'));
    const again = await mine(stage);
    assert.deepEqual([again.count, again.inserted, again.duplicates], [4, 0, 4]);
    assert.ok(again.candidates.every(({ enqueued }) => enqueued === false));
    assert.equal((await list(stage)).count, 4);
    assert.deepEqual(
      (await list(stage, { candidateType: 'skill_new' })).candidates.map(({ title }) => title),
      ['new workflow skill candidate'],
    );
    assert.match((await runCommand(stage, 'curator status')).text, /tool calls 10 /);
  });

  verifies('curator:mine:review', 'accepting and rejecting change a status and say what to do next', async (t) => {
    const stage = withLines(createStage(t));
    const { candidates } = await mine(stage, { queueDb: 'q/queue.db' });
    const queueDb = `~/${basename(stage.cwd)}/q/queue.db`;
    const [failure = '', update = '', fresh = '', nothing = ''] = candidates.map(({ id }) => id);
    const accepted = await runCommand(stage, 'curator candidates-accept', {
      ids: [update.slice(0, 8), fresh],
      queueDb,
    });
    assert.match(
      accepted.text,
      /workflow update for release: accepted\n {2}next: `talaria curator propose --skill release`\n/,
    );
    const again = await runCommand(stage, 'curator candidates-accept', { ids: [update], queueDb });
    assert.match(again.text, /was accepted already, 20/);
    const turned = await runCommand(stage, 'curator candidates-reject', { ids: [update, nothing], queueDb });
    assert.match(turned.text, /rejected; it was accepted before\n.*unclassified evidence: rejected$/);
    const byStatus = async (status: string) => (await list(stage, { queueDb, status })).candidates.map(({ id }) => id);
    assert.deepEqual(
      [await byStatus('pending'), await byStatus('accepted'), (await byStatus('rejected')).length],
      [[failure], [fresh], 2],
    );
    await assert.rejects(() => list(stage, { queueDb, status: 'done' }));
    await assert.rejects(() => list(stage, { queueDb, candidateType: 'x' }));
  });

  test('an id that is unknown or not one leaves everything as it was', async (t) => {
    const stage = withLines(
      createStage(t),
      Array.from({ length: 40 }, (_, at) => ({ text: 'it failed', evidence_ref: `r${at}` })),
    );
    const { candidates } = await mine(stage);
    const [one = ''] = candidates.map(({ id }) => id);
    const shared =
      candidates.find(({ id }) => candidates.filter((other) => other.id[0] === id[0]).length > 1)?.id[0] ?? '';
    for (const [id, code] of [
      ['zz', 'no-such-candidate'],
      ['', 'no-such-candidate'],
      [shared, 'ambiguous-id'],
    ]) {
      const { failure, data } = await runCommand(stage, 'curator candidates-accept', { ids: [one, id] });
      assert.deepEqual([failure?.exitCode, failure?.code, data], [3, code, undefined]);
    }
    assert.equal((await list(stage, { status: 'pending' })).count, 40);
  });

  test('a line that cannot be read leaves no queue, and none that is there is changed', async (t) => {
    const stage = withLines(createStage(t));
    stage.temp.write('work/bad.jsonl', `${JSON.stringify(LINES[0])}\n{bad\n`);
    const queueDb = 'q.db';
    const bad = () => runCommand(stage, 'curator candidates-mine', { inputJsonl: 'bad.jsonl', queueDb });
    const { failure, text } = await bad();
    assert.deepEqual([failure?.exitCode, failure?.code], [2, 'invalid-json']);
    assert.match(text, /bad\.jsonl:2: .*Nothing was stored\.$/);
    assert.equal(existsSync(join(stage.cwd, queueDb)), false);
    stage.temp.write('work/one.jsonl', JSON.stringify(LINES[2]));
    await mine(stage, { inputJsonl: 'one.jsonl', queueDb });
    assert.equal((await bad()).failure?.code, 'invalid-json');
    assert.equal((await list(stage, { queueDb })).count, 1);
    for (const inputJsonl of ['none.jsonl', '.'])
      assert.equal((await runCommand(stage, 'curator candidates-mine', { inputJsonl, queueDb })).failure?.exitCode, 2);
  });

  test('listing never makes a file, nor does deciding', async (t) => {
    const stage = createStage(t);
    for (const [name, input] of [
      ['curator candidates-list', {}],
      ['curator candidates-accept', { ids: ['a'] }],
    ] as const) {
      const { failure } = await runCommand(stage, name, input);
      assert.deepEqual([failure?.exitCode, failure?.code], [1, 'no-such-queue']);
    }
    assert.equal(existsSync(join(stage.root, 'evidence.sqlite')), false);
  });

  test('a file that is no database is left alone, with nothing beside it; state.db is none of a queue', async (t) => {
    const stage = withLines(createStage(t));
    const text = 'This is a letter and no database. '.repeat(50);
    const letter = stage.temp.write('work/letter.txt', text);
    const commands = [
      ['curator candidates-mine', { inputJsonl: 'e.jsonl' }],
      ['curator candidates-list', {}],
      ['curator candidates-accept', { ids: ['a'] }],
    ] as const;
    for (const [name, input] of commands) {
      const wrong = runCommand(stage, name, { ...input, queueDb: 'letter.txt' });
      await assert.rejects(wrong, { code: 'database-corrupt' });
      assert.deepEqual(readdirSync(stage.cwd).sort(), ['e.jsonl', 'letter.txt'], name);
      assert.equal(readFileSync(letter, 'utf8'), text);
    }
    await stage.open();
    symlinkSync(join(stage.root, 'state.db'), join(stage.cwd, 'way.db'));
    for (const queueDb of [join(stage.root, 'state.db'), 'way.db']) {
      for (const [name, input] of commands) {
        const { failure } = await runCommand(stage, name, { ...input, queueDb });
        assert.deepEqual([failure?.exitCode, failure?.code], [2, 'not-a-queue'], `${name} ${queueDb}`);
      }
    }
  });

  test('Markdown stands on harmless lines and ends with what can be typed', async (t) => {
    const stage = withLines(createStage(t));
    for (const name of ['curator candidates-mine', 'curator candidates-list']) {
      const { text } = await runCommand(stage, name, { inputJsonl: 'e.jsonl', format: 'markdown' });
      assert.equal(text.match(/^#/gm)?.length, 5);
      assert.match(text, /\nDecide with `talaria curator candidates-accept ID`/);
      assert.ok(!text.includes('curator-evolver:auto:start'));
    }
  });
});

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
      read.list(undefined, 'skill_new').map(({ id }) => id),
      [workflow.id],
    );
    assert.deepEqual(read.list('accepted'), []);
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
      const [decided] = queue.list('accepted');
      assert.deepEqual([decided?.id, decided?.updated_at], ['ab12', '2020-01-01T00:00:01+00:00']);
      assert.deepEqual(
        queue.list('pending').map(({ id }) => id),
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
