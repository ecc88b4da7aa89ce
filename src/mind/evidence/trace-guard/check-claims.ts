// Owns the evidence gate's one check: is every claim said by the sources that it cites? Pure, synchronous, linear. Knows no store, no
// proposal, no dialect; `cited`, never `verified`: it proves that the source says it (design 4 and 7).
// Invariants: the reasons come in one order, `origin-not-allowed` last, so that what waits for the owner is otherwise supported; what
// is allowed rests on texts of allowed origins alone; taking evidence away never accepts more.
import type { Citation, Claim, ClaimPolicy, ClaimRefusalReason, ClaimVerdict, EvidenceEntry } from './claim.ts';
import { findContradiction } from './find-contradiction.ts';
import { findQuote, foldQuote, isLongEnough } from './find-quote.ts';
import { type ClaimReading, readClaim } from './read-claim.ts';
import { type EvidenceReading, mentionsOf, type QuotePlace, readEvidence } from './read-evidence.ts';
import { says, saysLoosely } from './says-term.ts';

/** In the order of the claims. Of two entries with one handle the first counts. */
export function checkClaims(
  entries: readonly EvidenceEntry[],
  claims: readonly Claim[],
  policy: ClaimPolicy,
): readonly ClaimVerdict[] {
  const sources = new Sources(entries);
  return claims.map((claim) => {
    const problem = findProblem(claim, sources, policy);
    return problem === undefined ? { claim, accepted: true } : { claim, accepted: false, ...problem };
  });
}

interface Problem {
  readonly reason: ClaimRefusalReason;
  readonly detail: string;
}

/** Reads an entry when it is first cited, and once. */
class Sources {
  readonly #entries = new Map<string, EvidenceEntry>();
  readonly #read = new Map<string, readonly EvidenceReading[]>();

  constructor(entries: readonly EvidenceEntry[]) {
    for (const entry of entries) if (!this.#entries.has(entry.handle)) this.#entries.set(entry.handle, entry);
  }

  has(handle: string): boolean {
    return this.#entries.has(handle);
  }

  read(handle: string): readonly EvidenceReading[] {
    const known = this.#read.get(handle) ?? (this.#entries.get(handle)?.texts ?? []).map(readEvidence);
    this.#read.set(handle, known);
    return known;
  }
}

function findProblem(claim: Claim, sources: Sources, policy: ClaimPolicy): Problem | undefined {
  const { citations } = claim;
  if (citations.length === 0) return problem('no-citation', 'It cites nothing.');
  const unknown = citations.find(({ handle }) => !sources.has(handle));
  if (unknown) return problem('unknown-handle', `${unknown.handle} is no source here.`);
  const short = citations.find(({ quote }) => !isLongEnough(quote, policy.minQuoteWords));
  if (short) {
    const needed = `quote ${policy.minQuoteWords} words or an identifier at least`;
    return problem('quote-too-short', `"${short.quote}" is too short: ${needed}.`);
  }
  const places = citations.map((citation) => findPlaces(citation, sources));
  const missing = citations.find((_, index) => places[index]?.length === 0);
  if (missing) return problem('quote-not-found', `"${missing.quote}" does not stand in ${missing.handle}.`);
  const cited = [...new Set(citations.map(({ handle }) => handle))].flatMap((handle) => sources.read(handle));
  return judgeSupport(readClaim(claim.text), { cited, places }, policy);
}

function findPlaces({ handle, quote }: Citation, sources: Sources): readonly QuotePlace[] {
  const folded = foldQuote(quote);
  return sources.read(handle).flatMap((reading) =>
    findQuote(reading.folded, folded).map((start) => {
      const end = start + folded.length;
      const quoted = reading.sentences.filter((one) => one.start < end && start < one.end);
      return { reading, quoted, mentions: mentionsOf(quoted) };
    }),
  );
}

interface Support {
  readonly cited: readonly EvidenceReading[];
  /** For each citation, where its quote stands. */
  readonly places: readonly (readonly QuotePlace[])[];
}

function judgeSupport(claim: ClaimReading, support: Support, policy: ClaimPolicy): Problem | undefined {
  const gap = findGap(claim, support, policy.minSupport);
  if (gap !== undefined) return problem('evidence_text_mismatch', gap);
  const isAllowed = ({ source }: EvidenceReading) => policy.origins.includes(source.origin);
  const allowed: Support = {
    cited: support.cited.filter(isAllowed),
    places: support.places
      .map((one) => one.filter(({ reading }) => isAllowed(reading)))
      .filter((one) => one.length > 0),
  };
  const needed = `it needs a source of origin ${policy.origins.join(' or ')}`;
  if (allowed.places.length === 0) return problem('origin-not-allowed', `No quote stands where it may: ${needed}.`);
  const left = findGap(claim, allowed, policy.minSupport);
  return left === undefined ? undefined : problem('origin-not-allowed', `${left} For this ${needed}.`);
}

/** What the sources do not say, as a sentence. */
function findGap(claim: ClaimReading, { cited, places }: Support, minSupport: number): string | undefined {
  if (claim.exact.length === 0 && claim.soft.size === 0) return 'It says nothing that can be compared.';
  const missing = claim.exact.find((term) => !cited.some((reading) => says(reading, term)));
  if (missing) return `"${missing.shown}" does not occur in what is cited.`;
  const unsaid = [...claim.soft].filter(([, soft]) => !cited.some((reading) => saysLoosely(reading, soft)));
  const said = claim.soft.size - unsaid.length;
  if (said < claim.soft.size * minSupport) {
    return `Only ${said} of ${claim.soft.size} content words occur in what is cited (not: ${unsaid
      .slice(0, 5)
      .map(([stem]) => stem)
      .join(', ')}).`;
  }
  if (claim.hasNegation && !cited.some(({ hasNegation }) => hasNegation))
    return 'It denies something that the sources do not deny.';
  return findContradiction(claim.sentences, places);
}

function problem(reason: ClaimRefusalReason, detail: string): Problem {
  return { reason, detail };
}
