import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verifies } from '../verifies.ts';
import {
  checkAcceptedIsSupported,
  checkFolding,
  checkKnownVerdicts,
  checkLessNeverAcceptsMore,
} from './trace-guard-properties.ts';

describe('evidence gate: properties', () => {
  verifies(
    ['core:origin:memory-needs-owner', 'core:origin:foreign-waits'],
    'every known lie is refused with its reason, every true entry is accepted or waits by its origin',
    () => {
      const tried = checkKnownVerdicts(2_000, 20_260_115);
      assert.ok(tried.size >= 13 && [...tried.values()].every((count) => count >= 5), JSON.stringify([...tried]));
    },
  );

  test('whatever is accepted is supported, as the simplest means tell', () => {
    assert.ok(checkAcceptedIsSupported(3_000, 7) > 20);
  });

  test('taking evidence away never accepts more', () => checkLessNeverAcceptsMore(3_000, 11));

  test('a text folds as its sentences do', () => checkFolding(1_000, 13));
});
