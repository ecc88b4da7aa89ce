// Owns whether two peers should meet, told without a model: a need of one shares two content words with an offer of the other (issue; notes on
// seed 004). Knows no engine. Invariant: pure; nothing but needs, offers and expertise counts; the reason quotes them.
import { ellipsize } from '#base/text.ts';
import { type Evaluation, PAIR_CAPS, type PairInput, type PairMember } from '../pairs/pair-shape.ts';
import { contentTokens, sharedTokens } from '../words/content-tokens.ts';

/** Content words that a need and an offer have in common at least. */
const LEAST_SHARED = 2;
/** Of the need and of the offer in a reason. */
const LONGEST_QUOTE = 70;
const LONGEST_NAME = 40;

interface Match {
  readonly needy: string;
  readonly need: string;
  readonly giver: string;
  readonly offer: string;
  readonly shared: number;
}

export function evaluateByRule({ peers: [a, b] }: Pick<PairInput, 'peers'>): Evaluation {
  const matches = [...matchesOf(a, b), ...matchesOf(b, a)];
  const best = matches.reduce<Match | undefined>(
    (most, match) => (most === undefined || match.shared > most.shared ? match : most),
    undefined,
  );
  if (best === undefined)
    return { should_introduce: false, reason: 'No need of one meets an offer of the other.', confidence: 'low' };
  return { should_introduce: true, reason: reasonOf(best), confidence: 'medium' };
}

function matchesOf(needy: PairMember, giver: PairMember): Match[] {
  const gifts = [...giver.offers, ...giver.expertise].map((offer) => ({ offer, tokens: contentTokens(offer) }));
  return needy.needs.flatMap((need) => {
    const tokens = contentTokens(need);
    return gifts
      .map((gift) => ({ ...gift, shared: sharedTokens(tokens, gift.tokens) }))
      .filter(({ shared }) => shared >= LEAST_SHARED)
      .map(({ offer, shared }) => ({ needy: needy.name, need, giver: giver.name, offer, shared }));
  });
}

function reasonOf({ needy, need, giver, offer }: Match): string {
  const name = (text: string) => ellipsize(text, LONGEST_NAME);
  const quote = (text: string) => `"${ellipsize(text.replaceAll('"', "'"), LONGEST_QUOTE)}"`;
  const reason = `${name(needy)} needs ${quote(need)}; ${name(giver)} offers ${quote(offer)}.`;
  return ellipsize(reason, PAIR_CAPS.reason);
}
