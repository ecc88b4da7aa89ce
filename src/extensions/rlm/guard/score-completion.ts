// Owns the score of one completion against a truncation fixture (seed 003, claim-aware scorer; notes 6.2): five parts, their weights, the
// lists behind them. Does not ask a model. Invariant: equal input, equal score; every score lies in 0..1 and is rounded half to even.
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { roundHalfEven } from '#base/round-half-even.ts';
import { judgeV2 } from './judge-v2.ts';
import { type Judgement, readScoreFixture, type ScoreFact } from './score-fixture.ts';
import { judgeV1 } from './v1.ts';

export type ScoreVersion = 'v1' | 'v2';

export interface ScoreRequest {
  /** A fixture as notes 6.1 describes it; what it leaves out is not asked for. */
  readonly fixture: unknown;
  /** The completion as text (bare JSON) or as data. */
  readonly completion: unknown;
  /** `v1`, the default, is the original's judgement with its holes; `v2` closes them. */
  readonly version?: ScoreVersion;
}

export type CompletionScore = ReturnType<typeof scoreCompletion>;

const JUDGES = { v1: judgeV1, v2: judgeV2 } as const;

/** What an unreadable completion does: nothing. */
const SILENT: Judgement = {
  supported: () => false,
  claimed: () => false,
  cited: () => false,
  citedOmitted: () => false,
  reportsBoundary: false,
};

export function scoreCompletion({ fixture, completion, version = 'v1' }: ScoreRequest) {
  const rules = readScoreFixture(isJsonObject(fixture) ? fixture : {});
  const read = readCompletion(completion);
  const said = read.ok ? read.value : {};
  const judgement = read.ok ? JUDGES[version](rules, read.value) : SILENT;
  const present = rules.requiredFields.filter((field) => Object.hasOwn(said, field) && said[field] !== undefined);
  const confidence = typeof said.confidence === 'number' ? said.confidence : null;
  const kept = rules.requiredFacts.filter(judgement.supported);
  const claimed = rules.omittedFacts.filter(judgement.claimed);
  const citedOmitted = rules.omittedChunkIds.filter(judgement.citedOmitted);
  const parts: Parts = [
    share(present.length, rules.requiredFields.length),
    confidenceShare(confidence, rules.minimumConfidence),
    share(kept.length, rules.requiredFacts.length),
    judgement.reportsBoundary ? 1 : 0,
    claimed.length + citedOmitted.length === 0 ? 1 : 0,
  ];
  return {
    schema_version: 'rlm.vanilla_baseline.quality.v1',
    scoring_method: `truncation_fixture_requirements_${version}`,
    ...scores(read.ok ? parts : [0, 0, 0, 0, 0]),
    required_fields_present: present,
    required_fields_missing: rules.requiredFields.filter((field) => !present.includes(field)),
    cited_retained_fact_ids: ids(kept),
    missing_retained_fact_ids: ids(rules.requiredFacts.filter((fact) => !kept.includes(fact))),
    cited_selected_chunk_ids: rules.selectedChunkIds.filter(judgement.cited),
    cited_omitted_chunk_ids: citedOmitted,
    claimed_omitted_fact_ids: ids(claimed),
    reports_truncation_boundary: judgement.reportsBoundary,
    /** As the completion states it; null when it states no number. */
    confidence,
    /** Null, or why the completion is no JSON object; every part is then 0. */
    parse_error: read.ok ? null : read.detail,
  };
}

type Parts = readonly [fields: number, confidence: number, retained: number, boundary: number, safety: number];

/** The order of the sum is the original's: another order rounds differently. */
function scores([fields, confidence, retained, boundary, safety]: Parts) {
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

const MAX_NESTING = 500;

function readCompletion(completion: unknown): Result<JsonObject, 'not_json' | 'not_an_object' | 'too_deep'> {
  const parsed = typeof completion === 'string' ? parseJson(completion) : ok(completion);
  if (!parsed.ok) return refuse('not_json', 'completion is not valid JSON');
  if (!isJsonObject(parsed.value)) return refuse('not_an_object', 'completion is not a JSON object');
  if (isDeeper(parsed.value)) return refuse('too_deep', `completion is nested deeper than ${MAX_NESTING} levels`);
  return ok(parsed.value);
}

function isDeeper(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_NESTING) return true;
    level = level
      .filter((item) => typeof item === 'object' && item !== null)
      .flatMap((item) => Object.values(item as object));
  }
  return false;
}
