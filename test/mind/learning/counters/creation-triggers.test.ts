// The reasons to propose a skill, and what is none.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isCorrection } from '#mind/learning/counters/correction-line.ts';
import { creationTriggers } from '#mind/learning/counters/creation-triggers.ts';
import { verifies } from '../../../verifies.ts';
import { call, turn } from '../conversation-builder.ts';

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
    assert.deepEqual(creationTriggers(turns, { acrossTurns: true }), ['tool-calls']);
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
