// Owns finding what a claim asserts and its quoted sentences deny, or the other way round. Knows no reason code.
// Invariant: a word speaks against the claim only where the claim and the sentence are about the same; one source that says it the
// claim's way settles it; taking a place of a quote away never settles more.
import type { QuotePlace } from './read-evidence.ts';
import { OPEN, type Polarity } from './read-polarity.ts';

/** Share of the smaller of two sentences' content that they must have in common to be about the same. */
const SAME_MATTER = 0.5;

/** One sentence that names the word, or undefined. */
export function findContradiction(
  claim: readonly Polarity[],
  places: readonly (readonly QuotePlace[])[],
): string | undefined {
  for (const sentence of claim) {
    const found = contradictedLemma(sentence, places);
    if (found !== undefined) return `What is cited says the opposite about "${found.replace('±', '')}".`;
    if (isDenselyContradicted(sentence, places)) return 'What is cited says the opposite.';
  }
  return undefined;
}

function contradictedLemma(sentence: Polarity, places: readonly (readonly QuotePlace[])[]): string | undefined {
  const asserted = [...sentence.signs].filter(([, bits]) => bits !== OPEN);
  return asserted.find(([lemma, bits]) => isContradicted({ sentence, lemma, bits }, places))?.[0];
}

interface Assertion {
  readonly sentence: Polarity;
  readonly lemma: string;
  readonly bits: number;
}

type Stance = 'for' | 'against' | 'silent';

function isContradicted(assertion: Assertion, places: readonly (readonly QuotePlace[])[]): boolean {
  const stances = places.map((one) => one.map((place) => stanceOf(assertion, place)));
  if (stances.some((one) => one.includes('for'))) return false;
  return stances.some((one) => one.length > 0 && one.every((stance) => stance === 'against'));
}

/** The quoted sentences speak first, the rest of the text only where they are silent. */
function stanceOf({ sentence, lemma, bits }: Assertion, { reading, mentions }: QuotePlace): Stance {
  const heard = mentions.get(lemma) ?? reading.mentions.get(lemma) ?? [];
  if (heard.length === 0) return 'silent';
  if (heard.some(({ signs }) => ((signs.get(lemma) ?? OPEN) & bits) !== 0)) return 'for';
  return heard.some((one) => isSameMatter(one, sentence)) ? 'against' : 'silent';
}

function isSameMatter(one: Polarity, other: Polarity): boolean {
  const smaller = Math.min(one.content.size, other.content.size);
  const shared = [...one.content].filter((lemma) => other.content.has(lemma)).length;
  return smaller === 0 || shared >= smaller * SAME_MATTER;
}

function isDenselyContradicted(claim: Polarity, places: readonly (readonly QuotePlace[])[]): boolean {
  if (claim.dense === undefined) return false;
  const heard = places.map((one) => one.flatMap(({ quoted }) => quoted).filter(({ dense }) => dense !== undefined));
  const all = heard.flat();
  return all.length > 0 && all.every(({ dense }) => dense !== claim.dense);
}
