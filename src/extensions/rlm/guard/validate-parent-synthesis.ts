// Owns TraceGuard's verdict on a parent synthesis: every claim must name a fact and the chunk of fresh child evidence for it. Pure,
// synchronous, without a model. Knows no file, no run, no memory.
// Invariant: accepted claims are a part of the manifest; one refused claim refuses the synthesis; equal data gives an equal verdict.
// Seed 003, TraceGuard; notes 2.
import { TalariaError } from '#base/errors.ts';
import { roundHalfEven } from '#base/number/round-half-even.ts';
import { indexOf } from './build-manifest.ts';
import { findStrays } from './find-strays.ts';
import { judgeStrict } from './judge-strict.ts';
import { judgeV1 } from './judge-v1.ts';
import type { ManifestInput } from './manifest.ts';
import type { ManifestIndex } from './manifest-index.ts';
import type { GuardMode, ParentClaim, RejectedClaim, RejectionReason, Validation } from './parent-claim.ts';
import { type LocatedClaim, readClaims } from './read-claims.ts';

export interface ValidateInput {
  /** Of `buildManifest`, or its entries as they are. */
  readonly manifest: ManifestInput;
  /** What the parent answered, parsed; anything is judged. */
  readonly synthesis: unknown;
  /** @default 'strict' */
  readonly mode?: GuardMode;
}

/** @throws TalariaError `rlm-manifest-invalid` when the manifest is none, `rlm-mode-unknown` */
export function validateParentSynthesis({ manifest, synthesis, mode = 'strict' }: ValidateInput): Validation {
  if (mode !== 'strict' && mode !== 'v1')
    throw new TalariaError(`there is no mode ${String(mode)}`, { code: 'rlm-mode-unknown', fix: 'strict or v1' });
  const index = indexOf(manifest);
  const claims = readClaims(synthesis, mode);
  const accepted: ParentClaim[] = [];
  const rejected: RejectedClaim[] = [];
  for (const located of claims) {
    const refused = mode === 'v1' ? judgeV1(located.claim, index) : judgeStrict(located, index);
    if (refused === undefined) accepted.push(located.claim);
    else rejected.push({ reason: refused.reason, claim: located.claim, detail: refused.detail });
  }
  if (mode !== 'v1') rejected.push(...ofTheWhole(synthesis, claims, index));
  return {
    accepted: rejected.length === 0,
    unsupported_claim_rate: rateOf(rejected.length, accepted.length + rejected.length),
    accepted_claims: accepted,
    rejected_claims: rejected,
    allowed_fact_ids: [...index.factIds],
    allowed_chunk_ids: [...index.chunkIds],
  };
}

function rateOf(rejected: number, all: number): number {
  return rejected === 0 ? 0 : roundHalfEven(rejected / all, 4);
}

/** What no single claim is to blame for (notes 2.5, holes 1, 3 and 4). */
function ofTheWhole(
  synthesis: unknown,
  claims: readonly LocatedClaim[],
  index: ManifestIndex,
): readonly RejectedClaim[] {
  const named = new Set(claims.map(({ claim }) => claim.fact_id));
  const dropped = index.manifest.required.filter((fact) => !named.has(fact));
  const none =
    claims.length === 0 ? [problem('no_claims', null, 'The parent makes no claim that could be checked.')] : [];
  return [
    ...none,
    ...findStrays(synthesis, index),
    ...dropped.map((fact) => problem('missing_required_fact', fact, `${fact} is required and no claim names it.`)),
  ];
}

function problem(reason: RejectionReason, fact_id: string | null, detail: string): RejectedClaim {
  return { reason, claim: { fact_id, chunk_id: null, surface: 'synthesis', text: '' }, detail };
}
