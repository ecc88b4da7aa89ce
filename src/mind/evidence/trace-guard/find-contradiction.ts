// Owns finding what a claim asserts and its quoted sentences deny, or the other way round. Knows no reason code.
// Invariant: a word speaks against the claim only where their clauses are about the same; one source that says it the
// claim's way settles it; taking a place of a quote away never settles more.
import { isGeneric } from './polar-words.ts';
import type { QuotePlace } from './read-evidence.ts';
import { type Clause, OPEN, type Polarity } from './read-polarity.ts';

/** Share of the smaller of two sentences' content that they must have in common to be about the same. */
const SAME_MATTER = 0.5;

/** One sentence that names the word, or undefined. */
export function findContradiction(
  claim: readonly Polarity[],
  places: readonly (readonly QuotePlace[])[],
): string | undefined {
  for (const sentence of claim) {
    for (const clause of sentence.clauses) {
      const found = contradictedLemma(clause, places);
      if (found !== undefined) return `What is cited says the opposite about "${found.replace('±', '')}".`;
    }
    if (isDenselyContradicted(sentence, places)) return 'What is cited says the opposite.';
  }
  return undefined;
}

function contradictedLemma(clause: Clause, places: readonly (readonly QuotePlace[])[]): string | undefined {
  const asserted = [...clause.signs].filter(([, bits]) => bits !== OPEN);
  return asserted.find(([lemma, bits]) => isContradicted({ clause, lemma, bits }, places))?.[0];
}

interface Assertion {
  readonly clause: Clause;
  readonly lemma: string;
  readonly bits: number;
}

type Stance = 'for' | 'against' | 'silent';

function isContradicted(assertion: Assertion, places: readonly (readonly QuotePlace[])[]): boolean {
  const stances = places.map((one) => one.map((place) => stanceOf(assertion, place)));
  if (stances.some((one) => one.includes('for'))) return false;
  return stances.some((one) => one.length > 0 && one.every((stance) => stance === 'against'));
}

/** The quoted sentences speak first, the rest of the text only where they are silent; of their clauses those nearest to the claim's. */
function stanceOf({ clause, lemma, bits }: Assertion, { reading, mentions }: QuotePlace): Stance {
  const heard = nearest(mentions.get(lemma) ?? reading.mentions.get(lemma) ?? [], clause);
  if (heard.length === 0) return 'silent';
  if (heard.some(({ signs }) => says(signs, lemma, bits))) return 'for';
  if (isGeneric(lemma) && heard.some((one) => agreesElsewhere(one, { clause, lemma, bits }))) return 'silent';
  return heard.some((one) => isSameMatter(one, clause)) ? 'against' : 'silent';
}

function says(signs: Clause['signs'], lemma: string, bits: number): boolean {
  return ((signs.get(lemma) ?? OPEN) & bits) !== 0;
}

/** Does the source say of another word what the claim says with this verb? */
function agreesElsewhere({ signs }: Clause, { clause, bits }: Assertion): boolean {
  return [...clause.content].some((other) => !isGeneric(other) && signs.get(other) === bits);
}

function nearest(clauses: readonly Clause[], to: Clause): readonly Clause[] {
  const shares = clauses.map((one) => shared(one, to));
  const most = shares.reduce((best, share) => Math.max(best, share), 0);
  return clauses.filter((_, at) => shares[at] === most);
}

function shared(one: Clause, other: Clause): number {
  let count = 0;
  for (const lemma of one.content) if (other.content.has(lemma)) count += 1;
  return count;
}

function isSameMatter(one: Clause, other: Clause): boolean {
  const smaller = Math.min(one.content.size, other.content.size);
  return smaller === 0 || shared(one, other) >= smaller * SAME_MATTER;
}

function isDenselyContradicted(claim: Polarity, places: readonly (readonly QuotePlace[])[]): boolean {
  if (claim.dense === undefined) return false;
  const heard = places.map((one) => one.flatMap(({ quoted }) => quoted).filter(({ dense }) => dense !== undefined));
  const all = heard.flat();
  return all.length > 0 && all.every(({ dense }) => dense !== claim.dense);
}
