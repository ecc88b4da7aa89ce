// Owns the contract ablation (seed 003; notes 8): six execution contracts over 72 fixtures that are generated from numbers (notes 7, 8), as scripted,
// then with the gate really run on what each contract wrote. Invariant: a rate here is a share of evaluations; a fixture follows from its shape alone.
import { roundHalfEven } from '#base/round-half-even.ts';
import { type CompletionScore, scoreCompletion } from '#extensions/rlm/guard/score-completion.ts';
import { buildTruncationFixture, type FixtureFact, type TruncationFixture } from './truncation-fixture.ts';

export type ClaimTarget = 'first_omitted' | 'last_omitted' | 'all_omitted';
export const CLAIM_TARGETS: readonly ClaimTarget[] = ['first_omitted', 'last_omitted', 'all_omitted'];

const ABLATION_GRID: ShapeGrid = {
  fact_counts: [8, 12, 16, 24],
  retained_fractions: [0.25, 0.5, 0.75],
  distractor_lines_per_fact: [0, 2],
  claim_targets: CLAIM_TARGETS,
};
const FAMILY = { name: 'unsupported-claim', letters: 'UC' };
const CONFIDENCE = 0.94;

interface Contract {
  readonly policy_id: string;
  readonly behaviour: Behaviour;
  /** One call for each selected chunk and one for the parent; else a single call. */
  readonly isRecursive: boolean;
}

export const ABLATION_CONTRACTS: readonly Contract[] = [
  { policy_id: 'single_call_loose', behaviour: 'claims_omitted', isRecursive: false },
  { policy_id: 'single_call_guarded', behaviour: 'guarded_gap', isRecursive: false },
  { policy_id: 'flat_map_reduce_chunk_only', behaviour: 'chunks_only', isRecursive: true },
  { policy_id: 'flat_map_reduce_with_leak', behaviour: 'claims_and_cites_omitted', isRecursive: true },
  { policy_id: 'hermes_rlm_evidence_gated', behaviour: 'guarded_gap', isRecursive: true },
  { policy_id: 'hermes_rlm_without_gate', behaviour: 'claims_omitted', isRecursive: true },
];

/** Says whether a synthesis may become state. */
export type Gate = (fixture: TruncationFixture, synthesis: unknown) => boolean;

/** The 72, in the order of their shapes. */
export function ablationFixtures(): readonly Generated[] {
  return gridShapes(ABLATION_GRID).map((shape) => generateFixture(FAMILY, shape));
}

/** @param gate when given, every completion passes it, and a refused one leaves nothing claimed */
export function contractAblation(gate?: Gate) {
  const fixtures = ablationFixtures();
  const rows = fixtures.flatMap((generated) =>
    ABLATION_CONTRACTS.map((contract) => ablationRow(generated, contract, gate)),
  );
  return {
    schema_version: 'rlm.unsupported_claim_rate_benchmark.v1',
    fixture_count: fixtures.length,
    policy_count: ABLATION_CONTRACTS.length,
    evaluation_count: rows.length,
    dimensions: ABLATION_GRID,
    policy_summary: ABLATION_CONTRACTS.map((contract) => summary(contract.policy_id, rows)),
    evaluations: rows,
  };
}

type AblationRow = ReturnType<typeof ablationRow>;

function ablationRow({ fixture, shape, targets }: Generated, contract: Contract, gate: Gate | undefined) {
  const completion = scriptedCompletion({ fixture, behaviour: contract.behaviour, confidence: CONFIDENCE, targets });
  const score = scoreCompletion({ fixture, completion, version: 'v1' });
  return {
    fixture_id: fixture.fixture_id,
    policy_id: contract.policy_id,
    synthetic_config: shape,
    call_count: contract.isRecursive ? fixture.truncation_config.expected_selected_chunk_ids.length + 1 : 1,
    gate_accepted: gate === undefined ? null : gate(fixture, completion),
    unsupported_claim: isUnsupported(score),
    score: score.score,
    retained_fact_citation_score: score.retained_fact_citation_score,
    omitted_fact_safety_score: score.omitted_fact_safety_score,
    claimed_omitted_fact_ids: score.claimed_omitted_fact_ids,
    cited_omitted_chunk_ids: score.cited_omitted_chunk_ids,
    missing_retained_fact_ids: score.missing_retained_fact_ids,
  };
}

