// Owns the score of a variant (seed 002, the scorer; curator notes 10). Pure, integers only. It prefers inline text, slack under the hard
// cap and a small difference; it says nothing of usefulness.
import { codeLength } from '#base/text/code-points.ts';
import { HARD_LIMIT, type PreparedUpdate, SOFT_LIMIT } from './prepare-update.ts';

export interface VariantScore {
  readonly score: number;
  readonly score_breakdown: readonly string[];
}

const SKIPPED_SCORE = -1_000_000;
const INLINE_BONUS = 100;
const MOST_SLACK = 10;
const MOST_DIFFERENCE = 20;

export function scoreVariant(text: string, update: PreparedUpdate): VariantScore {
  if (update.skippedReason !== null) {
    return { score: SKIPPED_SCORE, score_breakdown: [`skipped:${update.skippedReason}`] };
  }
  const size = codeLength(update.content);
  const inline = update.sizeStrategy === 'inline' ? INLINE_BONUS : 0;
  const over = Math.max(0, Math.floor((size - SOFT_LIMIT) / 100));
  const slack = Math.min(Math.floor((HARD_LIMIT - size) / 1000), MOST_SLACK);
  const difference = Math.min(Math.floor(Math.abs(size - codeLength(text)) / 1000), MOST_DIFFERENCE);
  return {
    score: inline - over + slack - difference,
    score_breakdown: [
      inline > 0 ? `inline:+${inline}` : 'spillover:+0',
      ...(size > SOFT_LIMIT ? [`over-soft-cap:-${over}`] : []),
      `hard-cap-slack:+${slack}`,
      `diff-from-original:-${difference}`,
    ],
  };
}
