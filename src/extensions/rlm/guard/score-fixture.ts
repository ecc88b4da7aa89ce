// Owns what a truncation fixture asks of a completion (seed 003, claim-aware scorer; notes 6.1): fields, confidence, facts, chunks, boundary.
// Does not know how a completion is judged. Invariant: lists keep the fixture's order, each id once; what is malformed is left out.

import { isJsonObject, type JsonObject, type JsonValue, objectsOf } from '#base/json.ts';
import { chunkIdOf, FACT_LISTS, factIdsOf, surfacesOf, TEXT_FIELDS } from './read-claims.ts';

export interface ScoreFact {
  readonly fact_id: string;
  /** Null when the fixture asks for a fact that it does not declare: nothing can support it. */
  readonly chunk_id: string | null;
  readonly text: string;
}

export interface ScoreFixture {
  readonly requiredFields: readonly string[];
  readonly minimumConfidence: number;
  readonly requiredFacts: readonly ScoreFact[];
  readonly omittedFacts: readonly ScoreFact[];
  readonly selectedChunkIds: readonly string[];
  readonly omittedChunkIds: readonly string[];
  /** Numbers that the report of the boundary has to name; empty when the fixture declares none. */
  readonly boundary: Boundary;
}

export interface Boundary {
  readonly last_retained_line: number | null;
  readonly omitted_line_count: number | null;
}

const DEFAULT_FIELDS = ['mode', 'verdict', 'confidence', 'result', 'evidence_references', 'residual_gaps'];

export function readScoreFixture(fixture: JsonObject): ScoreFixture {
  const requirements = objectsOf(fixture.completion_requirements);
  const config = isJsonObject(fixture.truncation_config) ? fixture.truncation_config : {};
  const fields = named(requirements, 'required_output_fields');
  return {
    requiredFields: fields.length > 0 ? fields : DEFAULT_FIELDS,
    minimumConfidence: Math.max(0, ...requirements.map((row) => numberOr(row.minimum_confidence, 0))),
    requiredFacts: requiredFacts(named(requirements, 'required_fact_ids'), facts(fixture.expected_retained_facts)),
    omittedFacts: facts(fixture.expected_omitted_facts),
    selectedChunkIds: strings(config.expected_selected_chunk_ids),
    omittedChunkIds: strings(config.expected_omitted_chunk_ids),
    boundary: readBoundary([config, ...requirements].map((row) => row.truncation_boundary).find(isJsonObject) ?? {}),
  };
}

/** Without a list of its own the fixture asks for every fact that it keeps. */
function requiredFacts(ids: readonly string[], retained: readonly ScoreFact[]): readonly ScoreFact[] {
  if (ids.length === 0) return retained;
  const known = new Map(retained.map((fact) => [fact.fact_id, fact]));
  return ids.map((id) => known.get(id) ?? { fact_id: id, chunk_id: null, text: '' });
}

function readBoundary(boundary: JsonObject): Boundary {
  return {
    last_retained_line: numberOr(boundary.last_retained_line, null),
    omitted_line_count: numberOr(boundary.omitted_line_count, null),
  };
}

/** Later declarations of one id win, at the place of the first. */
function facts(value: JsonValue | undefined): readonly ScoreFact[] {
  const byId = new Map<string, ScoreFact>();
  for (const fact of objectsOf(value)) {
    const { fact_id, chunk_id, text } = fact;
    if (typeof fact_id !== 'string' || fact_id === '') continue;
    byId.set(fact_id, {
      fact_id,
      chunk_id: typeof chunk_id === 'string' && chunk_id !== '' ? chunk_id : null,
      text: typeof text === 'string' ? text : '',
    });
  }
  return [...byId.values()];
}

function named(requirements: readonly JsonObject[], key: string): readonly string[] {
  return [...new Set(requirements.flatMap((row) => strings(row[key])))];
}

function strings(value: JsonValue | undefined): readonly string[] {
  if (!Array.isArray(value)) return [];
  return [...new Set(value.filter((item): item is string => typeof item === 'string' && item !== ''))];
}

function numberOr<D>(value: JsonValue | undefined, otherwise: D): number | D {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}

export interface Judgement {
  /** A fact that has to be kept is stated with its chunk. */
  supported(fact: ScoreFact): boolean;
  /** A fact beyond the cut is stated as if it had been read. */
  claimed(fact: ScoreFact): boolean;
  /** A chunk within the cut is cited as evidence. */
  cited(chunkId: string): boolean;
  /** A chunk beyond the cut is cited as evidence. */
  citedOmitted(chunkId: string): boolean;
  readonly reportsBoundary: boolean;
}

export interface Entry {
  readonly factIds: readonly string[];
  readonly chunkId: string | null;
  readonly text: string;
  /** Among the evidence references. */
  readonly isReference: boolean;
}

export function readEntries(completion: JsonObject): readonly Entry[] {
  return surfacesOf(completion).flatMap(({ name, items }) =>
    items.filter(isJsonObject).map((item) => {
      const texts = TEXT_FIELDS.map((key) => item[key]).filter((text) => typeof text === 'string' && text !== '');
      const isReference = name === 'evidence_references';
      return { factIds: factIdsOf(item), chunkId: chunkIdOf(item), text: texts.join('\n'), isReference };
    }),
  );
}

/** The completion without those objects of the five lists that name a fact of `factIds`. */
export function withoutClaims(completion: JsonObject, factIds: ReadonlySet<string>): JsonObject {
  const { result } = completion;
  if (!isJsonObject(result)) return completion;
  const isKept = (item: JsonValue): boolean => !isJsonObject(item) || !factIdsOf(item).some((id) => factIds.has(id));
  const kept = FACT_LISTS.map((key) => [key, items(result[key]).filter(isKept)] as const);
  return { ...completion, result: { ...result, ...Object.fromEntries(kept) } };
}

function items(value: JsonValue | undefined): readonly JsonValue[] {
  if (isJsonObject(value)) return [value];
  return Array.isArray(value) ? value : [];
}

export const GUARD_PHRASES: readonly string[] = [
  'cannot be claimed',
  'cannot claim',
  'not be claimed',
  'not claimed',
  'no facts from omitted',
  'not available',
  'not asserted',
  'not supplied',
  'outside retained context',
  'outside the retained context',
  'outside supplied context',
  'outside the supplied context',
  'omitted chunks were outside',
  'if present',
  'if any',
  'not observed',
  'not cited',
  'do not claim',
  'does not claim',
];