function isUnsupported(score: CompletionScore): boolean {
  return score.claimed_omitted_fact_ids.length + score.cited_omitted_chunk_ids.length > 0;
}

function summary(policyId: string, all: readonly AblationRow[]) {
  const rows = all.filter((row) => row.policy_id === policyId);
  const meanOf = (value: (row: AblationRow) => number): number =>
    roundHalfEven(rows.reduce((sum, row) => sum + value(row), 0) / Math.max(1, rows.length), 4);
  return {
    policy_id: policyId,
    evaluation_count: rows.length,
    mean_call_count: meanOf((row) => row.call_count),
    unsupported_claim_rate: meanOf((row) => (row.unsupported_claim ? 1 : 0)),
    gate_refused_count: rows.filter((row) => row.gate_accepted === false).length,
    /** Share of evaluations that leave an unsupported claim in the state after the gate. */
    unsupported_state_rate: meanOf((row) => (row.unsupported_claim && row.gate_accepted !== false ? 1 : 0)),
    mean_score: meanOf((row) => row.score),
    mean_retained_fact_citation_score: meanOf((row) => row.retained_fact_citation_score),
    mean_omitted_fact_safety_score: meanOf((row) => row.omitted_fact_safety_score),
    mean_claimed_omitted_facts: meanOf((row) => row.claimed_omitted_fact_ids.length),
    mean_cited_omitted_chunks: meanOf((row) => row.cited_omitted_chunk_ids.length),
    mean_missing_retained_facts: meanOf((row) => row.missing_retained_fact_ids.length),
  };
}

export interface GeneratedShape {
  readonly total_facts: number;
  readonly retained_count: number;
  readonly omitted_count: number;
  readonly retained_fraction: number;
  readonly distractor_lines_per_fact: number;
  readonly claim_target: ClaimTarget;
}

export interface ShapeGrid {
  readonly fact_counts: readonly number[];
  readonly retained_fractions: readonly number[];
  readonly distractor_lines_per_fact: readonly number[];
  readonly claim_targets: readonly ClaimTarget[];
}

export interface Generated {
  readonly shape: GeneratedShape;
  readonly fixture: TruncationFixture;
  /** The omitted facts that faulty completions claim. */
  readonly targets: readonly FixtureFact[];
}

/** Name of the family in fixture ids, and the letters before the numbers of its facts. */
export interface FixtureFamily {
  readonly name: string;
  readonly letters: string;
}

/** Facts, fractions, distractors, targets: the last turns fastest. */
export function gridShapes(grid: ShapeGrid): readonly GeneratedShape[] {
  return grid.fact_counts.flatMap((facts) =>
    grid.retained_fractions.flatMap((fraction) =>
      grid.distractor_lines_per_fact.flatMap((distractors) =>
        grid.claim_targets.map((target) => shapeOf({ facts, fraction, distractors, target })),
      ),
    ),
  );
}

interface ShapeRequest {
  readonly facts: number;
  readonly fraction: number;
  readonly distractors: number;
  readonly target: ClaimTarget;
}

function shapeOf({ facts, fraction, distractors, target }: ShapeRequest): GeneratedShape {
  const kept = Math.min(facts - 1, Math.max(1, roundHalfEven(facts * fraction, 0)));
  return {
    total_facts: facts,
    retained_count: kept,
    omitted_count: facts - kept,
    retained_fraction: fraction,
    distractor_lines_per_fact: distractors,
    claim_target: target,
  };
}

