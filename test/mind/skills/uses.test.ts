/** Uses of skills: counted, judged, rolled back. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { sha256 } from '#base/ids.ts';
import type { Message, ToolCallPart, ToolResultPart } from '#core/model/message.ts';
import { END_MARKER, START_MARKER, withoutBlock } from '#mind/skills/format/skill-text.ts';
import { createSkillRecords } from '#mind/skills/skill-records.ts';
import {
  countUses,
  createUseTracker,
  insertUse,
  judgeVersion,
  LOOK_LEVEL,
  LOOKS,
  type UseCounts,
  usedTurns,
  usesByVersion,
  worseProbability,
} from '#mind/skills/skill-uses.ts';
import type { TurnInfo, TurnOutcome } from '#public/talaria.ts';
import { runs } from '../../property-runs.ts';
import { slow } from '../../slow.ts';
import { createStage } from '../../surfaces/app/app-fixture.ts';
import { verifies } from '../../verifies.ts';
import { open, skillText } from './skill-bench.ts';

/** What counts as a use of a skill, how it ends, and what many bad ends lead to. */

const quiet = new AbortController().signal;
let calls = 0;

function call(name: string, given: ToolCallPart['arguments'] = {}): ToolCallPart {
  calls += 1;
  return { type: 'tool-call', callId: `call_${calls}`, name, arguments: given, origin: 'model' };
}

const view = (name: string) => call('skill_view', { name });

function resultOf({ callId, name }: ToolCallPart, isError = false): ToolResultPart {
  return { type: 'tool-result', callId, name, text: '', isError, origin: 'observed', observed: { ms: 1, bytes: 0 } };
}

function tracking(context: TestContext, source = 'cli') {
  const opened = open(context);
  const told: Parameters<Parameters<typeof createUseTracker>[0]['tell']>[0][] = [];
  const records = createSkillRecords({ database: opened.database, root: opened.root, clock: opened.clock });
  const textOf = (name: string) => opened.read(`data/${name}/SKILL.md`);
  const tracker = createUseTracker({ ...opened, records, textOf, tell: (event) => told.push(event) });
  let turn = 0;
  const history: Message[] = [];
  const info = (): TurnInfo => ({ sessionId: 's1', source, cwd: '/', turn });
  /** One turn: the owner's line, then steps of calls. */
  const play = async (text: string, steps: readonly (readonly ToolCallPart[])[], outcome: TurnOutcome = 'done') => {
    turn += 1;
    await tracker.beforeTurn?.({ ...info(), text }, quiet);
    history.push({ role: 'user', parts: [{ type: 'text', text, origin: 'owner' }] });
    for (const step of steps) {
      history.push({ role: 'assistant', parts: step, model: 'test' });
      for (const one of step) {
        const result = resultOf(one, one.callId.startsWith('failed_'));
        await tracker.afterTool?.(info(), one, result);
        history.push({ role: 'tool', parts: [result] });
      }
    }
    await tracker.afterTurn?.(info(), { outcome, messages: history });
  };
  const counts = (version = 1) => {
    const { successes, failures } = countUses(opened.database, 'csv', version);
    return [successes, failures];
  };
  const end = () => tracker.sessionEnd?.(info());
  return { ...opened, records, told, play, counts, end };
}

