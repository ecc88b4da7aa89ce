// Owns where a parent synthesis makes claims and what each of them names. Knows no manifest: it reads, others judge.
// Invariant: total on any value, linear; order as the surfaces are listed. Seed 003, notes 2.2.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';

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
  /** Of a list; what is none stands alone. */
  readonly items: readonly JsonValue[];
  readonly isList: boolean;
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
  const add = (name: string, value: JsonValue | undefined): void => {
    if (Array.isArray(value)) surfaces.push({ name, items: value, isList: true });
    else if (value !== undefined) surfaces.push({ name, items: [value], isList: false });
  };
  if (isJsonObject(result)) {
    for (const key of FACT_LISTS) if (result[key] !== undefined) add(`result.${key}`, result[key]);
    if (typeof result.fact_id === 'string') add('result', result);
  }
  add('evidence_references', evidence_references);
  return surfaces;
}

/** Strict: the summary of a result that is itself a claim is prose and no part of its text. */
export function readClaims(synthesis: unknown, mode: GuardMode = 'v1'): readonly LocatedClaim[] {
  const claims: LocatedClaim[] = [];
  const prose = mode === 'v1' ? undefined : 'result';
  for (const { name: surface, items, isList } of surfacesOf(synthesis)) {
    for (let place = 0; place < items.length; place += 1) {
      const holder = items[place];
      const at = isList ? place : undefined;
      if (isJsonObject(holder)) pushClaims(claims, { holder, at }, surface, surface !== prose);
    }
  }
  return claims;
}

/** One claim for each fact that the object names; of none, one when it names a chunk. */
function pushClaims(
  claims: LocatedClaim[],
  { holder, at }: Pick<LocatedClaim, 'holder' | 'at'>,
  surface: string,
  withSummary: boolean,
): void {
  const facts = factIdsOf(holder);
  const chunk_id = chunkIdOf(holder);
  if (facts.length === 0 && chunk_id === null) return;
  const text = textOf(holder, withSummary);
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

export interface ParentClaim {
  readonly fact_id: string | null;
  readonly chunk_id: string | null;
  /** Where it stands: `result.retained_facts`, `result`, `evidence_references`, …; of what is no claim the key that holds it. */
  readonly surface: string;
  /** The texts of the object, one a line. */
  readonly text: string;
}

export type RejectionReason =
  | 'chunk_handle_without_fact'
  | 'unsupported_fact_id'
  | 'missing_evidence_handle'
  | 'evidence_handle_mismatch'
  /** From here on strict mode only. */
  | 'evidence_text_mismatch'
  | 'claim_outside_schema'
  | 'missing_required_fact'
  | 'no_claims';

export interface RejectedClaim {
  readonly reason: RejectionReason;
  readonly claim: ParentClaim;
  /** One sentence that names what failed. */
  readonly detail: string;
}

export interface Validation {
  readonly accepted: boolean;
  /** Rejected over all, 0 to 1, four decimals; 0 when there is none. */
  readonly unsupported_claim_rate: number;
  readonly accepted_claims: readonly ParentClaim[];
  readonly rejected_claims: readonly RejectedClaim[];
  readonly allowed_fact_ids: readonly string[];
  readonly allowed_chunk_ids: readonly string[];
}

/** `strict` closes the original's holes (notes 2.5); `v1` is the original. */
export type GuardMode = 'strict' | 'v1';
