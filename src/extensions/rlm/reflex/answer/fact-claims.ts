// Owns the part of a reply that claims facts: retained facts, references that quote them, and a summary that only counts.
import type { JsonObject } from '#base/json.ts';
import type { GivenFact } from './fit-facts.ts';

/** `reported`: of how many they were chosen. */
export function claimsOf(facts: readonly GivenFact[], reported: number): JsonObject {
  const chunks = new Set(facts.map(({ chunk_id }) => chunk_id)).size;
  const summary = `${facts.length} of ${reported} reported facts fit the question, from ${chunks} ${chunks === 1 ? 'chunk' : 'chunks'}.`;
  return {
    result: {
      summary,
      retained_facts: facts.map(({ fact_id, text, chunk_id }) => ({ fact_id, text, evidence_chunk_id: chunk_id })),
    },
    evidence_references: facts.map(({ fact_id, text, chunk_id }) => ({
      chunk_id,
      supports_fact_ids: [fact_id],
      quoted_evidence: text,
    })),
  };
}
