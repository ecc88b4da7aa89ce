import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import { createStage, runCommand, type Stage } from '../../../surfaces/app/app-fixture.ts';
import { verifies } from '../../../verifies.ts';
import { stageWithEvidence } from '../commands/evidence-stage.ts';

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