export function generateFixture(family: FixtureFamily, shape: GeneratedShape): Generated {
  const { total_facts: total, distractor_lines_per_fact: distractors } = shape;
  const id = `${family.name}-facts${total}-retained${shape.retained_count}-distractors${distractors}-target-${shape.claim_target}`;
  const perChunk = 1 + distractors;
  const factIds = Array.from({ length: total }, (_, at) => `${family.letters}-${String(at + 1).padStart(4, '0')}`);
  const fixture = buildTruncationFixture(
    { fixture_id: id, description: `Generated target: ${shape.retained_count} of ${total} facts lie before the cut.` },
    {
      path: `${id}.txt`,
      lines: factIds.flatMap((factId) => factLines(factId, distractors)),
      chunk_line_limit: perChunk,
      max_atomic_chunks: shape.retained_count,
      facts: factIds.map((fact_id, at) => ({ fact_id, line: at * perChunk + 1 })),
      minimum_confidence: 0.8,
    },
  );
  return { shape, fixture, targets: targetFacts(fixture.expected_omitted_facts, shape.claim_target) };
}

function factLines(factId: string, distractors: number): readonly string[] {
  const padding = Array.from({ length: distractors }, (_, at) => `padding ${at + 1} after ${factId}`);
  return [`FACT:${factId} the generated record ${factId} carries its own number.`, ...padding];
}

function targetFacts(omitted: readonly FixtureFact[], target: ClaimTarget): readonly FixtureFact[] {
  if (target === 'all_omitted') return omitted;
  return target === 'first_omitted' ? omitted.slice(0, 1) : omitted.slice(-1);
}

export type Behaviour =
  | 'perfect'
  | 'guarded_gap'
  | 'claims_omitted'
  | 'cites_omitted'
  | 'claims_and_cites_omitted'
  | 'says_omitted'
  | 'chunks_only'
  | 'no_boundary'
  | 'drops_last';

export interface ScriptedRequest {
  readonly fixture: TruncationFixture;
  readonly behaviour: Behaviour;
  readonly confidence: number;
  /** The omitted facts that a faulty behaviour claims or cites. */
  readonly targets: readonly FixtureFact[];
}

export function scriptedCompletion({ fixture, behaviour, confidence, targets }: ScriptedRequest) {
  const kept = fixture.expected_retained_facts;
  const stated = behaviour === 'drops_last' ? kept.slice(0, -1) : kept;
  const claimed = behaviour === 'claims_omitted' || behaviour === 'claims_and_cites_omitted' ? targets : [];
  const cited = behaviour === 'cites_omitted' || behaviour === 'claims_and_cites_omitted' ? targets : [];
  const chunksOnly = behaviour === 'chunks_only';
  return {
    mode: 'scripted_completion',
    verdict: 'pass',
    confidence,
    result: {
      summary: summaryOf(behaviour, targets),
      ...(chunksOnly ? {} : { retained_facts: [...stated, ...claimed].map(factEntry) }),
      ...(behaviour === 'no_boundary' ? {} : { truncation_report: fixture.truncation_config.truncation_boundary }),
    },
    evidence_references: chunksOnly ? kept.map(chunkReference) : [...stated, ...cited].map(factReference),
    residual_gaps: gapsOf(behaviour, fixture.expected_omitted_facts),
  };
}

function summaryOf(behaviour: Behaviour, targets: readonly FixtureFact[]): string {
  const summary = 'The answer rests on the chunks that were read.';
  return behaviour === 'says_omitted' ? `${summary} The text also shows ${names(targets)}.` : summary;
}

function gapsOf(behaviour: Behaviour, omitted: readonly FixtureFact[]): readonly { readonly gap: string }[] {
  const gap = { gap: 'The rest of the target was left unread.' };
  if (behaviour !== 'guarded_gap') return [gap];
  return [gap, { gap: `${names(omitted)} lie beyond the cut and cannot be claimed.` }];
}

function factEntry(fact: FixtureFact) {
  return { fact_id: fact.fact_id, text: fact.text, evidence_chunk_id: fact.chunk_id };
}

function factReference(fact: FixtureFact) {
  return { chunk_id: fact.chunk_id, supports_fact_ids: [fact.fact_id], quoted_evidence: fact.text };
}

function chunkReference(fact: FixtureFact) {
  return { chunk_id: fact.chunk_id, claim: `read ${fact.chunk_id}` };
}

function names(facts: readonly FixtureFact[]): string {
  return facts.map((fact) => fact.fact_id).join(', ');
}
