import type { MemoryRecord } from '#extensions/rlm/memory/memory-record.ts';

export const soundRecord: MemoryRecord = {
  kind: 'provider_schema_stability',
  task: 'extract_child_evidence',
  recommendation: 'preserve_child_fact_identity',
  family_id: 'hermes_glm',
  fixture_category: 'simple_truncation',
  outcome: 'traceguard_accept',
  confidence: 0.5,
  created_at: '2026-05-04T01:02:03.123456+00:00',
};
