// The nudge counters: what they count, what starts them again, and that a resumed session has the same.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Message } from '#core/model/message.ts';
import {
  afterReview,
  countTurn,
  DEFAULT_INTERVALS,
  dueNudges,
  FRESH_COUNTERS,
  rebuildCounters,
} from '#mind/learning/counters/nudge-counters.ts';
import { verifies } from '../../../verifies.ts';
import { call, turn } from '../conversation-builder.ts';

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
