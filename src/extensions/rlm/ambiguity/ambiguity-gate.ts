// Owns whether a run may begin: the measured score against the threshold, an override recorded with its reason, a model's rating beside it.
// Invariant: the threshold is 0..0.2; a rating never opens or closes the gate; what was overridden is in the record. Serves seed 003.
import { ok, type Result, refuse } from '#base/result.ts';
import { AMBIGUITY_THRESHOLD } from './ambiguity-terms.ts';
import type { Ambiguity } from './measure-ambiguity.ts';

export interface GateOptions {
  readonly threshold?: number;
  /** Why the owner goes on in spite of the score. */
  readonly override?: string | null;
  /** 0..1, by a model; kept beside the score. */
  readonly model_rating?: number | null;
}

export interface AmbiguityVerdict {
  readonly passed: boolean;
  readonly ambiguity_score: number;
  readonly ambiguity_threshold: number;
  readonly model_rating: number | null;
  /** Null unless the score alone would have stopped the run. */
  readonly override: string | null;
  /** What to ask back; null when the run goes on. */
  readonly question: string | null;
}

export function ambiguityGate(
  measured: Ambiguity,
  options: GateOptions = {},
): Result<AmbiguityVerdict, 'ambiguity-threshold-invalid'> {
  const threshold = options.threshold ?? AMBIGUITY_THRESHOLD;
  if (!(threshold >= 0 && threshold <= AMBIGUITY_THRESHOLD))
    return refuse('ambiguity-threshold-invalid', `the threshold is 0 to ${AMBIGUITY_THRESHOLD}`);
  const clear = measured.score <= threshold;
  const override = clear || (options.override ?? '').trim() === '' ? null : (options.override ?? null);
  const passed = clear || override !== null;
  return ok({
    passed,
    ambiguity_score: measured.score,
    ambiguity_threshold: threshold,
    model_rating: options.model_rating ?? null,
    override,
    question: passed ? null : measured.question,
  });
}
