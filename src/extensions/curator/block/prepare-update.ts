// Owns what one variant makes of a skill's text under the size rules (seed 002, steps 7g to 7j; curator notes 10). Pure. Sizes are code
// points. Invariant: a skipped update leaves the text as it is; no result is over the hard cap; an unchanged block changes nothing; of
// ours a skill without failures has no block.

import { codeLength } from '#base/text/code-points.ts';
import type { CompatOptions } from '#mind/evidence/ledger/compact-preview.ts';
import { locateBlock, withoutBlock } from '#mind/skills/format/managed-block.ts';
import { splitHeader } from '#mind/skills/format/split-header.ts';
import { failuresOf } from './failures.ts';
import { type BlockRequest, buildCompactBlock, buildManagedBlock, isSameBlock } from './managed-block.ts';
import { referenceFile, type SupportFile } from './reference-file.ts';
import { spliceManagedBlock } from './splice-block.ts';
import { specOf } from './variant.ts';

export const SOFT_LIMIT = 90_000;
export const HARD_LIMIT = 100_000;

export type SizeStrategy =
  | 'inline'
  | 'reference-spillover'
  | 'skip-hard-cap'
  | 'skip-broken-markers'
  | 'skip-broken-header'
  | 'skip-no-failures';
/** Why a text has no place for a block. */
type PlaceFault = 'managed-block-broken' | 'front-matter-unclosed';
export type UpdateSkip = 'skill-content-hard-cap' | 'no-failures' | PlaceFault;

const SKIP_STRATEGY = {
  'managed-block-broken': 'skip-broken-markers',
  'front-matter-unclosed': 'skip-broken-header',
} as const;

export interface PreparedUpdate {
  /** The whole new text of SKILL.md; the old one when skipped or unchanged. */
  readonly content: string;
  readonly sizeStrategy: SizeStrategy;
  readonly skippedReason: UpdateSkip | null;
  readonly supportFiles: readonly SupportFile[];
}

export function prepareUpdate(text: string, given: BlockRequest, options: CompatOptions = {}): PreparedUpdate {
  const upstream = options.compat === 'upstream';
  const asked = { ...given, text };
  const request = upstream ? asked : { ...asked, failures: failuresOf(asked) };
  if (codeLength(text) > HARD_LIMIT) return skip(text, 'skip-hard-cap', 'skill-content-hard-cap');
  const fault = upstream ? null : placeFault(text, given);
  if (fault !== null) return skip(text, SKIP_STRATEGY[fault], fault);
  if (request.failures?.length === 0) return unnoted(text);
  if (!specOf(request.variant, options).force_spillover) {
    const content = put(text, buildManagedBlock(request, options), options);
    if (codeLength(content) <= SOFT_LIMIT) {
      return { content, sizeStrategy: 'inline', skippedReason: null, supportFiles: [] };
    }
  }
  const reference = referenceFile(request);
  const content = put(text, buildCompactBlock(request, reference.path, options), options);
  if (codeLength(content) > HARD_LIMIT) return skip(text, 'skip-hard-cap', 'skill-content-hard-cap');
  const supportFiles = !upstream && content === text ? [] : [reference];
  return { content, sizeStrategy: 'reference-spillover', skippedReason: null, supportFiles };
}

/** A skill without failures has no block; an old one goes. */
function unnoted(text: string): PreparedUpdate {
  const content = withoutBlock(text);
  if (content === text) return skip(text, 'skip-no-failures', 'no-failures');
  return { content, sizeStrategy: 'inline', skippedReason: null, supportFiles: [] };
}

/** A block whose markers stand in or before the front matter would change it; one behind an open front matter could stand in it. */
function placeFault(text: string, request: BlockRequest): PlaceFault | null {
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

function skip(text: string, sizeStrategy: SizeStrategy, skippedReason: UpdateSkip): PreparedUpdate {
  return { content: text, sizeStrategy, skippedReason, supportFiles: [] };
}
