import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { verifies } from '../../verifies.ts';
import {
  checkLessEvidence,
  checkMemoryChangesNothing,
  checkNothingUnsupported,
  checkSameForSame,
} from './guard-properties.ts';

const SEED = Number(process.env.TALARIA_SEED ?? 20_251);

describe('TraceGuard: properties', () => {
  verifies(['rlm:guard:subset', 'rlm:v1:compatible'], 'nothing unsupported is accepted from a mutated parent', () => {
    const met = checkNothingUnsupported(4_000, SEED);
    const reasons = [
      'accepted',
      'refused',
      'unsupported_fact_id',
      'chunk_handle_without_fact',
      'missing_evidence_handle',
    ];
    const strict = [
      'evidence_handle_mismatch',
      'evidence_text_mismatch',
      'claim_outside_schema',
      'missing_required_fact',
    ];
    for (const what of [...reasons, ...strict, 'no_claims'])
      assert.ok((met.get(what) ?? 0) >= 10, JSON.stringify([...met]));
  });

  verifies('rlm:guard:less-evidence', 'taking evidence away never accepts more', () => {
    assert.ok(checkLessEvidence(1_000, SEED) > 33);
  });

  verifies(['rlm:memory:same-verdict', 'rlm:memory:not-evidence'], 'memory never changes a verdict', () => {
    assert.ok(checkMemoryChangesNothing(600, SEED) > 30);
  });

  verifies('rlm:guard:deterministic', 'the order of keys does not matter, nothing is changed', () => {
    checkSameForSame(600, SEED);
  });
});