describe('use tracker', () => {
  test('leaves the turns of a golem alone: its domain says what became of a skill', async (context) => {
    const { create, play, counts, end, records } = tracking(context, 'golem');
    await create('csv');
    await play('import it', [[view('csv')], [call('terminal')]]);
    await play('again', [[view('csv')], [{ ...call('terminal'), callId: 'failed_1' }]], 'failed');
    await end();
    assert.deepEqual([counts(), records.get('csv')?.viewCount, records.get('csv')?.useCount], [[0, 0], 0, 0]);
  });

  test('a use is a skill that was seen and then followed by a call of a later step', async (context) => {
    const { create, play, counts, end, records } = tracking(context);
    await create('csv');
    await play('look', [[view('csv')]]);
    await play('look on', [[view('csv')], [call('skills_list')]]);
    await play('both at once', [[view('csv'), call('terminal')]]);
    await play('before', [[call('terminal')], [view('csv')]]);
    await play('end', []);
    assert.deepEqual(counts(), [0, 0], 'none of these is a use');
    await play('work', [[view('csv')], [call('terminal')]]);
    assert.deepEqual(counts(), [0, 0], 'not known yet');
    await play('thanks', []);
    assert.deepEqual(counts(), [1, 0]);
    await play('again', [[view(' csv ')], [call('terminal')]]);
    await end();
    assert.deepEqual(counts(), [2, 0]);
    const record = records.get('csv');
    assert.equal(record?.viewCount, 6);
    assert.equal(record?.useCount, 2);
    assert.equal(record?.successCount, 2);
    assert.equal(record?.confidence, 0.75);
  });

  test('an error and an abort are failures; a limit and what is said say nothing', async (context) => {
    const { create, play, counts, end } = tracking(context);
    await create('csv');
    const work = () => [[view('csv')], [call('terminal')]];
    await play('work', work());
    await play('no, that is wrong', work(), 'failed');
    assert.deepEqual(counts(), [1, 1]);
    await play('go', work(), 'aborted');
    assert.deepEqual(counts(), [1, 2]);
    await play('go', work(), 'stopped');
    await end();
    assert.deepEqual(counts(), [1, 2]);
  });

  test('a use after which a command of the skill failed has not worked, however late', async (context) => {
    const { create, play, counts, end, records } = tracking(context);
    await create('csv', '1. Run `make table`\n');
    const failing = (command: string) => ({ ...call('terminal', { command }), callId: `failed_${command}` });
    await play('work', [[view('csv')], [failing('cd x && make table')]]);
    assert.deepEqual(counts(), [0, 1], 'in its own turn');
    await play('work', [[view('csv')], [failing('ls')]]);
    await play('more', [[failing('ls')]]);
    assert.deepEqual(counts(), [1, 1], 'a command that stands elsewhere says nothing of it');
    await play('and now', [[failing('make table')], [failing('make table')]]);
    assert.deepEqual(counts(), [0, 2], 'later in the session, once');
    await play('work', [[failing('make table')], [view('csv')], [call('terminal')]]);
    await end();
    assert.deepEqual(counts(), [1, 2], 'before it was seen');
    const { useCount, successCount, failureCount, confidence } = records.get('csv') ?? {};
    assert.deepEqual([useCount, successCount, failureCount, confidence], [3, 1, 2, 0.4]);
  });

  test('a note in the text is no version: its uses count for the text, and go back with it', async (context) => {
    const { create, write, play, counts, told, read } = tracking(context);
    await create('csv');
    const note = (what: string) => `\n${START_MARKER}\n${what}\n${END_MARKER}\n`;
    const noted = async (what: string) => {
      const text = read('data/csv/SKILL.md');
      const content = `${withoutBlock(text)}${note(what)}`;
      const done = await write('csv', { action: 'edit', content }, { actor: 'curator', expectedHash: sha256(text) });
      assert.ok(done.ok, done.ok ? '' : done.detail);
    };
    const work = () => [[view('csv')], [call('terminal')]];
    for (let i = 0; i < 4; i += 1) await play('go', work());
    await play('thanks', []);
    await noted('one');
    for (let i = 0; i < 4; i += 1) await play('go', work());
    await play('thanks', []);
    assert.deepEqual(counts(1), [8, 0]);
    assert.ok((await write('csv', { action: 'patch', oldString: 'Step one.', newString: 'Step wrong.' })).ok);
    for (const what of ['two', 'three']) {
      for (let i = 0; i < 2; i += 1) await play('go', work(), 'failed');
      await noted(what);
    }
    assert.deepEqual([counts(3), told.length], [[0, 4], 0]);
    await play('go', work(), 'failed');
    assert.match(
      told[0]?.text ?? '',
      /csv: version 3 did worse and was rolled back \(0 of 5 uses went well, 8 of 8 before\)/,
    );
    assert.equal(read('data/csv/SKILL.md'), `${skillText('csv')}${note('one')}`);
    for (let i = 0; i < 5; i += 1) await play('go', work(), 'failed');
    assert.equal(told.length, 1, 'a rollback is not judged');
  });

  test('a version that does clearly worse is rolled back once, with an event', async (context) => {
    const { create, write, play, counts, told, read, door, database } = tracking(context);
    await create('csv');
    const work = () => [[view('csv')], [call('terminal')]];
    for (let i = 0; i < 8; i += 1) await play('go', work());
    const patch = { action: 'patch', oldString: 'Step one.', newString: 'Step wrong.' } as const;
    await play('thanks', []);
    assert.ok((await write('csv', patch)).ok);
    for (let i = 0; i < 5; i += 1) await play('go', work(), 'failed');
    assert.deepEqual(counts(1), [8, 0]);
    assert.deepEqual(counts(2), [0, 5]);
    assert.equal(told.length, 1);
    assert.equal(told[0]?.type, 'skill-rolled-back');
    assert.match(
      told[0]?.text ?? '',
      /csv: version 2 did worse and was rolled back \(0 of 5 uses went well, 8 of 8 before\)/,
    );
    assert.equal(read('data/csv/SKILL.md'), skillText('csv'));
    assert.equal(door.versions('csv').at(-1)?.actor, 'rollback');

    for (let i = 0; i < 8; i += 1) await play('go', work());
    await play('thanks', []);
    assert.ok((await write('csv', patch)).ok);
    for (let i = 0; i < 12; i += 1) await play('go', work(), 'failed');
    assert.equal(told.length, 1, 'the same pair of texts is never rolled back twice');
    assert.equal(read('data/csv/SKILL.md'), skillText('csv', 'Step wrong.\nStep two.\n'));
    assert.deepEqual(countUses(database, 'csv', 4), { successes: 0, failures: 12 });
  });

  test('what cannot be rolled back is told', async (context) => {
    const { create, write, play, told, root } = tracking(context);
    await create('csv');
    const work = () => [[view('csv')], [call('terminal')]];
    for (let i = 0; i < 8; i += 1) await play('go', work());
    await play('thanks', []);
    await write('csv', { action: 'patch', oldString: 'Step one.', newString: 'Step wrong.' });
    const { writeFileSync } = await import('node:fs');
    writeFileSync(`${root}/data/csv/SKILL.md`, skillText('csv', 'By hand.\n'));
    for (let i = 0; i < 5; i += 1) await play('go', work(), 'failed');
    assert.deepEqual(
      told.map(({ type }) => type),
      ['skill-rollback-failed'],
    );
  });
});

