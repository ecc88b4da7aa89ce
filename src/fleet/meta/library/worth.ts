// Owns what an entry of the library is worth (hierarchy notes A8, C10, C38): by whom it was proved, which of them count apart from each other, and the
// discount on the way in. Pure. Knows no store. Invariants: two that share an ancestor, in lineage or derivation, never count as two; nothing is
// worth more than what one of those who proved it said; one hop is discounted once.

/** What one golem says of a skill that it holds. */
export interface Proof {
  readonly id: number;
  /** `clade`: a golem of this owner; `outside`: whom he takes for good; `owner`: he put it in himself. */
  readonly standing: 'clade' | 'outside' | 'owner';
  /** Its confidence as it said, 0 to 1. */
  readonly raw: number;
  /** How often its own use of it was verified. */
  readonly validated: number;
  /** Golems and entries that the skill or the golem came from, its own id among them. */
  readonly ancestors: readonly string[];
  /** Golems that the skill passed through before this one. */
  readonly depth: number;
}

export interface Worth {
  readonly status: 'clade' | 'canonical' | 'held';
  readonly raw: number;
  readonly confidence: number;
  readonly isCross: boolean;
  /** Whose text stands. */
  readonly best: number;
  /** Why it is so, in one line. */
  readonly why: string;
}

/** On the way in (R1.51 to R1.54). */
const ENTRY = { single: 0.7, cross: 0.9, owner: 1, outside: 0.5 } as const;
/** Of one golem alone. */
const LEAST_VALIDATED = 3;
const CANONICAL_GENERATIONS = 3;
export const STALE_FACTOR = 0.8;

/** As many as have pairwise no ancestor in common, those with the fewest ancestors first. */
export function independent(proofs: readonly Proof[]): readonly Proof[] {
  const taken = new Set<string>();
  const inOrder = proofs.toSorted((a, b) => a.ancestors.length - b.ancestors.length || b.raw - a.raw || a.id - b.id);
  return inOrder.filter(({ ancestors }) => {
    if (ancestors.some((id) => taken.has(id))) return false;
    for (const id of ancestors) taken.add(id);
    return true;
  });
}

/** Without an end where lineages run in a circle. `known`: what an entry or a golem came from, as far as it is known. */
export function ancestorsOf(
  from: readonly string[],
  known: (id: string) => readonly string[] | undefined,
): readonly string[] {
  const found = new Set<string>();
  const open = [...from];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    open.push(...(known(id) ?? []));
  }
  return [...found].sort();
}

interface Way {
  readonly raw: number;
  readonly factor: number;
  readonly isCross: boolean;
  /** Who may lend the text. */
  readonly from: readonly Proof[];
  readonly why: string;
}

/** The best of the ways in that are open; `held` where none is. Undefined: nobody holds it. `isPromoted`: one golem is enough. */
export function worthOf(proofs: readonly Proof[], isPromoted = false): Worth | undefined {
  if (proofs.length === 0) return undefined;
  const best = waysIn(proofs, isPromoted ? 0 : LEAST_VALIDATED).toSorted(
    (a, b) => b.raw * b.factor - a.raw * a.factor,
  )[0];
  if (best === undefined) {
    const most = highest(proofs);
    const why = `validated ${most.validated} times by one golem: it takes ${LEAST_VALIDATED}, or another golem that found it by itself`;
    return { status: 'held', raw: most.raw, confidence: 0, isCross: false, best: most.id, why };
  }
  const { raw, factor, isCross, from, why } = best;
  const generations = provenGenerations(proofs);
  const isCanonical = generations >= CANONICAL_GENERATIONS;
  return {
    ...{ status: isCanonical ? 'canonical' : 'clade', raw, confidence: raw * factor, isCross, best: highest(from).id },
    why: isCanonical ? `${why}; proved in ${generations} generations after it was made` : why,
  };
}

function waysIn(proofs: readonly Proof[], least: number): readonly Way[] {
  const by = (standing: Proof['standing']) => proofs.filter((proof) => proof.standing === standing);
  const alone = by('clade').filter(({ validated }) => validated >= least);
  const apart = independent(by('clade').filter(({ validated }) => validated >= 1));
  const one = (from: readonly Proof[], factor: number, why: string): readonly Way[] =>
    from.length === 0 ? [] : [{ raw: highest(from).raw, factor, isCross: false, from, why }];
  const mean = apart.reduce((sum, { raw }) => sum + raw, 0) / Math.max(1, apart.length);
  const found = `${apart.length} golems found it independently: ${ENTRY.cross} × their mean`;
  return [
    ...one(by('owner'), ENTRY.owner, 'put in by you, as it is'),
    ...(apart.length < 2 ? [] : [{ raw: mean, factor: ENTRY.cross, isCross: true, from: apart, why: found }]),
    ...one(alone, ENTRY.single, `proved by one golem: ${ENTRY.single} × its confidence`),
    ...one(by('outside'), ENTRY.outside, `from outside the clade: ${ENTRY.outside} × what it says`),
  ];
}

/** Generations after who made it in which a golem proved it by its own use. */
function provenGenerations(proofs: readonly Proof[]): number {
  const heirs = proofs.filter(({ standing, validated, depth }) => standing === 'clade' && validated > 0 && depth > 0);
  return new Set(heirs.map(({ depth }) => depth)).size;
}

function highest(proofs: readonly Proof[]): Proof {
  return proofs.reduce((best, proof) => (proof.raw > best.raw ? proof : best));
}
