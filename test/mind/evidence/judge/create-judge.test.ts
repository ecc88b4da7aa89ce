// The judge that is a model: what it asks, how it reads the answer, and that everything that goes wrong is no verdict.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import type { TurnRequest } from '#core/agent/room.ts';
import { createJudge, type JudgeParts, readVerdicts } from '#mind/evidence/create-judge.ts';
import { JUDGE_PROMPT } from '#mind/evidence/judge.rules.ts';
import type { JudgedClaim, JudgedSource } from '#mind/evidence/judge.ts';
import { evidenceSchema, recordVerdicts, verdictsOf } from '#mind/evidence/proposal-schema.ts';
import type { TurnEvent } from '#public/talaria.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';

const OWNER: JudgedSource = { id: 'm1', origin: 'owner', text: 'I use pnpm, never npm.' };
const CLAIM: JudgedClaim = { id: 'k', text: 'Uses pnpm.', sources: ['m1'] };
const KEEP = { task: 'keep', subject: 'prop_1' } as const;

function turnEnd(text: string, more: Partial<Extract<TurnEvent, { type: 'turn-end' }>> = {}): TurnEvent {
  return { type: 'turn-end', outcome: 'done', text, tier: 'T1', model: 'a/b', ...more } as TurnEvent;
}

function judgeOf(answer: (request: TurnRequest) => TurnEvent | Promise<TurnEvent>, more: Partial<JudgeParts> = {}) {
  const requests: TurnRequest[] = [];
  const recorded: unknown[] = [];
  const judge = createJudge({
    clock: createManualClock(),
    isThere: () => true,
    redact: (text) => text,
    record: async (...row) => void recorded.push(row),
    runTurn: async function* (request) {
      requests.push(request);
      yield await answer(request);
    },
    ...more,
  });
  return { judge, requests, recorded };
}

test('judge: many claims are one question, each with its verdict and why', async () => {
  const { judge, requests, recorded } = judgeOf(() => turnEnd('c1 supported: said so.\n- c2: goes-beyond — not said'));
  const claims = [CLAIM, { ...CLAIM, id: 'l', text: 'Hates npm.' }];
  const judged = await judge.judge(claims, [OWNER], KEEP);
  assert.deepEqual(
    judged.map(({ id, verdict, why, model }) => [id, verdict, why, model]),
    [
      ['k', 'supported', 'said so.', 'a/b'],
      ['l', 'goes-beyond', 'not said', 'a/b'],
    ],
  );
  assert.equal(requests.length, 1);
  assert.equal(requests[0]?.purpose, 'judge');
  assert.equal(requests[0]?.tier, 'T1');
  assert.deepEqual(requests[0]?.tools, []);
  assert.equal(recorded.length, 1);
});

test('judge: the mark of a question is new each time and stands around every source and claim', async () => {
  const { judge, requests } = judgeOf(() => turnEnd('c1 supported: yes'));
  await judge.judge([CLAIM], [OWNER], KEEP);
  await judge.judge([{ ...CLAIM, before: 'Uses npm.' }], [OWNER], KEEP);
  const marks = requests.map(({ text }) => /mark ([0-9A-F]{12})/.exec(text)?.[1] ?? '');
  assert.equal(new Set(marks).size, 2);
  const [first = '', second = ''] = requests.map(({ text }) => text);
  assert.equal(first.split(`--- ${marks[0]}`).length - 1, 4);
  assert.match(second, /claim c1 \(to keep\) rests on s1: old text\nUses npm\./);
});

test('judge: whatever goes wrong is no verdict', async () => {
  const rows: readonly (readonly [string, () => TurnEvent | Promise<TurnEvent>])[] = [
    ['unreadable', () => turnEnd('I think all of it is fine.')],
    ['unreadable', () => turnEnd('c7 supported: of another claim')],
    ['unreadable', () => turnEnd('c1 supported: yes\nc1 contradicts: no')],
    ['unreadable', () => turnEnd('x'.repeat(1_000_000))],
    ['unreadable', () => turnEnd('Поддерживается.')],
    ['failed', () => turnEnd('', { outcome: 'failed' })],
    ['failed', () => turnEnd('c1 supported: by rule', { tier: 'T0' })],
    ['failed', () => Promise.reject(new Error('no line'))],
  ];
  for (const [why, answer] of rows) {
    const [one] = await judgeOf(answer).judge.judge([CLAIM], [OWNER], KEEP);
    assert.deepEqual([one?.verdict, one?.why], ['none', why]);
  }
});

test('judge: verdicts that cannot be recorded are none; a stop stops all the same', async () => {
  const { judge } = judgeOf(() => turnEnd('c1 supported: yes\nc2 supported: yes'), {
    record: () => Promise.reject(new Error('database is locked')),
  });
  const judged = await judge.judge([CLAIM, { ...CLAIM, id: 'l' }], [OWNER], KEEP);
  const none = { verdict: 'none', why: 'failed', model: '' };
  assert.deepEqual(judged, [
    { id: 'k', ...none },
    { id: 'l', ...none },
  ]);
  const stopping = new AbortController();
  const stopped = judgeOf(() => turnEnd('c1 supported: yes'), {
    record: async () => stopping.abort(new Error('stop')),
  });
  const recorded = await stopped.judge.judge([CLAIM], [OWNER], KEEP, stopping.signal);
  assert.equal(recorded[0]?.verdict, 'supported', 'what stands recorded stands');
  const failing = new AbortController();
  const failed = judgeOf(() => turnEnd('c1 supported: yes'), {
    record: async () => {
      failing.abort(new Error('stop'));
      throw new Error('database is locked');
    },
  });
  await assert.rejects(failed.judge.judge([CLAIM], [OWNER], KEEP, failing.signal), /stop/);
});

