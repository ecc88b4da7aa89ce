import assert from 'node:assert/strict';
import { describe } from 'node:test';
import {
  buildManifest,
  extractJson,
  recallPriors,
  repairMissingHandles,
  scoreCompletion,
  validateMemoryRecord,
  validateParentSynthesis,
} from 'talaria/rlm';
import { verifies } from '../verifies.ts';

const fact = { fact_id: 'F1', chunk_id: 'notes.txt:1-2', text: 'FACT:F1 The depth cap is 5.' };
const fixture = {
  fixture_id: 'one-fact',
  target: { path: 'notes.txt', encoding: 'utf-8', line_count: 2, lines: [fact.text, 'filler'] },
  truncation_config: {
    chunk_line_limit: 2,
    max_atomic_chunks: 1,
    expected_selected_chunk_ids: [fact.chunk_id],
    expected_omitted_chunk_ids: [],
    truncation_boundary: { last_retained_line: 2, omitted_line_count: 0 },
  },
  expected_retained_facts: [fact],
  expected_omitted_facts: [],
  completion_requirements: [{ requirement_id: 'r', required_fact_ids: ['F1'], minimum_confidence: 0.8 }],
};

describe('the entry talaria/rlm', () => {
  verifies(['rlm:guard:accepted', 'rlm:repair:fields-only', 'rlm:json:fenced'], 'from a reply to a verdict', () => {
    const reply = `Here:\n\`\`\`json\n{"result":{"retained_facts":[{"fact_id":"F1","text":"The depth cap is 5."}]}}\n\`\`\``;
    const found = extractJson(reply);
    assert.ok(found.ok);
    const manifest = buildManifest(fixture);
    const refused = validateParentSynthesis({ manifest, synthesis: found.value });
    assert.deepEqual(
      refused.rejected_claims.map(({ reason }) => reason),
      ['missing_evidence_handle'],
    );
    const childRecords = [{ chunk_id: fact.chunk_id, output: { observed_facts: [{ ...fact, child: 1 }] } }];
    const { synthesis, repair } = repairMissingHandles({ manifest, synthesis: found.value, childRecords });
    assert.equal(repair.repair_accept, true);
    for (const mode of ['strict', 'v1'] as const)
      assert.equal(validateParentSynthesis({ manifest, synthesis, mode }).accepted, true);
    assert.equal(JSON.stringify(buildManifest({ entries: [fact] }).required), '[]');
  });

  verifies(['rlm:score:retained', 'rlm:memory:recall'], 'scores a completion, checks and recalls memory', () => {
    const completion = {
      result: { retained_facts: [{ fact_id: 'F1', evidence_chunk_id: fact.chunk_id }] },
      confidence: 0.9,
    };
    for (const version of ['v1', 'v2'] as const)
      assert.equal(scoreCompletion({ fixture, completion, version }).retained_fact_citation_score, 1, version);
    const record = {
      kind: 'schema_hint_needed',
      task: 'extract_child_evidence',
      recommendation: 'prefer_strict_json_schema',
    };
    const checked = validateMemoryRecord(record);
    assert.equal(checked.ok, true);
    assert.equal(validateMemoryRecord({ ...record, answer: '42' }).ok, false);
    assert.equal(recallPriors([record], { tasks: ['extract_child_evidence'] }).length, 1);
  });
});
