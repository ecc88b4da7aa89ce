// Owns the truncation fixture that is used when none is named (notes 6.1): twelve lines in six chunks, four read, our own sentences about
// nothing real, and what a recursive run on it must come to. Invariant: ids, chunks and boundary follow from the lines.
import { buildTruncationFixture } from '../../fixtures/truncation-fixture.ts';

const QUESTION =
  'List every fact of the harbour log with its chunk, and report the truncation boundary without claiming anything beyond it.';

const FACTS = [
  'the mail boat ties up at the third mooring ring.',
  'a fog bell is rung once every ninety seconds.',
  'the lamp of the breakwater burns 14 litres of oil a night.',
  'two keepers sign the tide table before noon.',
  'a later page claims that the bell was sold.',
  'a later page claims that nobody signs anything.',
];

export function ownTruncationFixture() {
  const lines = FACTS.flatMap((fact, at) => [`FACT:LC-00${at + 1} ${fact}`, `filler ${at + 1} says nothing.`]);
  const fixture = buildTruncationFixture(
    {
      fixture_id: 'talaria-long-context-truncation-v1',
      description: 'A harbour log of which four of six chunks are read.',
    },
    {
      path: 'harbour_log.txt',
      lines,
      chunk_line_limit: 2,
      max_atomic_chunks: 4,
      facts: FACTS.map((_, at) => ({ fact_id: `LC-00${at + 1}`, line: 2 * at + 1 })),
      minimum_confidence: 0.8,
    },
  );
  const { expected_selected_chunk_ids, expected_omitted_chunk_ids } = fixture.truncation_config;
  return {
    ...fixture,
    recursive_run: {
      schema_version: 'rlm.recursive_fixture_config.v1',
      initial_prompt: QUESTION,
      iteration_limits: {
        max_depth: 5,
        ambiguity_threshold: 0.2,
        chunk_line_limit: 2,
        max_atomic_chunks: 4,
        max_iterations: 8,
      },
      expected_outputs: {
        status: 'completed',
        target_kind: 'path',
        termination_reason: 'parent_synthesis_completed',
        hermes_subcall_count: 5,
        selected_chunk_ids: expected_selected_chunk_ids,
        omitted_chunk_ids: expected_omitted_chunk_ids,
        required_fact_ids: fixture.expected_retained_facts.map(({ fact_id }) => fact_id),
        forbidden_fact_ids: fixture.expected_omitted_facts.map(({ fact_id }) => fact_id),
        required_output_fields: fixture.completion_requirements[0].required_output_fields,
      },
    },
  };
}
