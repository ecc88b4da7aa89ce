// The small pieces of a review: what may be cited, how evidence is read, what follows from the policy, rows that survive their process.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openDatabase } from '#base/database.ts';
import { estimateTokens } from '#base/text.ts';
import type { Message } from '#core/model/message.ts';
import { ownerStatements } from '#mind/learning/counters/owner-statements.ts';
import { keepWay } from '#mind/learning/keep/keep-policy.ts';
import { learningSchema } from '#mind/learning/learning-schema.ts';
import { citableMessages } from '#mind/learning/review/citable-messages.ts';
import { kindOf } from '#mind/learning/review/review.ts';
import { createReviewRows } from '#mind/learning/review/review-rows.ts';
import { withUnattendedLease } from '#mind/learning/review/unattended-lease.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { call, turn } from '../conversation-builder.ts';

const stored = (messages: readonly Message[]) =>
  messages.map((message, index) => ({ id: index + 5, sessionId: 's', at: 0, message }));

describe('pieces of a review', () => {
  test('every message that can be cited is listed with its id and first words', () => {
    const messages = stored(turn('run the tests', [call('npm test', { text: '12 passing' })], 'They pass.'));
    assert.equal(
      citableMessages(messages, 100_000),
      [
        'Messages that can be cited (number, who, first words):',
        '#5 user: run the tests',
        '#6 assistant: terminal {"command":"npm test"}',
        '#7 tool terminal exit 0: 12 passing',
        '#8 assistant: They pass.',
      ].join('\n'),
    );
  });

  test('the list is bounded by the window, the newest stay', () => {
    const messages = stored(
      Array.from({ length: 2000 }, (_, index) => turn(`line ${index} ${'word '.repeat(60)}`)).flat(),
    );
    for (const window of [8_000, 128_000]) {
      const list = citableMessages(messages, window);
      assert.ok(estimateTokens(list) <= Math.min(6_100, window * 0.08 + 50), `${estimateTokens(list)} of ${window}`);
      assert.match(list, /#4004 assistant: Done\.$/);
      assert.ok(list.split('\n').every((line) => line.length <= 200));
    }
    assert.equal(citableMessages([], 8_000), '');
  });

  test('the prompt is the one for what fired', () => {
    assert.equal(kindOf(['memory-nudge']), 'memory');
    assert.equal(kindOf(['skill-nudge']), 'skills');
    assert.equal(kindOf(['memory-nudge', 'skill-nudge']), 'combined');
    assert.equal(kindOf(['session-end', 'tool-calls']), 'combined');
    assert.equal(kindOf(['repeated']), 'skills');
  });

  test('nothing is deleted, nothing of the owner changed, and no skill made without a yes', () => {
    const situation = { attended: true, unattended: 'apply', alwaysCreate: false, agentMade: true } as const;
    const way = (action: string, more = {}) => keepWay({ kind: 'skill', action }, { ...situation, ...more });
    assert.equal(keepWay({ kind: 'memory', action: 'add' }, situation), 'apply');
    assert.equal(way('create'), 'draft');
    assert.equal(way('create', { alwaysCreate: true }), 'apply');
    assert.equal(way('create', { attended: false }), 'apply');
    assert.equal(way('create', { attended: false, unattended: 'draft' }), 'draft');
    assert.equal(way('delete', { attended: false }), 'draft');
    assert.equal(way('patch'), 'apply');
    assert.equal(way('patch', { agentMade: false }), 'draft');
    assert.equal(way('patch', { agentMade: false, attended: false }), 'draft');
    assert.equal(way('patch', { attended: false, unattended: 'draft' }), 'draft');
  });

  test('statements of the owner that last are found, word for word; the moment, questions and what is kept are not', () => {
    const lines = [
      'Please fix it. I prefer small commits with one change each.',
      'we use pnpm in all our projects',
      'our staging server is called bluebird',
      'my build is broken again',
      'do we use yarn?',
      'I want to go home now',
      'run the tests',
      'we use pnpm in all our projects!',
    ];
    const found = ownerStatements(
      lines.flatMap((line) => turn(line)),
      ['the staging server is called bluebird'],
    );
    assert.deepEqual(
      found.map(({ target, text }) => `${target}: ${text}`),
      ['user: I prefer small commits with one change each', 'memory: we use pnpm in all our projects'],
    );
  });

  test('rows: reasons are joined while nobody runs it, one process takes it, three failures end it', async (t) => {
    const home = createTempHome(t).path;
    const clock = createManualClock();
    const { database } = openDatabase(join(home, 'state.db'), { rooms: [learningSchema], clock });
    t.after(() => database.close());
    const rows = createReviewRows(database, clock);
    const first = await rows.order({ sessionId: 's1', reasons: ['memory-nudge'], through: 4 });
    const again = await rows.order({ sessionId: 's1', reasons: ['skill-nudge'], through: 9 });
    assert.equal(again.id, first.id);
    assert.deepEqual([again.kind, again.through, again.reasons], ['combined', 9, ['memory-nudge', 'skill-nudge']]);
    assert.equal((await rows.take(first.id))?.status, 'running');
    assert.equal(await rows.take(first.id), undefined);
    assert.deepEqual(rows.due(), []);
    const beside = await rows.order({ sessionId: 's1', reasons: ['asked'], through: 12, hint: 'x' });
    assert.notEqual(beside.id, first.id);
    await rows.giveBack(first.id, { detail: 'stopped' });
    assert.deepEqual([rows.get(first.id)?.status, rows.get(first.id)?.attempts], ['due', 1]);
    for (const _ of [1, 2]) {
      await rows.take(first.id);
      await rows.giveBack(first.id, { detail: 'no network' });
    }
    assert.deepEqual([rows.get(first.id)?.status, rows.get(first.id)?.detail], ['failed', 'no network']);
    database.run("UPDATE reviews SET status = 'running', runner = '999999999 nowhere 0' WHERE id = ?", beside.id);
    assert.equal(rows.due().length, 1, 'an hour old, its holder is gone');
    await rows.take(beside.id);
    await rows.finish(beside.id, { kept: 2, refused: 1, pending: 0, tokens: 10, cost: null, model: 'm' });
    const free = await rows.order({ sessionId: 's2', reasons: ['repeated'], through: 1 });
    await rows.take(free.id);
    await rows.finish(free.id, { kept: 0, refused: 0, pending: 1, tokens: 0, cost: 0, model: 'reflex/1' });
    assert.deepEqual(
      rows.finished(10).map(({ kept }) => kept),
      [2],
      'what costs nothing does not count',
    );
    assert.deepEqual([rows.keptSince(clock.now()), rows.keptSince(clock.now() + 1)], [2, 0]);
    assert.equal(rows.list({ sessionId: 's1' }).length, 2);
  });

  test('one unattended writer a home; the work of the holder may itself meet a lock', async (t) => {
    const path = join(createTempHome(t).path, 'lease');
    const clock = createManualClock({ auto: true });
    const result = await withUnattendedLease(path, () => withUnattendedLease(path, async () => 'inner', clock), clock);
    assert.ok(result.ok && !result.value.ok && result.value.reason === 'lease-held');
    await assert.rejects(
      withUnattendedLease(path, async () => Promise.reject(Object.assign(new Error('x'), { code: 'locked' })), clock),
      /x/,
    );
    assert.ok((await withUnattendedLease(path, async () => 1, clock)).ok);
  });
});
