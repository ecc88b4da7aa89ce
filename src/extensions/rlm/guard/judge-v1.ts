// Owns the original's rules for one claim, in their order. Knows no text: only ids are compared, exactly.
// Seed 003, notes 2.3.
import type { ManifestIndex } from './manifest-index.ts';
import type { ParentClaim, RejectionReason } from './parent-claim.ts';

export interface Refused {
  readonly reason: RejectionReason;
  readonly detail: string;
}

/** Undefined: accepted. */
export function judgeV1({ fact_id, chunk_id }: ParentClaim, index: ManifestIndex): Refused | undefined {
  if (fact_id === null) return withoutFact();
  const admitted = index.lastChunk(fact_id);
  if (admitted === undefined) return unsupported(fact_id);
  if (chunk_id === null) return missingHandle(fact_id);
  return chunk_id === admitted ? undefined : mismatch(fact_id, chunk_id);
}

export function withoutFact(): Refused {
  const detail = 'The parent cited a chunk handle but did not identify a supported fact.';
  return { reason: 'chunk_handle_without_fact', detail };
}

export function unsupported(fact: string): Refused {
  const detail = `${fact} is not present in the accepted child evidence manifest.`;
  return { reason: 'unsupported_fact_id', detail };
}

export function missingHandle(fact: string): Refused {
  const detail = `${fact} is claimed without the chunk that it rests on.`;
  return { reason: 'missing_evidence_handle', detail };
}

export function mismatch(fact: string, chunk: string): Refused {
  return { reason: 'evidence_handle_mismatch', detail: `${fact} does not rest on ${chunk}.` };
}
