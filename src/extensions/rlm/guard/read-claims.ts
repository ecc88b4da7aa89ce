// Owns where a parent synthesis makes claims and what each of them names. Knows no manifest: it reads, others judge.
// Invariant: total on any value, linear; order as the surfaces are listed. Seed 003, notes 2.2.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { GuardMode, ParentClaim } from './parent-claim.ts';

/** Lists of facts under `result`. */
export const FACT_LISTS: readonly string[] = [
  'retained_facts',
  'observed_facts',
  'facts',
  'retained_evidence',
  'observed_evidence',
];
export const TEXT_FIELDS: readonly string[] = ['quoted_evidence', 'text', 'statement', 'claim', 'summary'];
export const CHUNK_FIELDS: readonly string[] = ['chunk_id', 'evidence_chunk_id', 'source_chunk_id'];
export const FACT_FIELDS: readonly string[] = ['fact_id', 'supports_fact_id'];
export const FACT_LIST_FIELDS: readonly string[] = ['fact_ids', 'supports_fact_ids', 'supported_fact_ids'];

/** A place where claims are looked for, and what stands there. */
export interface Surface {
  /** As shown: `result.facts`. */
  readonly name: string;
  readonly value: JsonValue;
}

export interface LocatedClaim {
  readonly claim: ParentClaim;
  /** The object that makes it. */
  readonly holder: JsonObject;
  /** Its place in the list; undefined when it is no item of a list. */
  readonly at: number | undefined;
}

export function surfacesOf(synthesis: unknown): readonly Surface[] {
  if (!isJsonObject(synthesis)) return [];
  const { result, evidence_references } = synthesis;
  const surfaces: Surface[] = [];
  if (isJsonObject(result)) {
    for (const key of FACT_LISTS) {
      const value = result[key];
      if (value !== undefined) surfaces.push({ name: `result.${key}`, value });
    }
    if (typeof result.fact_id === 'string') surfaces.push({ name: 'result', value: result });
  }
  if (evidence_references !== undefined) surfaces.push({ name: 'evidence_references', value: evidence_references });
  return surfaces;
}

/** Strict: the summary of a result that is itself a claim is prose and no part of its text. */
export function readClaims(synthesis: unknown, mode: GuardMode = 'v1'): readonly LocatedClaim[] {
  const claims: LocatedClaim[] = [];
  for (const { name, value } of surfacesOf(synthesis)) {
    if (isJsonObject(value)) pushClaims(claims, { surface: name, holder: value, at: undefined }, mode);
    else if (Array.isArray(value)) {
      for (let at = 0; at < value.length; at += 1) {
        const holder: JsonValue = value[at];
        if (isJsonObject(holder)) pushClaims(claims, { surface: name, holder, at }, mode);
      }
    }
  }
  return claims;
}

interface Place {
  readonly surface: string;
  readonly holder: JsonObject;
  readonly at: number | undefined;
}

/** One claim for each fact that the object names; of none, one when it names a chunk. */
function pushClaims(claims: LocatedClaim[], { surface, holder, at }: Place, mode: GuardMode): void {
  const facts = factIdsOf(holder);
  const chunk_id = chunkIdOf(holder);
  if (facts.length === 0 && chunk_id === null) return;
  const text = textOf(holder, mode === 'v1' || surface !== 'result');
  if (facts.length === 0) claims.push({ claim: { fact_id: null, chunk_id, surface, text }, holder, at });
  for (const fact_id of facts) claims.push({ claim: { fact_id, chunk_id, surface, text }, holder, at });
}

export function factIdsOf(holder: JsonObject): readonly string[] {
  const ids: string[] = [];
  for (const field of FACT_FIELDS) pushName(ids, holder[field]);
  for (const field of FACT_LIST_FIELDS) {
    const list = holder[field];
    if (Array.isArray(list)) for (const id of list) pushName(ids, id);
  }
  return ids.length > 1 ? [...new Set(ids)] : ids;
}

function pushName(names: string[], value: unknown): void {
  if (typeof value === 'string' && value !== '') names.push(value);
}

export function chunkIdOf(holder: JsonObject): string | null {
  for (const field of CHUNK_FIELDS) {
    const value = holder[field];
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}

function textOf(holder: JsonObject, withSummary: boolean): string {
  let text = '';
  for (const field of TEXT_FIELDS) {
    const value = withSummary || field !== 'summary' ? holder[field] : undefined;
    if (typeof value === 'string' && value !== '') text = text === '' ? value : `${text}\n${value}`;
  }
  return text;
}