describe('the uses of a skill', () => {
  verifies(
    'RQ.4',
    'may be counted by who verified them: once, with the records, and a version that does worse is rolled back',
    async (t) => {
      const { doors, events } = await createStage(t).open();
      const { door, skills, uses } = doors;
      const told: string[] = [];
      events.subscribe(({ event }) => event.type === 'notice' && told.push(event.text));
      let turn = 0;
      const count = (version: number, outcome: 'success' | 'failure') =>
        uses.count({ skill: 'csv', version, sessionId: 'luna-1', turn, outcome, reason: 'verified', at: turn });
      const write = (change: Parameters<typeof door.write>[0]['change']) =>
        door.write({ name: 'csv', change, actor: 'agent', approved: true });
      assert.ok((await write({ action: 'create', content: skillText('csv') })).ok);
      for (turn = 1; turn <= 8; turn += 1) assert.equal(await count(1, 'success'), true);
      turn = 8;
      assert.equal(await count(1, 'failure'), false);
      const { useCount, successCount, confidence } = doors.skillRecords().get('csv') ?? {};
      assert.deepEqual([useCount, successCount, confidence], [8, 8, 0.9]);
      assert.ok((await write({ action: 'patch', oldString: 'Step one.', newString: 'Step wrong.' })).ok);
      for (turn = 9; turn <= 13; turn += 1) assert.equal(await count(2, 'failure'), true);
      assert.match(told.join(), /csv: version 2 did worse and was rolled back/);
      await skills.refresh();
      assert.equal(skills.get('csv')?.text, skillText('csv'));
    },
  );

  test('are counted by version, and their turns come in order', async (t) => {
    const { database } = open(t);
    const use = (skill: string, version: number, turn: number, outcome: 'success' | 'failure') =>
      insertUse(database, { skill, version, sessionId: 's', turn, outcome, reason: 'next-turn', at: turn });
    await use('a', 2, 1, 'success');
    await use('a', 2, 2, 'failure');
    await use('a', 0, 3, 'success');
    await use('b', 2, 3, 'success');
    assert.deepEqual(usesByVersion(database, 'a'), [
      { version: 0, successes: 1, failures: 0 },
      { version: 2, successes: 1, failures: 1 },
    ]);
    assert.deepEqual(usesByVersion(database, 'c'), []);
    assert.deepEqual(
      [...usedTurns(database, 'a', 2)].map(({ sessionId, turn }) => [sessionId, turn]),
      [
        ['s', 1],
        ['s', 2],
      ],
    );
  });
});

