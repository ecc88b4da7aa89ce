/** Sound envelopes of each mode, for the tests to damage. */

import { type Asked, type CallMode, TOKEN_BUDGET } from '#extensions/rlm/scaffold/envelope.ts';
import type { HermesInput } from './read-input.ts';

export const asked: Asked = {
  mode: 'execute_atomic',
  rlm_node_id: 'rlm_node_root',
  ac_node_id: 'rlm_ac_root',
  evidence_ids: ['a.txt:1-2', 'a.txt:3-4', 'sum_1'],
};

export const ARTIFACTS = {
  decompose_ac: { type: 'decomposition', is_atomic: true, atomic_rationale: 'small', proposed_child_acs: [] },
  execute_atomic: {
    type: 'atomic_execution',
    deliverable: 'text',
    checks_performed: [],
    claims: [],
    completion_notes: '',
  },
  summarize_chunk: { type: 'chunk_summary', summary_id: 's', source_chunk_ids: ['a.txt:1-2'], facts: [] },
  synthesize_parent: { type: 'parent_synthesis', child_result_ids: ['rlm_node_root:child_result:000'] },
} satisfies Record<CallMode, object>;

/** A whole reply. */
export function output(mode: CallMode = 'execute_atomic') {
  return {
    schema_version: 'rlm.hermes.output.v1',
    mode,
    rlm_node_id: 'rlm_node_root',
    ac_node_id: 'rlm_ac_root',
    verdict: mode === 'decompose_ac' ? 'atomic' : 'passed',
    confidence: 0.9,
    result: { summary: 'short', details: {} },
    evidence_references: [{ chunk_id: 'a.txt:1-2', source_path: 'a.txt', start_line: 1, end_line: 2, claim: 'x' }],
    residual_gaps: [],
    artifacts: [ARTIFACTS[mode]],
    control: { requires_retry: false, suggested_next_mode: 'none', must_not_recurse: true },
  };
}

const chunk = {
  chunk_id: 'a.txt:1-2',
  source_path: 'a.txt',
  start_line: 1,
  end_line: 2,
  content: 'x\ny\n',
  token_estimate: 2,
  truncated: true,
};

const childResult = {
  order: 0,
  child_node_id: 'rlm_node_atomic_chunk_001',
  child_ac_node_id: 'rlm_ac_atomic_chunk_001',
  call_id: 'rlm_call_atomic_chunk_001',
  chunk_id: 'a.txt:3-4',
  completion_status: 'completed',
  status_metadata: {
    mode: 'execute_atomic' as const,
    generation_id: 'g',
    parent_call_id: null,
    depth: 1,
    exit_code: 0,
    resume_handle_present: false,
  },
  question_payload: {},
  result_payload: {
    exit_code: 0,
    completion: '{}',
    reported_result: {},
    verdict: 'passed',
    confidence: 0.9,
    evidence_references: [],
    residual_gaps: [],
  },
};

export function input(): HermesInput {
  return {
    schema_version: 'rlm.hermes.input.v1',
    mode: 'synthesize_parent',
    call_context: { call_id: 'rlm_call_atomic_synthesis', parent_call_id: null, depth: 0 },
    parent_execution_context: null,
    outer_scaffold: { schema_version: 'rlm.outer_scaffold.v1' },
    run: { rlm_run_id: 'r', seed_id: null, working_directory: '.', ambiguity_score: 0.1, ambiguity_threshold: 0.2 },
    rlm_node: { id: 'rlm_node_root', parent_id: null, depth: 0, ancestry: [] },
    ac_node: {
      id: 'rlm_ac_root',
      parent_id: null,
      depth: 0,
      max_depth: 5,
      title: 't',
      statement: 's',
      status: 'executing',
    },
    objective: { instruction: 'Synthesize', success_criteria: [], non_goals: [] },
    constraints: {
      max_ac_depth: 5,
      must_not_call_ouroboros: true,
      must_use_supplied_context_only: true,
      target_kind: 'path',
      token_budget: TOKEN_BUDGET,
    },
    context: {
      prompt_summary: null,
      parent_result: null,
      parent_node_summary: null,
      synthesized_subcall_summary: null,
      chunks: [chunk],
      summaries: [{ summary_id: 'sum_1' }],
      child_results: [childResult, { ...childResult, order: 1 }],
      normalized_child_ac_inputs: [{ question: 'q', result: null, status: 'completed', ordering: 0 }],
      benchmark_fixture: null,
      fixture_id: null,
    },
    trace: {
      event_store_session_id: null,
      call_id: 'rlm_call_atomic_synthesis',
      parent_call_id: null,
      causal_parent_event_id: null,
      depth: 0,
      selected_chunk_ids: [],
      resume_handle_id: null,
    },
    output_contract: {
      format: 'json',
      required_fields: ['mode', 'verdict', 'confidence', 'result', 'evidence_references', 'residual_gaps'],
    },
  };
}
