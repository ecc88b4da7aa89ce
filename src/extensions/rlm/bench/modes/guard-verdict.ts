// Owns what TraceGuard says of a completion on a fixture, in short (notes 6.4: scorer and guard are two contracts). Pure.
import { buildManifest } from '../../guard/build-manifest.ts';
import type { GuardMode, RejectionReason } from '../../guard/parent-claim.ts';
import { validateParentSynthesis } from '../../guard/validate-parent-synthesis.ts';
import { extractJson } from '../../text/extract-json.ts';

export interface GuardVerdictRequest {
  readonly fixture: { readonly expected_retained_facts: unknown };
  /** As text or as data. */
  readonly completion: unknown;
  readonly mode: GuardMode;
}

export function guardVerdict({ fixture, completion, mode }: GuardVerdictRequest) {
  const read = typeof completion === 'string' ? extractJson(completion) : { ok: true as const, value: completion };
  const verdict = validateParentSynthesis({
    manifest: buildManifest(fixture),
    synthesis: read.ok ? read.value : null,
    mode,
  });
  const reasons: readonly RejectionReason[] = [...new Set(verdict.rejected_claims.map(({ reason }) => reason))];
  return {
    accepted: verdict.accepted,
    accepted_claims: verdict.accepted_claims.length,
    rejected_claims: verdict.rejected_claims.length,
    unsupported_claim_rate: verdict.unsupported_claim_rate,
    reasons,
  };
}
