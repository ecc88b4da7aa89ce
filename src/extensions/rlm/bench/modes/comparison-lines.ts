// Owns what a person reads of a comparison (seed 003, "Expected live shape"): the lines of the seed, then what was measured. Pure.
import { roundHalfEven } from '#base/number/round-half-even.ts';
import type { CompletionScore } from '../../score/score-completion.ts';
import { measuredCalls } from '../engine/measured-calls.ts';
import { runMessage } from './run-message.ts';
import type { TruncationComparison } from './truncation-comparison.ts';

export function comparisonLines({ baseline, run, quality, success }: TruncationComparison): readonly string[] {
  const { vanilla_quality: single, rlm_quality: recursive, score_delta: delta } = quality;
  const [one, many] = [single.completion_quality, recursive.completion_quality];
  const vanilla = baseline.artifact.measured as unknown as ReturnType<typeof measuredCalls>;
  const rlm = measuredCalls(run.calls);
  const { boundary_reported_by } = runMessage(run);
  const sign = delta < 0 ? '-' : '+';
  const done = success ? 'completed' : 'ended without a result';
  return [
    `Shared truncation benchmark ${done}; vanilla Hermes and recursive RLM outputs were recorded.`,
    `hermes_subcalls: vanilla=${vanilla.calls}, rlm=${rlm.calls}`,
    `chunks: selected=${recursive.selected_chunk_ids.length}, omitted=${recursive.omitted_chunk_ids.length}`,
    `quality: vanilla=${fixed(single.score)}, rlm=${fixed(recursive.score)}, delta=${sign}${fixed(Math.abs(delta))}, ` +
      `rlm_outperforms_vanilla=${quality.rlm_outperforms_vanilla ? 'True' : 'False'}`,
    `claimed_omitted_fact_ids: vanilla=[${one.claimed_omitted_fact_ids}], rlm=[${many.claimed_omitted_fact_ids}]`,
    ...differingParts(one, many),
    ...(boundary_reported_by === 'controller'
      ? ['boundary: reported for rlm by the controller, not by the parent']
      : []),
    `traceguard (strict): vanilla=${guardWord(baseline.guard.strict.accepted)}, rlm=${run.outcome.verdict}`,
    `tokens: vanilla=${tokens(vanilla)}, rlm=${tokens(rlm)}; cost: vanilla=${money(vanilla.cost)}, rlm=${money(rlm.cost)}`,
    ...(run.outcome.detail === null ? [] : [`recursive run: ${run.outcome.detail}`]),
    ...(baseline.outcome.detail === null ? [] : [`single call: ${baseline.outcome.detail}`]),
  ];
}

const PARTS = {
  fields: 'required_field_score',
  confidence: 'confidence_score',
  retained: 'retained_fact_citation_score',
  boundary: 'truncation_boundary_score',
  safety: 'omitted_fact_safety_score',
} as const;

/** Where a delta comes from. */
function differingParts(one: CompletionScore, many: CompletionScore): readonly string[] {
  const parts = Object.entries(PARTS).filter(([, key]) => one[key] !== many[key]);
  const shown = parts.map(([name, key]) => `${name} vanilla=${fixed(one[key])} rlm=${fixed(many[key])}`);
  return shown.length === 0 ? [] : [`differs in: ${shown.join(', ')}`];
}

function guardWord(accepted: boolean): string {
  return accepted ? 'accepted' : 'refused';
}

function fixed(score: number): string {
  return roundHalfEven(score, 2).toFixed(2);
}

function tokens({ input_tokens, output_tokens }: ReturnType<typeof measuredCalls>): string {
  return input_tokens === null || output_tokens === null ? 'not told' : `${input_tokens} in ${output_tokens} out`;
}

function money(cost: number | null): string {
  return cost === null ? 'not told' : `$${cost.toFixed(4)}`;
}