/** When a version is rolled back for what its uses say, and how often that happens to a version that is as good as its parent. */

const counts = (successes: number, failures: number): UseCounts => ({ successes, failures });
const verdict = (older: UseCounts, newer: UseCounts) => judgeVersion(older, newer).reason;

/** Small and seeded. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Plays a new version of the same true rate against a parent, use by use. Was it rolled back? */
function isRolledBack(older: UseCounts, rate: number, random: () => number): boolean {
  let [successes, failures] = [0, 0];
  for (let use = 0; use < 120; use += 1) {
    if (random() < rate) successes += 1;
    else failures += 1;
    if (judgeVersion(older, counts(successes, failures)).rollBack) return true;
  }
  return false;
}

/** For each number of successes of a parent with that many uses: the counts of the new version, `uses successes`, that roll it back. */
function rollbackRegions(uses: number): readonly ReadonlySet<string>[] {
  return Array.from({ length: uses + 1 }, (_, successes) => {
    const older = counts(successes, uses - successes);
    const region = LOOKS.flatMap((look) =>
      Array.from({ length: look + 1 }, (__, good) => good)
        .filter((good) => judgeVersion(older, counts(good, look - good)).rollBack)
        .map((good) => `${look} ${good}`),
    );
    return new Set(region);
  });
}

/** The same, exactly: the chance over all courses of the new version and all outcomes of the parent's uses. */
function falseRollbacks(regions: readonly ReadonlySet<string>[], rate: number): number {
  const uses = regions.length - 1;
  let sum = 0;
  let chance = (1 - rate) ** uses;
  for (const [successes, region] of regions.entries()) {
    if (chance > 1e-9) sum += chance * chanceOfRollback(region, rate);
    chance *= ((uses - successes) / (successes + 1)) * (rate / (1 - rate));
  }
  return sum;
}

function chanceOfRollback(region: ReadonlySet<string>, rate: number): number {
  let open = [1];
  let rolledBack = 0;
  for (let use = 1; use <= (LOOKS.at(-1) ?? 0); use += 1) {
    const next = new Array<number>(use + 1).fill(0);
    for (const [successes, chance] of open.entries()) {
      next[successes] = (next[successes] ?? 0) + chance * (1 - rate);
      next[successes + 1] = (next[successes + 1] ?? 0) + chance * rate;
    }
    open = LOOKS.includes(use)
      ? next.map((chance, successes) => {
          if (!region.has(`${use} ${successes}`)) return chance;
          rolledBack += chance;
          return 0;
        })
      : next;
  }
  return rolledBack;
}

