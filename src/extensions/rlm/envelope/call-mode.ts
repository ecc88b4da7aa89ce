// Owns the four modes of an inner call and the verdicts each may give (notes 15). Data only.

export const CALL_MODES = ['decompose_ac', 'execute_atomic', 'summarize_chunk', 'synthesize_parent'] as const;
export type CallMode = (typeof CALL_MODES)[number];

export const VERDICTS = ['atomic', 'decomposed', 'passed', 'failed', 'partial', 'retryable'] as const;
export type Verdict = (typeof VERDICTS)[number];

const OF_A_RESULT: readonly Verdict[] = ['passed', 'failed', 'partial', 'retryable'];

export const VERDICTS_OF: Readonly<Record<CallMode, readonly Verdict[]>> = {
  decompose_ac: ['atomic', 'decomposed', 'failed', 'partial', 'retryable'],
  execute_atomic: OF_A_RESULT,
  summarize_chunk: OF_A_RESULT,
  synthesize_parent: OF_A_RESULT,
};

/** Verdicts that leave nothing open. */
export const FINAL_VERDICTS: readonly Verdict[] = ['passed', 'decomposed', 'atomic'];

export const ARTIFACT_OF = {
  decompose_ac: 'decomposition',
  execute_atomic: 'atomic_execution',
  summarize_chunk: 'chunk_summary',
  synthesize_parent: 'parent_synthesis',
} as const;

/** What every reply must hold, in this order (the output contract of an input). */
export const REQUIRED_OUTPUT_FIELDS = [
  'mode',
  'verdict',
  'confidence',
  'result',
  'evidence_references',
  'residual_gaps',
] as const;

export const TOKEN_BUDGET = { max_input_tokens: 24_000, max_output_tokens: 4_000 } as const;
