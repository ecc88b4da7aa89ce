// Owns what the baseline's one call is given: `rlm.vanilla_baseline.input.v1` (notes 6.4). Pure. Changing its bytes costs the users' cache.
// Invariant: it holds the same chunks as the recursive run and, unlike the original's, no answer key.

import { REQUIRED_OUTPUT_FIELDS, TOKEN_BUDGET } from '../../envelope/call-mode.ts';
import { chunkLines } from '../../fixtures/chunk-lines.ts';
import { type BenchFixture, fixtureQuestion } from './load-fixture.ts';

const VANILLA_VERSION = 'rlm.vanilla_baseline.input.v1';
export const VANILLA_CALL_ID = 'rlm_call_vanilla_truncation_baseline';
export const VANILLA_BASELINE_ID = 'rlm-vanilla-truncation-baseline-v1';

export const VANILLA_SYSTEM = [
  'You answer one question about the supplied chunks, in one pass. You have no tools.',
  'Reply with one bare JSON object and nothing else, with exactly these keys: mode, verdict, confidence, result, evidence_references, residual_gaps.',
  'result holds summary, retained_facts [{fact_id, text, evidence_chunk_id}] and truncation_report {last_retained_line, omitted_line_count}.',
  'evidence_references holds [{chunk_id, supports_fact_ids, quoted_evidence}].',
  'State only facts that stand in a supplied chunk, word for word, with the id that stands there. Nothing of an omitted chunk is known to you.',
].join('\n');

export function vanillaPrompt(bench: BenchFixture): string {
  const { fixture } = bench;
  const { target, truncation_config: config } = fixture;
  const chunks = chunkLines({ path: target.path, lines: target.lines, limit: config.chunk_line_limit });
  return JSON.stringify({
    schema_version: VANILLA_VERSION,
    mode: 'vanilla_single_pass',
    call_context: { call_id: VANILLA_CALL_ID, parent_call_id: null, depth: 0 },
    baseline_id: VANILLA_BASELINE_ID,
    objective: { instruction: fixtureQuestion(bench), success_criteria: [], non_goals: [] },
    constraints: {
      single_pass: true,
      must_not_recurse: true,
      must_use_supplied_context_only: true,
      token_budget: TOKEN_BUDGET,
    },
    context: {
      fixture: {
        fixture_id: fixture.fixture_id,
        target: { path: target.path, line_count: target.line_count },
        chunk_line_limit: config.chunk_line_limit,
        max_atomic_chunks: config.max_atomic_chunks,
      },
      retained_chunks: chunks
        .slice(0, config.max_atomic_chunks)
        .map((chunk) => ({ ...chunk, source_path: target.path })),
      omitted_chunk_ids: config.expected_omitted_chunk_ids,
      truncation_boundary: config.truncation_boundary,
    },
    output_contract: { format: 'json', required_fields: REQUIRED_OUTPUT_FIELDS },
  });
}
