// Owns the evidence gate's one check by rule (design 1 and 4): does what is cited stand there, may it speak, and do the hard values of the
// claim occur in it? Pure, synchronous, linear. Knows no store, no dialect and no meaning: whether the words carry the claim is a judge's.
// Invariants: the reasons come in one order, those that only wait last; what passes rests on texts of allowed origins alone; taking
// evidence away never lets more pass.
import { ellipsize } from '#base/text.ts';
import type { Citation, Claim, ClaimPolicy, ClaimRefusalReason, EvidenceEntry, EvidenceText } from './claim.ts';
import { findQuote, foldQuote, isLongEnough } from './find-quote.ts';
import { foldText } from './fold-text.ts';
import { leavesValueOut, missingValue, sourceValues } from './hard-values.ts';

export type CitedVerdict =
  | {
      readonly accepted: true /** What it rests on: the cited texts that may speak. */;
      readonly texts: readonly CitedText[];
    }
  | { readonly accepted: false; readonly reason: ClaimRefusalReason; readonly detail: string };

export interface CitedText extends EvidenceText {
  readonly handle: string;
}

const MIN_QUOTE_WORDS = 2;
const SHOWN = 200;

/** Of two entries with one handle the first counts. */
export function checkCited(entries: readonly EvidenceEntry[], claim: Claim, policy: ClaimPolicy): CitedVerdict {
  const { citations } = claim;
  if (citations.length === 0) return refuse('no-citation', 'It cites nothing.');
  const sources = new Map(entries.toReversed().map((entry) => [entry.handle, entry.texts]));
  const unknown = citations.find(({ handle }) => !sources.has(handle));
  if (unknown) return refuse('unknown-handle', `${unknown.handle} is no message of this conversation.`);
  const places = citations.map((citation) => placesOf(citation, sources.get(citation.handle) ?? []));
  for (const [at, place] of places.entries()) {
    const citation = citations[at];
    if (place.length === 0 && citation) return notThere(citation);
  }
  const speaking = places.flatMap((place) => place.filter(({ origin }) => policy.origins.includes(origin)));
  const needed = `it needs a source of origin ${policy.origins.join(' or ')}`;
  if (speaking.length === 0) return refuse('origin-not-allowed', `What it cites may not speak for this: ${needed}.`);
  const texts = citedTexts(citations, sources, policy);
  const quoted = citations.flatMap(({ quote }, at) =>
    places[at]?.some((one) => speaking.includes(one)) ? [quote] : [],
  );
  // Who quotes one value and claims another rests it on nothing; else the words around the quote count too.
  const isTurned = citations.some(({ quote }) => leavesValueOut(quote, claim.text));
  const said = texts.flatMap(({ origin, text }) => (origin === 'observed' || !isTurned ? [text] : []));
  const printed = policy.printed && sourceValues(policy.printed);
  const missing = missingValue(claim.text, sourceValues([...quoted, ...said, ...(policy.known ?? [])]), printed);
  if (missing)
    return refuse('value-not-cited', `"${ellipsize(missing.shown, SHOWN)}" does not occur in what is cited.`);
  return { accepted: true, texts };
}

/** The texts of the citation's source in which the quote stands; of a call that ended well, its record. */
function placesOf({ quote }: Citation, texts: readonly EvidenceText[]): readonly EvidenceText[] {
  if (quote.trim() === '') return texts.filter(({ isRecord }) => isRecord);
  const folded = foldQuote(quote);
  const isEnough = isLongEnough(quote, MIN_QUOTE_WORDS);
  return texts.filter(({ text }) => {
    const whole = foldText(text);
    return isEnough ? findQuote(whole, folded).length > 0 : folded !== '' && foldQuote(text) === folded;
  });
}

function notThere({ handle, quote }: Citation): CitedVerdict {
  if (quote.trim() === '') return refuse('quote-not-found', `${handle} holds no call that ended well.`);
  const shown = ellipsize(quote, SHOWN);
  return isLongEnough(quote, MIN_QUOTE_WORDS)
    ? refuse('quote-not-found', `"${shown}" does not stand in ${handle}.`)
    : refuse('quote-too-short', `"${shown}" is too short: quote two words, an identifier or the whole message.`);
}

/** Of each cited source once, what may speak. */
function citedTexts(
  citations: readonly Citation[],
  sources: ReadonlyMap<string, readonly EvidenceText[]>,
  { origins }: ClaimPolicy,
): readonly CitedText[] {
  return [...new Set(citations.map(({ handle }) => handle))].flatMap((handle) =>
    (sources.get(handle) ?? []).flatMap((text) => (origins.includes(text.origin) ? [{ ...text, handle }] : [])),
  );
}

function refuse(reason: ClaimRefusalReason, detail: string): CitedVerdict {
  return { accepted: false, reason, detail };
}
