// Owns the score of one completion against a truncation fixture (seed 003, claim-aware scorer; notes 6.2): five parts, their weights, the
// lists behind them. Does not ask a model. Invariant: equal input, equal score; every score lies in 0..1 and is rounded half to even.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { roundHalfEven } from '#base/number/round-half-even.ts';
import { judgeV1 } from './judge-v1.ts';
import { judgeV2 } from './judge-v2.ts';
import type { Judgement } from './judgement.ts';
import { readCompletion } from './read-completion.ts';
import { readScoreFixture, type ScoreFact, type ScoreFixture } from './score-fixture.ts';

export type ScoreVersion = 'v1' | 'v2';

export interface ScoreRequest {
  /** A fixture as notes 6.1 describes it; what it leaves out is not asked for. */
  readonly fixture: unknown;
  /** The completion as text (bare JSON) or as data. */
  readonly completion: unknown;
  /** `v1`, the default, is the original's judgement with its holes; `v2` closes them. */
  readonly version?: ScoreVersion;
}

export interface CompletionScore {
  readonly schema_version: string;
  readonly scoring_method: string;
  readonly score: number;
  readonly required_field_score: number;
  readonly confidence_score: number;
  readonly retained_fact_citation_score: number;
  readonly truncation_boundary_score: number;
  readonly omitted_fact_safety_score: number;
  readonly required_fields_present: readonly string[];
  readonly required_fields_missing: readonly string[];
  readonly cited_retained_fact_ids: readonly string[];
  readonly missing_retained_fact_ids: readonly string[];
  readonly cited_selected_chunk_ids: readonly string[];
  readonly cited_omitted_chunk_ids: readonly string[];
  readonly claimed_omitted_fact_ids: readonly string[];
  readonly reports_truncation_boundary: boolean;
  /** As the completion states it; null when it states no number. */
  readonly confidence: number | null;
  /** Null, or why the completion is no JSON object; every part is then 0. */
  readonly parse_error: string | null;
}

const JUDGES = { v1: judgeV1, v2: judgeV2 } as const;

export function scoreCompletion({ fixture, completion, version = 'v1' }: ScoreRequest): CompletionScore {
  const rules = readScoreFixture(isJsonObject(fixture) ? fixture : {});
  const read = readCompletion(completion);
  if (!read.ok) return unreadable(rules, version, read.detail);
  return judged(rules, { completion: read.value, judgement: JUDGES[version](rules, read.value), version });
}

function judged(
  rules: ScoreFixture,
  {
    completion,
    judgement,
    version,
  }: { readonly completion: JsonObject; readonly judgement: Judgement; readonly version: ScoreVersion },
): CompletionScore {
  const present = rules.requiredFields.filter(
    (field) => Object.hasOwn(completion, field) && completion[field] !== undefined,
  );
  const confidence = typeof completion.confidence === 'number' ? completion.confidence : null;
  const kept = rules.requiredFacts.filter(judgement.supported);
  const claimed = rules.omittedFacts.filter(judgement.claimed);
  const citedOmitted = rules.omittedChunkIds.filter(judgement.citedOmitted);
  return {
    ...head(version),
    ...scores([
      share(present.length, rules.requiredFields.length),
      confidenceShare(confidence, rules.minimumConfidence),
      share(kept.length, rules.requiredFacts.length),
      judgement.reportsBoundary ? 1 : 0,
      claimed.length + citedOmitted.length === 0 ? 1 : 0,
    ]),
    required_fields_present: present,
    required_fields_missing: rules.requiredFields.filter((field) => !present.includes(field)),
    cited_retained_fact_ids: ids(kept),
    missing_retained_fact_ids: ids(rules.requiredFacts.filter((fact) => !kept.includes(fact))),
    cited_selected_chunk_ids: rules.selectedChunkIds.filter(judgement.cited),
    cited_omitted_chunk_ids: citedOmitted,
    claimed_omitted_fact_ids: ids(claimed),
    reports_truncation_boundary: judgement.reportsBoundary,
    confidence,
    parse_error: null,
  };
}

function unreadable(rules: ScoreFixture, version: ScoreVersion, parseError: string): CompletionScore {
  return {
    ...head(version),
    ...scores([0, 0, 0, 0, 0]),
    required_fields_present: [],
    required_fields_missing: rules.requiredFields,
    cited_retained_fact_ids: [],
    missing_retained_fact_ids: ids(rules.requiredFacts),
    cited_selected_chunk_ids: [],
    cited_omitted_chunk_ids: [],
    claimed_omitted_fact_ids: [],
    reports_truncation_boundary: false,
    confidence: null,
    parse_error: parseError,
  };
}

function head(version: ScoreVersion): Pick<CompletionScore, 'schema_version' | 'scoring_method'> {
  return {
    schema_version: 'rlm.vanilla_baseline.quality.v1',
    scoring_method: `truncation_fixture_requirements_${version}`,
  };
}

type Parts = readonly [fields: number, confidence: number, retained: number, boundary: number, safety: number];

/** The order of the sum is the original's: another order rounds differently. */
function scores([fields, confidence, retained, boundary, safety]: Parts): Pick<
  CompletionScore,
  `${string}score` & keyof CompletionScore
> {
  return {
    score: rounded(0.2 * fields + 0.15 * confidence + 0.35 * retained + 0.1 * boundary + 0.2 * safety),
    required_field_score: rounded(fields),
    confidence_score: rounded(confidence),
    retained_fact_citation_score: rounded(retained),
    truncation_boundary_score: boundary,
    omitted_fact_safety_score: safety,
  };
}

function confidenceShare(confidence: number | null, minimum: number): number {
  if (confidence === null) return 0;
  return minimum <= 0 ? 1 : clamp(confidence / minimum);
}

/** Nothing asked for is wholly given. */
function share(given: number, asked: number): number {
  return asked === 0 ? 1 : given / asked;
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}

function rounded(value: number): number {
  return roundHalfEven(value, 4);
}

function ids(facts: readonly ScoreFact[]): readonly string[] {
  return facts.map((fact) => fact.fact_id);
}
