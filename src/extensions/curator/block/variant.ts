// Owns the four bounded variants as data (seed 002, multi-variant evaluation; curator notes 10). Invariant: variant 0 is the default.

export type GuidanceStyle = 'verify-first' | 'evidence-first' | 'errors-first';

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

const DEFAULT_VARIANT: Variant = {
  index: 0,
  name: 'default-verify-first',
  spec: { evidence_limit: 5, guidance_style: 'verify-first', force_spillover: false },
};

export const VARIANTS: readonly Variant[] = [
  DEFAULT_VARIANT,
  {
    index: 1,
    name: 'compact-evidence-first',
    spec: { evidence_limit: 3, guidance_style: 'evidence-first', force_spillover: false },
  },
  {
    index: 2,
    name: 'wide-errors-first',
    spec: { evidence_limit: 8, guidance_style: 'errors-first', force_spillover: false },
  },
  {
    index: 3,
    name: 'spillover-minimal-inline',
    spec: { evidence_limit: 2, guidance_style: 'verify-first', force_spillover: true },
  },
];

/** A variant by index, by name, or as its own spec; the default for anything else. */
export function variantOf(given: number | string | VariantSpec | Variant | null | undefined): Variant {
  if (typeof given === 'object' && given !== null) {
    return 'spec' in given ? given : { ...DEFAULT_VARIANT, spec: { ...DEFAULT_VARIANT.spec, ...given } };
  }
  return VARIANTS.find(({ index, name }) => index === given || name === given) ?? DEFAULT_VARIANT;
}
