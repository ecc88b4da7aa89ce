// Owns what one variant makes of a skill's text under the size rules (seed 002, steps 7g to 7j; curator notes 10). Pure. Sizes are code
// points. Invariant: a skipped update leaves the text as it is; no result is over the hard cap; an unchanged block changes nothing.
import type { CompatOptions } from '#mind/evidence/ledger/compact-preview.ts';
import { codeLength } from '../text/code-points.ts';
import { type BlockRequest, buildCompactBlock, buildManagedBlock, isSameBlock } from './managed-block.ts';
import { locateBlock } from './markers.ts';
import { referenceFile, type SupportFile } from './reference-file.ts';
import { spliceManagedBlock } from './splice-block.ts';
import { variantOf } from './variant.ts';

export const SOFT_LIMIT = 90_000;
export const HARD_LIMIT = 100_000;

export type SizeStrategy = 'inline' | 'reference-spillover' | 'skip-hard-cap' | 'skip-broken-markers';
export type UpdateSkip = 'skill-content-hard-cap' | 'managed-block-broken';

export interface PreparedUpdate {
  /** The whole new text of SKILL.md; the old one when skipped or unchanged. */
  readonly content: string;
  readonly sizeStrategy: SizeStrategy;
  readonly skippedReason: UpdateSkip | null;
  readonly supportFiles: readonly SupportFile[];
}

export function prepareUpdate(text: string, request: BlockRequest, options: CompatOptions = {}): PreparedUpdate {
  const upstream = options.compat === 'upstream';
  if (codeLength(text) > HARD_LIMIT) return skip(text, 'skip-hard-cap', 'skill-content-hard-cap');
  if (!upstream && locateBlock(text).state === 'broken') {
    return skip(text, 'skip-broken-markers', 'managed-block-broken');
  }
  if (!variantOf(request.variant).spec.force_spillover) {
    const content = put(text, buildManagedBlock(request, options), options);
    if (codeLength(content) <= SOFT_LIMIT) {
      return { content, sizeStrategy: 'inline', skippedReason: null, supportFiles: [] };
    }
  }
  const reference = referenceFile(request, options);
  const content = put(text, buildCompactBlock(request, reference.path, options), options);
  if (codeLength(content) > HARD_LIMIT) return skip(text, 'skip-hard-cap', 'skill-content-hard-cap');
  const supportFiles = !upstream && content === text ? [] : [reference];
  return { content, sizeStrategy: 'reference-spillover', skippedReason: null, supportFiles };
}

function put(text: string, block: string, options: CompatOptions): string {
  const place = locateBlock(text);
  const stands = place.state === 'whole' ? text.slice(place.start, place.end) : undefined;
  if (options.compat !== 'upstream' && stands !== undefined && isSameBlock(stands, block)) return text;
  return spliceManagedBlock(text, block, options);
}

function skip(text: string, sizeStrategy: SizeStrategy, skippedReason: UpdateSkip): PreparedUpdate {
  return { content: text, sizeStrategy, skippedReason, supportFiles: [] };
}