describe('worseProbability', () => {
  test('is one half for equal counts, and agrees with values worked out by hand', () => {
    assert.ok(Math.abs(worseProbability(counts(3, 2), counts(3, 2)) - 0.5) < 1e-12);
    assert.ok(Math.abs(worseProbability(counts(1, 0), counts(0, 1)) - 5 / 6) < 1e-12);
    assert.ok(Math.abs(worseProbability(counts(0, 0), counts(0, 1)) - 2 / 3) < 1e-12);
  });

  test('either is below the other', () => {
    const count = fc.nat({ max: 200 });
    fc.assert(
      fc.property(count, count, count, count, (a, b, c, d) => {
        const one = worseProbability(counts(a, b), counts(c, d));
        const other = worseProbability(counts(c, d), counts(a, b));
        assert.ok(one >= 0 && one <= 1);
        assert.ok(Math.abs(one + other - 1) < 1e-9, `${one} + ${other}`);
      }),
    );
  });
});

describe('judgeVersion', () => {
  test('needs five uses of both, a clear difference, and certainty', () => {
    assert.equal(verdict(counts(4, 0), counts(0, 5)), 'too-few-uses');
    assert.equal(verdict(counts(10, 0), counts(0, 4)), 'too-few-uses');
    assert.equal(verdict(counts(10, 0), counts(0, 5)), 'worse');
    assert.equal(verdict(counts(10, 0), counts(0, 6)), 'between-looks');
    assert.equal(verdict(counts(80, 20), counts(53, 27)), 'not-lower');
    assert.equal(verdict(counts(6, 4), counts(2, 3)), 'not-certain');
    assert.equal(verdict(counts(9, 1), counts(10, 0)), 'not-lower');
    assert.equal(verdict(counts(400, 0), counts(4, 1)), 'not-lower', 'one failure decides nothing');
  });

  test('whatever is rolled back has the difference and the probability that are promised', () => {
    const count = fc.nat({ max: 60 });
    fc.assert(
      fc.property(count, count, count, count, (a, b, c, d) => {
        const judged = judgeVersion(counts(a, b), counts(c, d));
        if (!judged.rollBack) return;
        assert.ok(a + b >= 5 && c + d >= 5);
        assert.ok(judged.difference > 0.15 && judged.probability >= 0.95 && judged.probability >= LOOK_LEVEL);
      }),
      { numRuns: runs(1_000) },
    );
  });

  slow(
    'a version as good as its parent is rolled back in at most 5 of 100 cases, exactly, for every rate and number of uses',
    () => {
      let worst = 0;
      for (const uses of [5, 8, 13, 20, 50, 100, 150]) {
        const regions = rollbackRegions(uses);
        for (const rate of [0.1, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.92, 0.94, 0.96, 0.98, 0.99])
          worst = Math.max(worst, falseRollbacks(regions, rate));
      }
      assert.ok(worst <= 0.05, `${worst}`);
      assert.ok(worst > 0.005, `${worst}: nothing was measured`);
    },
  );

  slow('simulated over 4,000 seeds, looked at after every use: at most 5 of 100', () => {
    const runs = 4_000;
    let rolledBack = 0;
    for (let seed = 1; seed <= runs; seed += 1) {
      const random = randomFrom(seed);
      const rate = 0.3 + 0.68 * random();
      const uses = 5 + Math.floor(random() * 60);
      const successes = Array.from({ length: uses }, () => random() < rate).filter(Boolean).length;
      if (isRolledBack(counts(successes, uses - successes), rate, random)) rolledBack += 1;
    }
    assert.ok(rolledBack / runs <= 0.05, `${rolledBack} of ${runs}`);
  });

  test('a version that is much worse is found', () => {
    const runs = 500;
    let found = 0;
    for (let seed = 1; seed <= runs; seed += 1) if (isRolledBack(counts(18, 2), 0.4, randomFrom(seed))) found += 1;
    assert.ok(found / runs > 0.9, `${found} of ${runs}`);
  });
});