test('judge: a model that is silent is waited for one minute, and a stop stops', async () => {
  const clock = createManualClock();
  const { judge } = judgeOf(() => new Promise(() => undefined), { clock });
  const waiting = judge.judge([CLAIM], [OWNER], KEEP);
  await new Promise(setImmediate);
  await clock.advance(60_000);
  assert.equal((await waiting)[0]?.why, 'failed');
  const stopping = new AbortController();
  const stopped = judge.judge([CLAIM], [OWNER], KEEP, stopping.signal);
  stopping.abort(new Error('stop'));
  await assert.rejects(stopped, /stop/);
});

test('judge: what is too long for one question is not asked about; the rest is', async () => {
  const { judge, requests } = judgeOf(() => turnEnd('c1 supported: yes'));
  const long = { id: 'big', origin: 'owner', text: 'x'.repeat(10_000_000) } as const;
  const judged = await judge.judge([{ ...CLAIM, id: 'b', sources: ['big'] }, CLAIM], [OWNER, long], KEEP);
  assert.deepEqual(
    judged.map(({ id, verdict, why }) => [id, verdict, why]),
    [
      ['b', 'none', 'too-long'],
      ['k', 'supported', 'yes'],
    ],
  );
  assert.equal(requests.length, 1);
});

test('judge: without a model nobody is asked', async () => {
  const { judge, requests } = judgeOf(() => turnEnd('c1 supported: yes'), { isThere: () => false });
  assert.equal((await judge.judge([CLAIM], [OWNER], KEEP))[0]?.why, 'no-model');
  assert.equal(requests.length, 0);
});

test('judge: secrets are taken out of what is asked', async () => {
  const redact = (text: string) => text.replaceAll('hunter2', '[secret]');
  const { judge, requests } = judgeOf(() => turnEnd('c1 supported: hunter2'), { redact });
  const source = { ...OWNER, text: 'it is hunter2' };
  const [one] = await judge.judge([{ ...CLAIM, text: 'It is hunter2.' }], [source], KEEP);
  assert.ok(!requests[0]?.text.includes('hunter2'));
  assert.equal(one?.why, '[secret]');
});

test('judge: a secret where a text is cut leaves nothing of itself', async (t) => {
  const path = join(createTempHome(t).path, 'state.db');
  const { database } = openDatabase(path, { rooms: [evidenceSchema], clock: createManualClock() });
  t.after(() => database.close());
  const redact = (text: string) => text.replaceAll('hunter2', '[secret]');
  const record: JudgeParts['record'] = (...row) =>
    recordVerdicts({ database, clock: createManualClock(), redact }, ...row);
  const { judge } = judgeOf(() => turnEnd(`c1 supported: ${'y'.repeat(236)}hunter2`), { redact, record });
  await judge.judge([{ ...CLAIM, text: `${'x'.repeat(396)}hunter2` }], [OWNER], KEEP);
  const [row] = verdictsOf(database, 'prop_1');
  assert.deepEqual([row?.claim.slice(396), row?.why.slice(236)], ['[sec', '[sec']);
});

test('judge: the prompt is pinned', () => {
  const digest = createHash('sha256').update(JUDGE_PROMPT).digest('hex');
  assert.equal(digest, 'd23c5867c0dd50aa98f90525e875fd49b6956fb7dd9bc353b19a69fb55790494');
});

test('judge: an answer is read in the ways that models write it', () => {
  const forms = [
    'c1 supported: x',
    '**c1**: supported - x',
    '| c1 | supported | x |',
    '`c1` — supported. x',
    '- c1 = SUPPORTED: x',
    'c1: **supported** x',
    'c1 supported',
    'c1 supported\nc2 goes-beyond',
    'c1 supported—the owner says so, which contradicts nothing',
    'c1 supported: supported by s1',
  ];
  for (const form of forms) assert.equal(readVerdicts(form, 1)[0]?.verdict, 'supported', form);
});

test('judge: a verdict that a line does not stand by is none', () => {
  const forms = [
    'c1: supported-ish no',
    'c1 supported? no, goes-beyond',
    'c1 supportedly',
    'c1 supported_by nothing',
    'c1 supported/goes-beyond',
    'c1 supported | contradicts |',
    'c1: supported: no, goes-beyond',
    'c1 supported: supported? no, goes-beyond',
    'c1 goes-beyond - supported',
    'c1 supported? perhaps\nc1 supported: x',
    'c1 supported: x\nc1 supported, or not',
  ];
  for (const form of forms) assert.equal(readVerdicts(form, 1)[0], undefined, form);
  assert.equal(readVerdicts('c1 goes-beyond: not supported by s1', 1)[0]?.verdict, 'goes-beyond');
  assert.equal(readVerdicts('c1 supported\nc2 goes-beyond', 2)[1]?.verdict, 'goes-beyond');
});
