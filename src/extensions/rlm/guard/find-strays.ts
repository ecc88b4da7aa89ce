// Owns finding what a parent says beside its claims: text under keys that are no claim surface, and pieces of a surface that cite nothing.
// Knows no rule for claims. `result.summary`, gaps and the truncation report are prose that nobody is shown as checked.
// Seed 003, notes 2.5 (hole 3).
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { holdsText } from './holds-text.ts';
import type { ManifestIndex } from './manifest-index.ts';
import type { RejectedClaim } from './parent-claim.ts';
import {
  CHUNK_FIELDS,
  chunkIdOf,
  FACT_FIELDS,
  FACT_LIST_FIELDS,
  FACT_LISTS,
  factIdsOf,
  surfacesOf,
  TEXT_FIELDS,
} from './read-claims.ts';

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

export function findStrays(synthesis: unknown, index: ManifestIndex): readonly RejectedClaim[] {
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

function inSurface(
  { name, value }: { readonly name: string; readonly value: JsonValue },
  index: ManifestIndex,
): readonly RejectedClaim[] {
  const items: readonly JsonValue[] = Array.isArray(value) ? value : [value];
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
