// Owns the fixed words of operational memory (notes 5): what may be remembered is chosen from these lists, never written freely. Data only.

export const MEMORY_KINDS = [
  'provider_schema_stability',
  'missing_evidence_handle_seen',
  'repair_strategy_succeeded',
  'repair_strategy_failed',
  'latency_bucket',
  'schema_hint_needed',
] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

export const MEMORY_TASKS = [
  'extract_child_evidence',
  'synthesize_parent_answer_from_child_evidence',
  'repair_missing_evidence_handle',
  'parent_synthesis_retry',
] as const;
export type MemoryTask = (typeof MEMORY_TASKS)[number];

/** The tasks whose prompts take priors. */
export const RECALLED_TASKS: readonly MemoryTask[] = [
  'extract_child_evidence',
  'synthesize_parent_answer_from_child_evidence',
];

export const RECOMMENDATIONS = [
  'require_fact_id_and_evidence_chunk_id',
  'preserve_child_fact_identity',
  'prefer_strict_json_schema',
  'retry_once_after_missing_handle_repair',
  'route_synthesis_to_schema_stable_provider',
  'avoid_chunk_only_citations',
  'record_latency_without_quality_claim',
] as const;
export type Recommendation = (typeof RECOMMENDATIONS)[number];

export const MEMORY_FIELDS = [
  'kind',
  'task',
  'recommendation',
  'family_id',
  'fixture_category',
  'outcome',
  'confidence',
  'created_at',
] as const;
