/** A million mutated parents: what the guard accepts is supported. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  checkLessEvidence,
  checkMemoryChangesNothing,
  checkNothingUnsupported,
  checkSameForSame,
} from '../../property/rlm/guard-properties.ts';

const SEED = Number(process.env.TALARIA_SEED ?? 20_251);

describe('TraceGuard, many times', () => {
  test('nothing unsupported is accepted in 1,000,000 mutated parents', () => {
    const met = checkNothingUnsupported(1_000_000, SEED);
    assert.ok([...met.values()].every((count) => count >= 1_000) && met.size === 10, JSON.stringify([...met]));
  });
  test('taking evidence away never accepts more', () => assert.ok(checkLessEvidence(50_000, SEED + 1) > 1_000));
  test('memory never changes a verdict', () => assert.ok(checkMemoryChangesNothing(30_000, SEED + 2) > 1_000));
  test('the order of keys does not matter', () => checkSameForSame(30_000, SEED + 3));
});
