// Owns which handles are missing and which of them can be known without asking anybody: the manifest admits the chunk for the fact and a
// child of this run reported it. Changes nothing. Seed 003, notes 4 (eligibility).
import type { JsonObject } from '#base/json.ts';
import { indexOf } from '../guard/build-manifest.ts';
import type { ManifestInput } from '../guard/manifest.ts';
import type { ManifestIndex } from '../guard/manifest-index.ts';
import type { GuardMode } from '../guard/parent-claim.ts';
import { type LocatedClaim, readClaims } from '../guard/read-claims.ts';
import { childHandles } from './child-handles.ts';
import type { HandleReference } from './repair-block.ts';

export interface LocatedReference {
  readonly reference: HandleReference;
  /** The object that lacks the handle. */
  readonly holder: JsonObject;
}

export interface ReferenceInput {
  readonly manifest: ManifestInput;
  readonly synthesis: unknown;
  readonly childRecords: readonly unknown[];
  readonly mode: GuardMode;
}

/** In the order of the claims, one for each object. */
export function findReferences({
  manifest,
  synthesis,
  childRecords,
  mode,
}: ReferenceInput): readonly LocatedReference[] {
  const index = indexOf(manifest);
  const reported = childHandles(childRecords);
  const admitted = (fact: string): readonly string[] =>
    admittedChunks(index, fact, mode).filter((chunk) => reported.get(fact)?.has(chunk));
  const missing = readClaims(synthesis, mode).filter(({ claim }) => claim.fact_id !== null && claim.chunk_id === null);
  const holders = Map.groupBy(missing, ({ holder }) => holder);
  return [...holders].map(([holder, claims]) => ({ holder, reference: toReference(holder, claims, admitted) }));
}

function admittedChunks(index: ManifestIndex, fact: string, mode: GuardMode): readonly string[] {
  if (mode === 'strict') return [...(index.chunksOf(fact)?.keys() ?? [])];
  const last = index.lastChunk(fact);
  return last === undefined ? [] : [last];
}

function toReference(
  holder: JsonObject,
  claims: readonly LocatedClaim[],
  admitted: (fact: string) => readonly string[],
): HandleReference {
  const fact_ids = claims.flatMap(({ claim }) => claim.fact_id ?? []);
  const [first = '', ...others] = fact_ids;
  const shared = admitted(first).filter((chunk) => others.every((fact) => admitted(fact).includes(chunk)));
  const known = isLeftOut(holder) && shared.length === 1 ? shared[0] : undefined;
  const { surface = '', text = '' } = claims[0]?.claim ?? {};
  return { fact_ids, surface, text, path: pathOf(claims[0], surface), allowed_evidence_chunk_id: known ?? null };
}

/** An empty handle is an answer, not a gap. */
function isLeftOut({ evidence_chunk_id }: JsonObject): boolean {
  return evidence_chunk_id === undefined || evidence_chunk_id === null;
}

function pathOf(located: LocatedClaim | undefined, surface: string): string {
  const item = located?.at === undefined ? '' : `[${located.at}]`;
  return `${surface}${item}.evidence_chunk_id`;
}
