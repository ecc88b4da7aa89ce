// Owns TraceGuard's verdict on a parent synthesis: every claim must name a fact and the chunk of fresh child evidence for it. `v1` is the
// original, by ids alone; strict takes every chunk that a fact has, the words, and what a parent says beside its claims. Pure, synchronous,
// without a model. Knows no file, no run, no memory.
// Invariant: accepted claims are a part of the manifest; one refused claim refuses the synthesis; equal data gives an equal verdict; taking
// evidence away never accepts more. Seed 003, TraceGuard; notes 2.
import { TalariaError } from '#base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { roundHalfEven } from '#base/round-half-even.ts';
import { type EvidenceWords, indexOf, type ManifestIndex, type ManifestInput } from './manifest.ts';
import {
  CHUNK_FIELDS,
  chunkIdOf,
  FACT_FIELDS,
  FACT_LIST_FIELDS,
  FACT_LISTS,
  factIdsOf,
  type GuardMode,
  type LocatedClaim,
  type ParentClaim,
  type RejectedClaim,
  type RejectionReason,
  readClaims,
  type Surface,
  surfacesOf,
  TEXT_FIELDS,
  type Validation,
} from './read-claims.ts';
import { judgeClaimV1, mismatch, missingHandle, type Refused, unsupported, withoutFact } from './v1.ts';

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
    const refused = mode === 'v1' ? judgeClaimV1(located.claim, index) : judgeStrict(located, index);
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

/** Undefined: accepted. */
function judgeStrict({ claim, holder }: LocatedClaim, index: ManifestIndex): Refused | undefined {
  const { fact_id, chunk_id, surface } = claim;
  if (fact_id === null) return withoutFact();
  const chunks = index.chunksOf(fact_id);
  if (chunks === undefined) return unsupported(fact_id);
  if (chunk_id === null) return missingHandle(fact_id);
  const evidence = chunks.get(chunk_id);
  if (evidence === undefined) return mismatch(fact_id, chunk_id);
  const field = unsaidField(holder, evidence, surface);
  if (field === undefined) return undefined;
  const detail = `The ${field} of ${fact_id} is not what its evidence says.`;
  return { reason: 'evidence_text_mismatch', detail };
}

/** The summary of a result that is itself a claim is its summary, no claim. */
function unsaidField(holder: JsonObject, evidence: readonly EvidenceWords[], surface: string): string | undefined {
  const fields = TEXT_FIELDS.filter(
    (field) => holder[field] !== undefined && !(surface === 'result' && field === 'summary'),
  );
  const problems = evidence.map((one) => fields.find((field) => !isSaid(one, holder[field])));
  return problems.includes(undefined) ? undefined : problems[0];
}

function isSaid(evidence: EvidenceWords, value: unknown): boolean {
  return typeof value === 'string' ? evidence.says(value) : !holdsText(value);
}

const PROSE = ['summary', 'truncation_report', 'residual_gaps', 'mode', 'verdict', 'confidence'];
const UNDER_RESULT: ReadonlySet<string> = new Set([...PROSE, ...FACT_LISTS]);
const OF_A_CLAIM: ReadonlySet<string> = new Set([...FACT_FIELDS, ...FACT_LIST_FIELDS, ...CHUNK_FIELDS, ...TEXT_FIELDS]);
/** At the top other keys belong to the envelope; under these names claims were seen. */
const CLAIMS_AT_TOP: readonly string[] = [
  ...FACT_LISTS,
  'claims',
  'accepted_claims',
  'key_synthesized_claims',
  'conclusions',
  'answer',
  'details',
];

function findStrays(synthesis: unknown, index: ManifestIndex): readonly RejectedClaim[] {
  if (!isJsonObject(synthesis)) return [];
  const top = CLAIMS_AT_TOP.filter((key) => holdsText(synthesis[key])).map((key) => stray(key));
  return [...underResult(synthesis.result), ...top, ...surfacesOf(synthesis).flatMap((one) => inSurface(one, index))];
}

function underResult(result: JsonValue | undefined): readonly RejectedClaim[] {
  if (!isJsonObject(result)) return holdsText(result) ? [stray('result')] : [];
  const isClaim = typeof result.fact_id === 'string';
  const isKnown = (key: string): boolean => UNDER_RESULT.has(key) || (isClaim && OF_A_CLAIM.has(key));
  return Object.keys(result)
    .filter((key) => !isKnown(key) && holdsText(result[key]))
    .sort()
    .map((key) => stray(`result.${key}`));
}

function inSurface({ name, items }: Surface, index: ManifestIndex): readonly RejectedClaim[] {
  return items.flatMap((item) => {
    const unsaid = isJsonObject(item) ? unsaidText(item, index) : unsaidPiece(item, index);
    return unsaid === undefined ? [] : [stray(name, unsaid)];
  });
}

/** Of an object that names neither fact nor chunk. */
function unsaidText(item: JsonObject, index: ManifestIndex): string | undefined {
  if (factIdsOf(item).length > 0 || chunkIdOf(item) !== null) return undefined;
  for (const field of TEXT_FIELDS) {
    const unsaid = unsaidPiece(item[field], index);
    if (unsaid !== undefined) return unsaid;
  }
  return undefined;
}

/** A text is harmless where it only repeats evidence or an id. */
function unsaidPiece(value: JsonValue | undefined, index: ManifestIndex): string | undefined {
  if (typeof value !== 'string') return holdsText(value) ? '' : undefined;
  return value.trim() === '' || index.isSaidAnywhere(value) ? undefined : value;
}

function stray(surface: string, text = ''): RejectedClaim {
  const claim = { fact_id: null, chunk_id: null, surface, text };
  return { reason: 'claim_outside_schema', claim, detail: `${surface} says something that is no claim with evidence.` };
}

function holdsText(value: unknown): boolean {
  if (!Array.isArray(value)) return isFilledObject(value);
  const lists = new Set<readonly unknown[]>([value]);
  for (const list of lists) {
    for (const item of list) {
      if (Array.isArray(item)) lists.add(item);
      else if (isFilledObject(item) || (typeof item === 'string' && item.trim() !== '')) return true;
    }
  }
  return false;
}

function isFilledObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}
