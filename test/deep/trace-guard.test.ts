import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  checkAcceptedIsSupported,
  checkFolding,
  checkKnownVerdicts,
  checkLessNeverAcceptsMore,
} from '../property/trace-guard-properties.ts';
import { checkWrites, WRITE_FORMS } from '../property/trace-guard-writes.ts';

describe('evidence gate: 100,000 cases', () => {
  test('known verdicts', () => {
    const tried = checkKnownVerdicts(100_000, 1);
    assert.ok(
      [...tried.values()].every((count) => count >= 200),
      JSON.stringify([...tried]),
    );
  });
  test('writes of any form', () => {
    const seen = checkWrites(100_000, 5);
    for (const form of WRITE_FORMS) assert.ok((seen.get(`${form} accepted`) ?? 0) >= 200, form);
  });
  test('accepted is supported', () => assert.ok(checkAcceptedIsSupported(100_000, 2) > 500));
  test('less never accepts more', () => checkLessNeverAcceptsMore(50_000, 3));
  test('folding', () => checkFolding(50_000, 4));
});
