// Owns what one variant makes of a skill's text under the size rules, which of up to four is chosen, and putting a block into a text (seed 002, steps
// 7g to 7j and multi-variant evaluation; curator notes 10, 21.1).
import { codeLength } from '#base/text/code-points.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-value.ts';
import { locateBlock, splitHeader, withoutBlock } from '#mind/skills/format/skill-text.ts';
import { failuresOf } from './failures.ts';
import {
  type BlockRequest,
  buildCompactBlock,
  buildManagedBlock,
  isSameBlock,
  MOST_VARIANTS,
  referenceFile,
  type SupportFile,
  specOf,
  variantsOf,
} from './managed-block.ts';
import { appendBlock, spliceUpstream } from './upstream.ts';

/**
 * Puts a managed block into a skill's text (seed 002, "autorun replaces only that managed block"; notes 10). Out: the text with the block
 * in place of the one it holds, else behind a blank line at its end. Ours is literal and idempotent; it returns the text as it was when
 * its markers are broken or `block` is not exactly one block. The original takes the first span from a start to an end marker, reads
 * `block` as a template when it replaces, and appends beside broken markers. Throws nothing.
 */
export function spliceManagedBlock(text: string, block: string, options: CompatOptions = {}): string {
  if (options.compat === 'upstream') return spliceUpstream(text, block);
  const bare = block.replace(/\r?\n$/, '');
  const own = locateBlock(bare);
  const place = locateBlock(text);
  const isOneBlock = own.state === 'whole' && own.start === 0 && own.end === bare.length;
  if (!isOneBlock || place.state === 'broken') return text;
  if (place.state === 'none') return appendBlock(text, `${bare}\n`);
  return text.slice(0, place.start) + bare + text.slice(place.end);
}

export const SOFT_LIMIT = 90_000;
export const HARD_LIMIT = 100_000;

/** Why a text gets no block, and the word of the strategy for it. */
const SKIPS = {
  'skill-content-hard-cap': 'skip-hard-cap',
  'managed-block-broken': 'skip-broken-markers',
  'front-matter-unclosed': 'skip-broken-header',
  'no-failures': 'skip-no-failures',
} as const;
type UpdateSkip = keyof typeof SKIPS;

export interface PreparedUpdate {
  /** The whole new text of SKILL.md; the old one when skipped or unchanged. */
  readonly content: string;
  readonly sizeStrategy: 'inline' | 'reference-spillover' | (typeof SKIPS)[UpdateSkip];
  readonly skippedReason: UpdateSkip | null;
  readonly supportFiles: readonly SupportFile[];
}

export function prepareUpdate(text: string, given: BlockRequest, options: CompatOptions = {}): PreparedUpdate {
  if (codeLength(text) > HARD_LIMIT) return skip(text, 'skill-content-hard-cap');
  if (options.compat === 'upstream') return withBlock(text, { ...given, text }, options);
  const fault = placeFault(text, given);
  if (fault !== null) return skip(text, fault);
  const failures = failuresOf({ ...given, text });
  if (failures.length > 0) return withBlock(text, { ...given, text, failures }, options);
  const bare = withoutBlock(text);
  return bare === text ? skip(text, 'no-failures') : updated(bare, 'inline');
}

function withBlock(text: string, request: BlockRequest, options: CompatOptions): PreparedUpdate {
  if (!specOf(request.variant, options).force_spillover) {
    const content = put(text, buildManagedBlock(request, options), options);
    if (codeLength(content) <= SOFT_LIMIT) return updated(content, 'inline');
  }
  const reference = referenceFile(request);
  const content = put(text, buildCompactBlock(request, reference.path, options), options);
  if (codeLength(content) > HARD_LIMIT) return skip(text, 'skill-content-hard-cap');
  const isSame = options.compat !== 'upstream' && content === text;
  return updated(content, 'reference-spillover', isSame ? [] : [reference]);
}

/** A block whose markers stand in or before the front matter would change it; one behind an open front matter could stand in it. */
function placeFault(text: string, request: BlockRequest): UpdateSkip | null {
  const before = splitHeader(text);
  const unclosed = before.ok ? before.value.unclosed : before.reason === 'unclosed-front-matter';
  if (unclosed) return 'front-matter-unclosed';
  if (locateBlock(text).state === 'broken') return 'managed-block-broken';
  const after = splitHeader(spliceManagedBlock(text, buildManagedBlock({ ...request, rows: [] })));
  const isSame = before.ok ? after.ok && after.value.header === before.value.header : !after.ok;
  return isSame ? null : 'managed-block-broken';
}

function put(text: string, block: string, options: CompatOptions): string {
  const place = locateBlock(text);
  const stands = place.state === 'whole' ? text.slice(place.start, place.end) : undefined;
  if (options.compat !== 'upstream' && stands !== undefined && isSameBlock(stands, block)) return text;
  return spliceManagedBlock(text, block, options);
}

function skip(content: string, skippedReason: UpdateSkip): PreparedUpdate {
  return { content, sizeStrategy: SKIPS[skippedReason], skippedReason, supportFiles: [] };
}

function updated(
  content: string,
  sizeStrategy: PreparedUpdate['sizeStrategy'],
  supportFiles: readonly SupportFile[] = [],
): PreparedUpdate {
  return { content, sizeStrategy, skippedReason: null, supportFiles };
}

export interface VariantQuestion extends Omit<BlockRequest, 'variant'> {
  readonly text: string;
  readonly variants: number;
}

export type VariantChoice = ReturnType<typeof weighVariants>['choice'];

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

export function weighVariants(question: VariantQuestion, options: CompatOptions = {}) {
  const { text, variants, ...asked } = question;
  const request = options.compat === 'upstream' ? asked : { ...asked, failures: failuresOf(question) };
  const count = Math.min(MOST_VARIANTS, Math.max(1, Math.trunc(Number(variants)) || 1));
  const weighed = variantsOf(options)
    .slice(0, count)
    .map((variant) => {
      const update = prepareUpdate(text, { ...request, variant }, options);
      return { variant, update, score: scoreVariant(text, update) };
    });
  const best = weighed.reduce((kept, next) => (next.score.score > kept.score.score ? next : kept));
  const { index, name } = best.variant;
  return {
    choice: {
      variants: weighed.map(({ variant, update, score }) => ({
        ...variant,
        size_strategy: update.sizeStrategy,
        skipped_reason: update.skippedReason,
        content_chars: codeLength(update.content),
        support_files: update.supportFiles.map(({ path }) => path),
        ...score,
        selected: variant === best.variant,
      })),
      selected: { index, name, score: best.score.score },
    },
    winner: best.update,
  };
}

const SKIPPED_SCORE = -1_000_000;
const INLINE_BONUS = 100;
const MOST_SLACK = 10;
const MOST_DIFFERENCE = 20;

/** Integers. It prefers inline text, slack under the hard cap and a small difference; it says nothing of usefulness. */
function scoreVariant(text: string, update: PreparedUpdate) {
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
