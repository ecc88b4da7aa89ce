import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runs } from '../property-runs.ts';
import { verifies } from '../verifies.ts';
import {
  checkAcceptedIsSupported,
  checkFolding,
  checkKnownVerdicts,
  checkLessNeverAcceptsMore,
} from './trace-guard-properties.ts';
import { checkWrites, WRITE_FORMS } from './trace-guard-writes.ts';

describe('evidence gate: properties', () => {
  verifies(
    ['core:origin:memory-needs-owner', 'core:origin:foreign-waits'],
    'every known lie is refused with its reason, every true entry is accepted or waits by its origin',
    () => {
      const tried = checkKnownVerdicts(runs(2_000), 20_260_115);
      assert.ok(tried.size >= 13 && [...tried.values()].every((count) => count >= runs(5)), JSON.stringify([...tried]));
    },
  );

  test('a write of any form is kept when what it adds was said by who may say it, and only then', () => {
    const seen = checkWrites(runs(6_000), 17);
    for (const form of WRITE_FORMS) {
      assert.ok((seen.get(`${form} accepted`) ?? 0) >= runs(10), form);
      assert.ok((seen.get(`${form} pending`) ?? 0) >= runs(10), form);
    }
  });

  test('whatever is accepted is supported, as the simplest means tell', () => {
    assert.ok(checkAcceptedIsSupported(runs(3_000), 7) > runs(20));
  });

  test('taking evidence away never accepts more', () => checkLessNeverAcceptsMore(runs(3_000), 11));

  test('a text folds as its sentences do', () => checkFolding(runs(1_000), 13));
});
