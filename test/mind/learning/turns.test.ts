/** What is read out of turns: counters, reasons, the budget. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isCorrection } from '#mind/learning/learning.rules.ts';
import type { BudgetRules } from '#mind/learning/learning.ts';
import {
  budgetState,
  intervalFactor,
  readBudget,
  restsUntil,
  stretchIntervals,
  tokensOfStep,
} from '#mind/learning/learning-budget.ts';
import {
  afterReview,
  countTurn,
  creationTriggers,
  dueNudges,
  FRESH_COUNTERS,
  rebuildCounters,
} from '#mind/learning/read-turns.ts';
import type { Message } from '#public/talaria.ts';
import { createManualClock } from '#testing/manual-clock.ts';
import { tempSessionStore } from '../../doubles/temp-stores.ts';
import { verifies } from '../../verifies.ts';
import { call, turn } from './learning-world.ts';

const DEFAULT_INTERVALS = { memory: 10, skills: 10 };
const SAVED = call({ action: 'add', content: 'x' }, { name: 'memory', text: '{"success":true}' });
const PATCHED = call({ action: 'patch', name: 'x' }, { name: 'skill_manage', text: '{"success":true}' });

function after(turns: readonly (readonly Message[])[]) {
  return turns.reduce(countTurn, FRESH_COUNTERS);
}

describe('nudge counters', () => {
  verifies('core:learning:memory-nudge', 'ten turns of the owner make the memory nudge due, nine do not', () => {
    const turns = Array.from({ length: 10 }, (_, index) => turn(`line ${index}`));
    assert.deepEqual(dueNudges(after(turns.slice(1)), DEFAULT_INTERVALS), []);
    assert.deepEqual(dueNudges(after(turns), DEFAULT_INTERVALS), ['memory']);
  });

  verifies(
    'core:learning:skill-nudge',
    'ten steps with tool calls make the skill nudge due, however few turns they took',
    () => {
      const steps = (count: number) => [
        turn(
          'build it',
          Array.from({ length: count }, (_, at) => call(`step ${at}`)),
        ),
      ];
      assert.deepEqual(dueNudges(after(steps(9)), DEFAULT_INTERVALS), []);
      assert.deepEqual(dueNudges(after(steps(10)), DEFAULT_INTERVALS), ['skills']);
    },
  );

  verifies(
    'core:learning:counters-reset',
    'what fires and what the agent uses itself starts again, the other counter goes on',
    () => {
      const some = after([turn('a', [call('x'), call('y')]), turn('b', [call('z')])]);
      assert.deepEqual(some, { turnsSinceMemory: 2, iterationsSinceSkill: 3 });
      assert.deepEqual(afterReview(some, ['memory']), { turnsSinceMemory: 0, iterationsSinceSkill: 3 });
      assert.deepEqual(countTurn(some, turn('c', [SAVED])), { turnsSinceMemory: 0, iterationsSinceSkill: 4 });
      assert.deepEqual(countTurn(some, turn('c', [call('w'), PATCHED, call('v')])), {
        turnsSinceMemory: 3,
        iterationsSinceSkill: 1,
      });
    },
  );

  test('a turn without a word of the owner counts nothing', () => {
    const [, ...rest] = turn('a', [call('x'), call('y')]);
    const woken: Message = { role: 'user', parts: [{ type: 'text', text: 'It is nine.', origin: 'observed' }] };
    assert.deepEqual(after([[woken, ...rest]]), FRESH_COUNTERS);
  });

  test('a refused or failed use of the tool starts nothing again', () => {
    const some = after([turn('a')]);
    for (const one of [
      { ...SAVED, isError: true },
      { ...SAVED, refused: 'denied' },
      { ...SAVED, text: '{"success":false}' },
    ])
      assert.equal(countTurn(some, turn('b', [one])).turnsSinceMemory, 2);
  });

  verifies('core:learning:intervals-configured', 'intervals are set, and zero turns a nudge off', () => {
    const counters = { turnsSinceMemory: 500, iterationsSinceSkill: 500 };
    assert.deepEqual(dueNudges(counters, { memory: 0, skills: 0 }), []);
    assert.deepEqual(dueNudges(counters, { memory: 0, skills: 3 }), ['skills']);
    assert.deepEqual(dueNudges({ turnsSinceMemory: 3, iterationsSinceSkill: 0 }, { memory: 3, skills: 3 }), ['memory']);
  });

  verifies('core:learning:counters-rebuilt', 'a rebuilt session has the counters of the live one', () => {
    const anyTurn = fc
      .record({
        line: fc.string({ minLength: 1 }),
        calls: fc.array(fc.constantFrom(call('x'), SAVED, PATCHED), { maxLength: 4 }),
      })
      .map(({ line, calls }) => turn(`say ${line}`, calls));
    fc.assert(
      fc.property(fc.array(anyTurn, { maxLength: 12 }), fc.nat(12), (turns, cut) => {
        const live = turns.reduce(
          (counters, one, index) =>
            index === cut ? afterReview(countTurn(counters, one), ['memory']) : countTurn(counters, one),
          FRESH_COUNTERS,
        );
        const rebuilt = rebuildCounters({ memory: turns.slice(cut + 1).flat(), skills: turns.flat() });
        if (cut < turns.length) assert.deepEqual(rebuilt, live);
      }),
    );
  });
});

const FIVE = ['npm ci', 'npm run build', 'npm test', 'npm version patch', 'git push'].map((command) => call(command));

describe('creation triggers', () => {
  verifies('core:skills:trigger-tool-calls', 'five work calls in one task are a reason, four are none', () => {
    assert.deepEqual(creationTriggers(turn('release it', FIVE)), ['tool-calls']);
    assert.deepEqual(creationTriggers(turn('release it', FIVE.slice(1))), []);
  });

  verifies('core:skills:trigger-error-recovery', 'a failed call followed by one for the same goal that worked', () => {
    const failed = call('npm test', { isError: true });
    assert.deepEqual(creationTriggers(turn('test it', [failed, call('npm test -- --runInBand')])), ['error-recovery']);
    assert.deepEqual(creationTriggers(turn('test it', [failed, call({ path: 'a.txt' }, { name: 'read_file' })])), []);
    assert.deepEqual(creationTriggers(turn('test it', [failed])), []);
  });

  verifies('core:skills:trigger-correction', 'a line that sets right what was just done', () => {
    const work = turn('summarise my notifications', [call('gh api notifications')]);
    assert.deepEqual(creationTriggers([...work, ...turn('Include Discussions too.')]), ['correction']);
    assert.deepEqual(creationTriggers([...work, ...turn('thanks, what is the time?')]), []);
    assert.deepEqual(creationTriggers(turn('no, not that one')), []);
  });

  verifies('core:skills:trigger-non-obvious', 'a dead end before the way that worked, or several ways', () => {
    const calls = [call('pg_dump shop', { isError: true }), call('docker ps'), call('docker exec db pg_dumpall')];
    assert.ok(creationTriggers(turn('back up the shop', calls)).includes('non-obvious'));
    assert.deepEqual(creationTriggers(turn('back up the shop', calls.slice(1))), []);
  });

  verifies(
    'core:skills:not-for-one-offs',
    'a simple task, housekeeping, look-ups again and again, and what the owner calls a one-off',
    () => {
      assert.deepEqual(creationTriggers(turn('what is in here?', [call('ls'), call('cat a.txt')])), []);
      assert.deepEqual(
        creationTriggers(
          turn(
            'look',
            Array.from({ length: 9 }, () => call('git status')),
          ),
        ),
        [],
      );
      assert.deepEqual(creationTriggers(turn('just this once: release it by hand', FIVE)), []);
      const own = ['memory', 'todo', 'skill_view', 'session_search', 'clarify'].map((name) => call({ name }, { name }));
      assert.deepEqual(creationTriggers(turn('note it', own)), []);
    },
  );

  test('steps of one task may be spread over several lines', () => {
    const turns = FIVE.flatMap((one) => turn(`run ${one.args.command}`, [one]));
    assert.deepEqual(creationTriggers(turns), []);
    assert.deepEqual(creationTriggers(turns, true), ['tool-calls']);
  });

  test('a denied call is neither work nor an error', () => {
    const denied = call('rm -r x', { isError: true, refused: 'denied' });
    assert.deepEqual(creationTriggers(turn('tidy up', [denied, call('rm -r x')])), []);
  });

  test('corrections are told from talk', () => {
    const corrections = [
      'no, also run the linter',
      'Include Discussions too.',
      'that is wrong, it should be the staging host',
      'you forgot the migrations',
      'instead of npm run pnpm',
      'skip the second step next time',
      "don't push to main",
      'also update the changelog',
      'I meant the other branch',
      'not like that',
    ];
    const talk = [
      'thanks',
      'no problem',
      'what did you change?',
      'is that too slow?',
      'run the tests',
      'great, done',
      '',
    ];
    assert.deepEqual(
      corrections.filter((line) => !isCorrection(line)),
      [],
    );
    assert.deepEqual(
      talk.filter((line) => isCorrection(line)),
      [],
    );
  });
});

const HOUR = 3_600_000;
const RULES: BudgetRules = { share: 0.1, floorPerDay: 100_000 };
const spent = (learning: number, other = 0) => ({ learning, other });
const reviews = (...kept: readonly number[]) => kept.map((count, at) => ({ kept: count, endedAt: at * HOUR }));
const none = (count: number) => reviews(...Array.from({ length: count }, () => 0));

describe('learning budget', () => {
  verifies(
    'core:learning:budget',
    'what is left is the smaller of what the hour and the day leave; limits that are set hold in any case',
    () => {
      const left = (hour: number, day: number, rules: Partial<BudgetRules> = {}, other = 0) =>
        budgetState(spent(hour), spent(day, other), { ...RULES, ...rules }).left;
      assert.equal(left(0, 0), 20_000, 'a fifth of the day, not all of it at once');
      assert.equal(left(5_000, 5_000), 15_000);
      assert.equal(left(0, 95_000), 5_000);
      assert.equal(left(30_000, 30_000), 0);
      assert.equal(left(0, 0, {}, 6_000_000), 120_000, 'a tenth of what else the day took');
      assert.equal(left(0, 0, { hour: 900 }, 6_000_000), 900);
      assert.equal(left(0, 0, { hour: 900, day: 700 }, 6_000_000), 700);
      assert.equal(left(0, 0, { day: 0 }), 0);
    },
  );

  test('learning never makes room for itself', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(), (learning, more, other) => {
        const left = (tokens: number) => budgetState(spent(tokens), spent(tokens, other), RULES).left;
        assert.ok(left(learning + more) <= left(learning));
      }),
    );
  });

  verifies(
    'core:learning:back-off',
    'from the third review in a row that kept nothing the intervals double, to 80 at most; a kept entry resets them',
    () => {
      assert.deepEqual(
        [0, 2, 3, 4, 5, 40].map((count) => intervalFactor(none(count))),
        [1, 1, 2, 4, 8, 80],
      );
      assert.equal(intervalFactor(reviews(0, 0, 0, 0, 1)), 1);
      assert.equal(intervalFactor(reviews(5, 0, 0)), 1);
      assert.equal(intervalFactor(reviews(5, 0, 0, 0)), 2);
      assert.deepEqual(stretchIntervals({ memory: 10, skills: 0 }, 2), { memory: 20, skills: 0 });
      assert.deepEqual(stretchIntervals({ memory: 10, skills: 100 }, 64), { memory: 80, skills: 100 });
      assert.equal(restsUntil(none(2)), 0);
      assert.equal(restsUntil(none(4)), 7 * HOUR, 'four hours behind the last one');
      assert.equal(restsUntil(none(30)), 37 * HOUR, 'eight at most');
    },
  );

  test('tokens are those of the hour and of the day, by purpose, without what a cache gave', async () => {
    const clock = createManualClock();
    const store = tempSessionStore(clock);
    const session = await store.create({ source: 'cli', cwd: '/' });
    const usage = { inputTokens: 1000, outputTokens: 50, cachedTokens: 900, cacheWriteTokens: 0, reasoningTokens: 0 };
    const span = (id: string, purpose: 'answer' | 'review' | 'judge', startedAt: number) =>
      ({
        id,
        sessionId: session.id,
        turn: 1,
        kind: 'step',
        name: 'm',
        ms: 1,
        status: 'ok',
        purpose,
        usage,
        cost: 0,
        startedAt,
      }) as const;
    const now = clock.now();
    await store.recordSpans([
      span('a', 'answer', now),
      span('b', 'review', now),
      span('c', 'judge', now - 2 * HOUR),
      span('d', 'review', now - 25 * HOUR),
    ]);
    const { hour, day } = await readBudget(store, now, RULES);
    assert.deepEqual([hour.learning, day.learning], [150, 300]);
    assert.equal(await tokensOfStep(store, session.id), 150, 'a step of the conversation');
    assert.equal(await tokensOfStep(store, (await store.create({ source: 'cli', cwd: '/' })).id), 0);
  });
});
