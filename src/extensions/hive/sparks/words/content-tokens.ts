// Owns what of a phrase counts when two phrases are compared: its words, each as the stems that it holds. `open-source` and `OpenSource`
// are one word. Knows no peer. Invariant: total, bounded, the same for a need and for an offer.
import { contentStems } from '#base/text/content-stems.ts';
import { stemWord } from '#base/text/stem-word.ts';

/** Words that stand in needs and offers of every kind. */
const WEAK_WORDS = `
  add advice agent also anybody anyone area assist assistance available back basic best better big build business can capable client code come
  community company consult consulting contribute create current currently day deal design develop developer development different do early
  easy end engage engineer engineering enough everybody everyone experience experienced expert expertise feedback field find fix full
  general give good great group guidance guide hand happy hard help helping high idea implement improve info information input introduction
  issue job join keep know knowledge large learn level like local long look lot love make manage many matter meet member mentor month much
  need new offer old open opportunity part people person place plan problem process product professional project provide question quick
  ready real review right run service set setup share simple skill small solution solve somebody someone something specialise specialist
  specialize staff start startup state strong stuff support sure system take task teach team technical test thing think time tool top topic
  train training try understand use user useful various want way week well work worker working write year
`;

const weak: ReadonlySet<string> = new Set(WEAK_WORDS.trim().split(/\s+/).map(stemWord));

const MOST_TOKENS = 60;

/** One word of the phrase: the stems of its parts. */
export type Token = readonly string[];

export function contentTokens(phrase: string): readonly Token[] {
  const tokens = new Map<string, Token>();
  for (const word of phrase
    .toLowerCase()
    .slice(0, 2_000)
    .split(/[\s,;:()[\]"“”]+/)) {
    const stems = contentStems(word).filter((stem) => !weak.has(stem));
    if (stems.length > 0) tokens.set(stems.join(' '), stems);
    if (tokens.size === MOST_TOKENS) break;
  }
  return [...tokens.values()];
}

/** How many words two phrases have in common; a compound counts once on whichever side it stands. */
export function sharedTokens(left: readonly Token[], right: readonly Token[]): number {
  return Math.min(hits(left, right), hits(right, left));
}

function hits(tokens: readonly Token[], others: readonly Token[]): number {
  const stems = new Set(others.flat());
  return tokens.filter((token) => token.some((stem) => stems.has(stem))).length;
}
