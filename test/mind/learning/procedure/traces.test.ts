// The third time: found when the run is at its end, not in the middle of a longer one.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { workCalls } from '#mind/learning/counters/done-calls.ts';
import { repeatedCalls } from '#mind/learning/procedure/traces.ts';
import { call, turn } from '../conversation-builder.ts';

const found = (commands: string) => {
  const calls = workCalls(
    turn(
      'do it',
      commands.split('').map((command) => call(command)),
    ),
  );
  return repeatedCalls(calls)
    ?.map((one) => one.call.arguments.command)
    .join('');
};

describe('repeated calls', () => {
  test('three times, with anything between, the longest run wins', () => {
    assert.equal(found('abab'), undefined);
    assert.equal(found('ababab'), 'ab');
    assert.equal(found('abxabyab'), 'ab');
    assert.equal(found('abcxabcyabc'), 'abc');
  });

  test('one call again and again is no procedure', () => {
    assert.equal(found('aaaaaa'), undefined);
    assert.equal(found(''), undefined);
  });

  test('in the middle of a longer run nothing is found', () => {
    assert.equal(found('abcabcab'), undefined);
    assert.equal(found('abcabcabc'), 'abc');
    assert.equal(found('abcabdab'), 'ab');
  });
});
