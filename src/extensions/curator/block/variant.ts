// Owns the four bounded variants as data, with the guidance at the foot of a block (seed 002, multi-variant evaluation; curator notes 10).
// Invariants: variant 0 is the default; of ours it shows all that a block may hold. Their bytes are what skills hold.

import type { CompatOptions } from '#mind/evidence/ledger/compact-preview.ts';

export type GuidanceStyle = 'verify-first' | 'evidence-first' | 'errors-first';

const CHECK = '- When this skill is relevant, check these observed signals before choosing a workflow.';
const TARGET = '- Prefer targeted verification over broad retries when similar errors recur.';
const REPLACE =
  '- If a repeated issue is understood, replace this evidence note with a concise human-readable SOP update.';
const REUSE = '- Reuse matching evidence rows before re-running the same commands.';
const REPLAY = '- Replay the newest error rows first before trying a new approach.';

export const GUIDANCE: Readonly<Record<GuidanceStyle, readonly string[]>> = {
  'verify-first': [CHECK, TARGET, REPLACE],
  'evidence-first': [REUSE, CHECK, REPLACE],
  'errors-first': [REPLAY, TARGET, REPLACE],
};

export interface VariantSpec {
  /** Inline evidence rows. */
  readonly evidence_limit: number;
  readonly guidance_style: GuidanceStyle;
  /** Evidence goes to a reference file whatever the size. */
  readonly force_spillover: boolean;
}

export interface Variant {
  readonly index: number;
  readonly name: string;
  readonly spec: VariantSpec;
}

/** By index, by name or as a spec; nothing: the default. */
export type GivenVariant = number | string | VariantSpec | Variant | null | undefined;

/** A block of ours never holds more rows. */
export const MOST_ROWS = 10;

const spec = (evidence_limit: number, guidance_style: GuidanceStyle, force_spillover = false): VariantSpec => ({
  evidence_limit,
  guidance_style,
  force_spillover,
});

export const MOST_VARIANTS = 4;

/** The original's default shows five rows; ours all that there are. */
export function variantsOf({ compat }: CompatOptions): readonly [Variant, ...Variant[]] {
  return [
    { index: 0, name: 'default-verify-first', spec: spec(compat === 'upstream' ? 5 : MOST_ROWS, 'verify-first') },
    { index: 1, name: 'compact-evidence-first', spec: spec(3, 'evidence-first') },
    { index: 2, name: 'wide-errors-first', spec: spec(8, 'errors-first') },
    { index: 3, name: 'spillover-minimal-inline', spec: spec(2, 'verify-first', true) },
  ];
}

/** By index, by name, or as its own spec; the default for anything else. */
export function specOf(given: GivenVariant, options: CompatOptions): VariantSpec {
  const variants = variantsOf(options);
  if (typeof given === 'object' && given !== null) return 'spec' in given ? given.spec : given;
  return (variants.find(({ index, name }) => index === given || name === given) ?? variants[0]).spec;
}
