/** The properties of the evidence gate, for any number of cases. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Origin } from '#core/model/message.ts';
import { gateProposal } from '#mind/evidence/gate/gate-proposal.ts';
import { checkClaims } from '#mind/evidence/trace-guard/check-claims.ts';
import type { Claim, ClaimPolicy, EvidenceEntry } from '#mind/evidence/trace-guard/claim.ts';
import { foldSentences, foldText } from '#mind/evidence/trace-guard/fold-text.ts';
import { gateCases } from './trace-guard-cases.ts';

const POLICY: ClaimPolicy = { origins: ['owner'], minQuoteWords: 3, minSupport: 0.5 };

/** Gives how often each kind of lie was tried. */
export function checkKnownVerdicts(numRuns: number, seed: number): ReadonlyMap<string, number> {
  const tried = new Map<string, number>();
  fc.assert(
    fc.property(gateCases, ({ messages, draft, expected, lie, teller }) => {
      const verdict = gateProposal(draft, messages);
      const got = verdict.decision === 'refused' ? verdict.reason : verdict.decision;
      const detail = verdict.decision === 'accepted' ? '' : verdict.detail;
      assert.equal(got, expected, `${lie} from ${teller}: ${JSON.stringify(draft.change)} ${detail}`);
      tried.set(lie, (tried.get(lie) ?? 0) + 1);
    }),
    { numRuns, seed },
  );
  return tried;
}

/** Few words, so that random texts often agree. */
const word = fc.constantFrom(
  'the',
  'deploy',
  'not',
  'works',
  'never',
  'port',
  '80',
  '8080',
  'Marta',
  'likes',
  'tabs',
  'no',
  'a/b.ts',
  'x_y',
  'http://a.b/c',
  'I',
  'use',
  'Berlin',
  '30',
  'seconds',
  'MB',
  '5',
  '.',
  ',',
  'and',
  '不',
  '喜欢',
  'tests',
  '`rm',
  '-rf`',
  '\n',
  '"',
  '’',
  '…',
  'before',
  'after',
);
const text = fc.oneof(
  fc.array(word, { minLength: 3, maxLength: 14 }).map((words) => words.join(' ')),
  fc.array(word, { minLength: 3, maxLength: 14 }).map((words) => words.join(' ')),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
);
const origin = fc.constantFrom<Origin>('owner', 'owner', 'owner', 'foreign', 'observed', 'model');
const entries: fc.Arbitrary<readonly EvidenceEntry[]> = fc
  .array(fc.array(fc.record({ text, origin }), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
  .map((all) => all.map((texts, index) => ({ handle: `m:${index}`, texts })));

/** A claim that often repeats and quotes what is there: stretches of the texts that it cites. */
const soup = entries.chain((given) => {
  const place = fc.tuple(fc.nat(2), fc.nat(2), fc.nat(4));
  const said = place.map((at) => stretch(given, at));
  const claimed = fc.oneof(
    text,
    said,
    fc.tuple(said, text).map(([one, more]) => `${one} ${more.slice(0, 12)}`),
  );
  const quoted = place.map((at) => ({ handle: `m:${at[0] % Math.max(1, given.length)}`, quote: stretch(given, at) }));
  const made = fc.tuple(fc.nat(3), text).map(([at, quote]) => ({ handle: `m:${at}`, quote }));
  const citations = fc.array(fc.oneof(quoted, quoted, quoted, quoted, quoted, made), { minLength: 1, maxLength: 2 });
  return fc.record({
    entries: fc.constant(given),
    claim: fc.record({ id: fc.constant('c'), text: claimed, citations }),
  });
});

function stretch(given: readonly EvidenceEntry[], [at, part, from]: readonly [number, number, number]): string {
  const texts = given[at % Math.max(1, given.length)]?.texts ?? [];
  const source = texts[part % Math.max(1, texts.length)]?.text ?? '';
  return source
    .split(' ')
    .slice(from, from + 6)
    .join(' ');
}

/** What must hold of anything that was accepted, told apart from the check with the simplest means. */
export function checkAcceptedIsSupported(numRuns: number, seed: number): number {
  let accepted = 0;
  fc.assert(
    fc.property(soup, ({ entries: given, claim }) => {
      if (!isAccepted(given, claim)) return;
      accepted += 1;
      assertSupported(given, claim);
    }),
    { numRuns, seed },
  );
  return accepted;
}

function assertSupported(given: readonly EvidenceEntry[], claim: Claim): void {
  assert.ok(claim.citations.length > 0);
  for (const { handle, quote } of claim.citations) {
    const own = given.find((entry) => entry.handle === handle)?.texts ?? [];
    assert.ok(
      own.some((one) => bare(one.text).includes(bare(quote))),
      `${quote} is not in ${handle}`,
    );
  }
  const cited = given.filter(({ handle }) => claim.citations.some((one) => one.handle === handle));
  const allowed = cited.flatMap(({ texts }) => texts.filter((one) => one.origin === 'owner'));
  const words = allowed.map((one) => one.text).join(' ');
  for (const number of numbersOf(claim.text)) {
    assert.match(words, new RegExp(`(?<!\\d)${number}(?!\\d)`), `number ${number} of "${claim.text}"`);
  }
  for (const hard of HARD.filter((one) => claim.text.split(/\s/).includes(one))) {
    const last = hard.split('/').at(-1) ?? hard;
    assert.ok(words.includes(hard) || words.includes(last), `${hard} of "${claim.text}"`);
  }
}

const HARD = ['Marta', 'Berlin', 'a/b.ts', 'x_y', 'http://a.b/c'];

/** Numbers that stand alone; what may be the mark of a list is left out. */
function numbersOf(text: string): readonly string[] {
  const numbers = text.match(/(?<=\s|^)\d+(?=\s|$)/g) ?? [];
  return numbers.filter((one) => !new RegExp(`${one}\\s?[.)]`).test(text));
}

function bare(text: string): string {
  return foldText(text).replace(/["'`….\s]/gu, '');
}

export function checkLessNeverAcceptsMore(numRuns: number, seed: number): void {
  fc.assert(
    fc.property(soup, fc.nat(3), fc.nat(2), ({ entries: given, claim }, at, part) => {
      if (isAccepted(given, claim)) return;
      const without = given.filter((_, index) => index !== at);
      const thinner = given.map((entry, index) =>
        index === at ? { ...entry, texts: entry.texts.filter((_, place) => place !== part) } : entry,
      );
      assert.ok(!isAccepted(without, claim), `accepted without ${at}`);
      assert.ok(!isAccepted(thinner, claim), `accepted without part ${part} of ${at}`);
    }),
    { numRuns, seed },
  );
}

export function checkFolding(numRuns: number, seed: number): void {
  fc.assert(
    fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), (raw) => {
      const { folded, sentences } = foldSentences(raw);
      assert.equal(folded, foldText(raw));
      for (const { raw: piece, start, end } of sentences) assert.equal(folded.slice(start, end), foldText(piece));
    }),
    { numRuns, seed },
  );
}

function isAccepted(given: readonly EvidenceEntry[], claim: Claim): boolean {
  return checkClaims(given, [claim], POLICY)[0]?.accepted === true;
}
