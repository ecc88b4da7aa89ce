// Owns summing up a peer without a model: needs, offers and fields that patterns find in its introduction and in its own messages (issue;
// notes on seed 004). Knows no engine. Invariant: pure and total; a message that anybody else wrote says nothing about the peer; every item
// is a piece of what was said.
import { shortLines } from '../answer/short-lines.ts';
import { SUMMARY_CAPS, type SummaryAnswer, type SummaryInput } from '../summary/summary-shape.ts';
import { contentTokens, sharedTokens } from '../words/content-tokens.ts';
import type { Claim } from './claims/claim.ts';
import { findClaims } from './claims/find-claims.ts';
import { noteActor, noteRelative } from './claims/note-names.ts';
import type { Antecedent, Speaker } from './claims/speaker.ts';
import { isNamed } from './claims/subject-of.ts';
import { ownNames, withIntroduced } from './read/own-names.ts';
import { ownWords } from './read/own-words.ts';
import { readSentences } from './read/read-sentences.ts';
import { summaryText } from './summary-text.ts';

export function summarizeByRule({ peer, introduction, messages }: SummaryInput): SummaryAnswer {
  const names = withIntroduced(ownNames(peer.name), introduction.text);
  const claims = [
    ...claimsOf(introduction.text, { names, voice: 'introducer' }),
    ...messages
      .filter(({ author }) => author === 'peer')
      .flatMap(({ text }) => claimsOf(text, { names, voice: 'self' })),
  ];
  const kept = claims.reduce<readonly Claim[]>(takeIn, []);
  const { items, item } = SUMMARY_CAPS;
  // What was said last counts most.
  const lines = (kind: Claim['kind']) =>
    shortLines(
      kept
        .filter((claim) => claim.kind === kind)
        .map(({ object }) => object)
        .reverse(),
      items,
      item,
    );
  const found = { needs: lines('need'), offers: lines('offer'), expertise: lines('expertise') };
  return { ...found, summary_text: summaryText(introduction.text, found) };
}

function claimsOf(text: string, speaker: Speaker): Claim[] {
  const antecedent: Antecedent = { isPeer: speaker.voice === 'introducer' };
  return readSentences(ownWords(text, (name) => isNamed(name, speaker))).flatMap((sentence) => {
    noteActor(sentence.text, speaker, antecedent);
    const claims = findClaims(sentence, { speaker, antecedent });
    noteRelative(sentence.text, antecedent);
    return claims;
  });
}

/** What is denied, found or solved takes back what was said before. */
function takeIn(kept: readonly Claim[], claim: Claim): readonly Claim[] {
  if (!claim.isDenied && claim.kind !== 'settled') return [...kept, claim];
  if (claim.isDenied && claim.kind === 'settled') return kept;
  const kind = claim.kind === 'settled' ? 'need' : claim.kind;
  return kept.filter((before) => before.kind !== kind || !takesBack(claim, before));
}

function takesBack(claim: Claim, before: Claim): boolean {
  // `I no longer need help`
  if (claim.object === '') return claim.isDenied && claim.kind === 'need';
  const [left, right] = [contentTokens(claim.object), contentTokens(before.object)];
  const least = Math.min(left.length, right.length);
  return least > 0 && sharedTokens(left, right) >= least;
}
