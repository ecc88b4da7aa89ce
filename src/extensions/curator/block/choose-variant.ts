// Owns choosing one of up to four bounded variants (seed 002, multi-variant evaluation; curator notes 10). Pure, no model.
// Invariant: the highest score wins, ties go to the lowest index; one variant is byte for byte the default.

import { codeLength } from '#base/text/code-points.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-preview.ts';
import { failuresOf } from './failures.ts';
import type { BlockRequest } from './managed-block.ts';
import { HARD_LIMIT, type PreparedUpdate, prepareUpdate, type SizeStrategy, SOFT_LIMIT } from './prepare-update.ts';
import { MOST_VARIANTS, type Variant, type VariantSpec, variantsOf } from './variant.ts';

export interface VariantScore {
  readonly score: number;
  readonly score_breakdown: readonly string[];
}

export interface VariantQuestion extends Omit<BlockRequest, 'variant'> {
  /** SKILL.md as it stands. */
  readonly text: string;
  /** How many, 1 to 4. */
  readonly variants: number;
}

export interface VariantSummary extends VariantScore {
  readonly index: number;
  readonly name: string;
  readonly spec: VariantSpec;
  readonly size_strategy: SizeStrategy;
  readonly skipped_reason: string | null;
  /** Code points of the whole new text. */
  readonly content_chars: number;
  /** Paths below the skill's folder. */
  readonly support_files: readonly string[];
  readonly selected: boolean;
}

export interface SelectedVariant {
  readonly index: number;
  readonly name: string;
  readonly score: number;
}

export interface VariantChoice {
  readonly variants: readonly VariantSummary[];
  readonly selected: SelectedVariant;
}

/**
 * Weighs up to four bounded variants of a skill's managed block and names the winner (seed 002, multi-candidate evaluation; notes 10).
 * In: the skill's `text`, its name, counts and evidence `rows` (newest first; ours sorts them), `days` of the window, `now`, and how many
 * `variants` (clamped to 1..4). Out: each variant with its spec, size strategy, `content_chars` in code points and score, and which one is
 * `selected`; the highest score, of equal ones the first. No model, no file.
 * @throws TypeError when `now` is no instant.
 */
export function chooseVariant(question: VariantQuestion, options: CompatOptions = {}): VariantChoice {
  return weighVariants(question, options).choice;
}

/** The choice with the text that the winner makes. */
export function weighVariants(
  question: VariantQuestion,
  options: CompatOptions = {},
): { readonly choice: VariantChoice; readonly winner: PreparedUpdate } {
  const { text, variants, ...asked } = question;
  const request = options.compat === 'upstream' ? asked : { ...asked, failures: failuresOf(question) };
  const count = Math.min(MOST_VARIANTS, Math.max(1, Math.trunc(Number(variants)) || 1));
  const weighed = variantsOf(options)
    .slice(0, count)
    .map((variant): Weighed => {
      const update = prepareUpdate(text, { ...request, variant }, options);
      return { variant, update, score: scoreVariant(text, update) };
    });
  const best = weighed.reduce((kept, next) => (next.score.score > kept.score.score ? next : kept));
  const { index, name } = best.variant;
  return {
    choice: {
      variants: weighed.map((one) => summarize(one, one === best)),
      selected: { index, name, score: best.score.score },
    },
    winner: best.update,
  };
}

interface Weighed {
  readonly variant: Variant;
  readonly update: PreparedUpdate;
  readonly score: VariantScore;
}

function summarize({ variant, update, score }: Weighed, selected: boolean): VariantSummary {
  return {
    ...variant,
    size_strategy: update.sizeStrategy,
    skipped_reason: update.skippedReason,
    content_chars: codeLength(update.content),
    support_files: update.supportFiles.map(({ path }) => path),
    ...score,
    selected,
  };
}

const SKIPPED_SCORE = -1_000_000;
const INLINE_BONUS = 100;
const MOST_SLACK = 10;
const MOST_DIFFERENCE = 20;

/** Integers. It prefers inline text, slack under the hard cap and a small difference; it says nothing of usefulness. */
function scoreVariant(text: string, update: PreparedUpdate): VariantScore {
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
