// What holds of the evidence gate for any conversation and any proposal.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { foldText } from '#base/text/fold.ts';
import { cutSentences } from '#base/text/sentences.ts';
import type { Origin } from '#core/model/message.ts';
import { checkCited, foreignWords, gateProposal, readWords, weighProposal } from '#mind/evidence/gate/gate-proposal.ts';
import type { ProposalDraft, ProposalKind } from '#mind/evidence/proposal.ts';
import type { Claim, ClaimPolicy, EvidenceEntry } from '#mind/evidence/trace-guard/claim.ts';
import type { JsonObject } from '#public/talaria.ts';
import { createScriptedJudge } from '#testing/scripted-model.ts';
import { ends } from '../ends.ts';
import { assistant, call, owner, stored } from '../mind/evidence/conversation.ts';
import { many, runs } from '../property-runs.ts';
import { slow } from '../slow.ts';
import { verifies } from '../verifies.ts';

const yes = createScriptedJudge('supported');

function drafted(target: 'user' | 'memory', content: string, handle: string, quote: string): ProposalDraft {
  const change = { target, action: 'add', content };
  const citations = [{ handle, quote }];
  return { kind: 'memory', actor: 'review', target, action: 'add', change, sessionId: 's1', citations };
}

/** Few words, so that random texts often agree. */
const word = fc.constantFrom(
  ...'the deploy not works port 80 8080 Marta tabs a/b.ts x_y http://a.b/c 30 seconds MB 5 . , and 不 喜欢 `rm -rf` "'.split(
    ' ',
  ),
  ...['\n', '’', '…', '10:15', 'May', '5%', 'quarter past ten', '--dry-run'],
);
const text = fc.oneof(
  { weight: 2, arbitrary: fc.array(word, { minLength: 3, maxLength: 14 }).map((words) => words.join(' ')) },
  fc.string({ unit: 'grapheme', maxLength: 40 }),
);
const origin = fc.constantFrom<Origin>('owner', 'owner', 'owner', 'foreign', 'observed', 'model');
const entries: fc.Arbitrary<readonly EvidenceEntry[]> = fc
  .array(fc.array(fc.record({ text, origin }), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
  .map((all) => all.map((texts, index) => ({ handle: `m:${index}`, texts })));
const policy: fc.Arbitrary<ClaimPolicy> = fc.constantFrom({ origins: ['owner'] }, { origins: ['owner', 'observed'] });

/** A claim that often repeats and quotes what is there. */
const soup = entries.chain((given) => {
  const place = fc.tuple(fc.nat(2), fc.nat(2), fc.nat(4));
  const said = place.map((at) => stretch(given, at));
  const quoted = place.map((at) => ({ handle: `m:${at[0] % given.length}`, quote: stretch(given, at) }));
  const made = fc.record({ handle: fc.nat(3).map((at) => `m:${at}`), quote: fc.oneof(text, fc.constant('')) });
  const citations = fc.array(fc.oneof({ weight: 5, arbitrary: quoted }, made), { minLength: 1, maxLength: 3 });
  const claim = fc.record({ id: fc.constant('c'), text: fc.oneof(text, said), citations });
  return fc.record({ given: fc.constant(given), claim, policy });
});

function stretch(given: readonly EvidenceEntry[], [at, part, from]: readonly [number, number, number]): string {
  const texts = given[at % given.length]?.texts ?? [];
  const words = texts[part % texts.length]?.text.split(' ') ?? [];
  return words.slice(from, from + 6).join(' ');
}

const passes = (given: readonly EvidenceEntry[], claim: Claim, rules: ClaimPolicy) =>
  checkCited(given, claim, rules).accepted;

/** Sentences whose every figure is of one value; each with the figures as they stand there. */
const valued = fc
  .record({
    shape: fc.nat(8),
    a: fc.integer({ min: 1, max: 9 }),
    b: fc.integer({ min: 1, max: 28 }),
    c: fc.integer({ min: 1000, max: 99_999 }),
  })
  .map(({ shape, a, b, c }) => {
    const two = String(b).padStart(2, '0');
    const sentences = [
      `the billing service listens on port ${c}`,
      `call me at ${String(b % 24).padStart(2, '0')}:${b + 30} each morning`,
      `the build takes ${c} seconds here`,
      `we froze the release on 20${two}-0${a}-${two}`,
      `keep the settings in /srv/app-${c}/main.toml please`,
      `we run version ${a}.${b}.${c} of it`,
      `see https://docs.example.com/v${c}/guide for that`,
      `run \`make build-${c} --jobs ${a}\` there`,
      `mail team${c}@example.com about it`,
    ];
    return sentences[shape] ?? '';
  });

/** With one figure changed, or undefined where that leaves the same value. */
function changed(sentence: string, at: number, by: number): string {
  const places = [...sentence.matchAll(/\d/g)].map(({ index }) => index);
  const place = places[at % places.length] ?? 0;
  const digit = (Number(sentence[place]) + 1 + (by % 9)) % 10;
  return sentence.slice(0, place) + digit + sentence.slice(place + 1);
}

describe('evidence gate: properties', () => {
  test('taking evidence away never lets more pass, and the order of sources and citations makes no difference', () => {
    let passed = 0;
    const check = fc.property(soup, fc.nat(3), fc.nat(2), ({ given, claim, policy: rules }, at, part) => {
      const before = passes(given, claim, rules);
      passed += before ? 1 : 0;
      const turned = { ...claim, citations: claim.citations.toReversed() };
      assert.equal(passes(given.toReversed(), turned, rules), before);
      if (before) return;
      const without = given.filter((_, index) => index !== at);
      const thinner = given.map((entry, index) =>
        index === at ? { ...entry, texts: entry.texts.filter((_, place) => place !== part) } : entry,
      );
      assert.ok(!passes(without, claim, rules) && !passes(thinner, claim, rules));
    });
    fc.assert(check, { numRuns: runs(4_000), seed: 11 });
    assert.ok(passed >= runs(200), `${passed} passed`);
  });

  test('a sentence is kept, and never with one figure changed, whatever a judge says', async () => {
    const check = fc.asyncProperty(valued, fc.nat(8), fc.nat(8), async (sentence, at, by) => {
      const messages = stored([owner(`${sentence}, thanks`)]);
      const quote = sentence.split(' ').slice(0, 2).join(' ');
      const weigh = (content: string) =>
        weighProposal(
          { judge: yes },
          { draft: drafted('memory', content, 'message:1', quote), subject: 'p', messages },
        );
      assert.equal(await weigh(sentence), undefined, sentence);
      const held = await weigh(changed(sentence, at, by));
      assert.equal(held?.reason, 'value-not-cited', `${changed(sentence, at, by)} of "${sentence}"`);
    });
    await fc.assert(check, { numRuns: runs(2_000), seed: 17 });
  });

  verifies(
    ['core:origin:memory-needs-owner', 'core:origin:foreign-waits'],
    'a foreign quote alone is never accepted, nor foreign words behind a quote of the owner',
    () => {
      const tellers = [
        (said: string) => call('read_file', { path: 'notes.txt' }, said),
        (said: string) => [
          owner('hi'),
          owner('look', { type: 'text', text: said, origin: 'foreign', label: 'context' }),
        ],
        (said: string) => [owner('hi'), assistant(said)],
        (said: string) => call('terminal', { command: `echo ${said}` }, said, { exitCode: 1 }),
      ];
      const target = fc.constantFrom<'user' | 'memory'>('user', 'memory');
      const check = fc.property(valued, fc.constantFrom(...tellers), target, (sentence, tell, where) => {
        const messages = stored([...tell(sentence), owner('please go on then')]);
        const verdict = gateProposal(drafted(where, sentence, 'message:2', sentence), messages);
        assert.equal(verdict.decision === 'accepted' ? '' : verdict.reason, 'origin-not-allowed', sentence);
        const beside = gateProposal(drafted(where, sentence, 'message:3', 'please go on'), messages);
        assert.equal(beside.decision, 'pending', sentence);
      });
      fc.assert(check, { numRuns: runs(1_000), seed: 19 });
    },
  );

  test('any proposal over any words has a verdict', () => {
    const any = fc.oneof(text, fc.string({ unit: 'binary', maxLength: 60 }));
    const change = fc.oneof(
      fc.record({ target: any, action: fc.constantFrom('add', 'replace', 'remove', 'x'), content: any, old_text: any }),
      fc.record({
        name: any,
        action: fc.constantFrom('create', 'patch', 'edit'),
        content: any,
        old_string: any,
        new_string: any,
      }),
      fc.object({ maxDepth: 2 }),
    ) as fc.Arbitrary<JsonObject>;
    const kind = fc.constantFrom<ProposalKind>('memory', 'skill');
    const check = fc.property(change, kind, any, any, any, (asked, what, said, quote, target) => {
      const citations = [{ handle: 'message:1', quote }];
      const draft: ProposalDraft = { kind: what, actor: 'review', target, action: 'create', change: asked, citations };
      const verdict = gateProposal(draft, stored([owner(said), ...call('read_file', { path: said }, said)]), {
        before: [said],
      });
      assert.ok(['accepted', 'pending', 'refused'].includes(verdict.decision));
    });
    fc.assert(check, { numRuns: runs(1_000), seed: 23 });
  });

  test('a text folds as its sentences do', () => {
    const check = fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), (raw) => {
      const sentences = cutSentences(raw, 'clause', { wrapped: true }).map(({ start, end }) => raw.slice(start, end));
      assert.equal(foldText(sentences.join(' ')).replace(/\s/g, ''), foldText(raw).replace(/\s/g, ''));
      for (const sentence of sentences) assert.equal(sentence, sentence.trim());
    });
    fc.assert(check, { numRuns: runs(1_000), seed: 13 });
  });

  slow('hostile words end', () => {
    const units = [
      '1 000 ',
      'twenty ',
      'zweiund',
      '3 pm ',
      'step 1: ',
      '```\n',
      '`a',
      '<',
      '$1 ',
      'a@b.',
      '二十',
      'May 5 ',
      'a/',
    ];
    for (const unit of units) {
      const long = unit.repeat(many(20_000, 5_000) / unit.length);
      const claim = { id: 'c', text: long, citations: [{ handle: 'm', quote: long }] };
      ends(unit, () =>
        checkCited([{ handle: 'm', texts: [{ text: long, origin: 'owner' }] }], claim, { origins: ['owner'] }),
      );
      ends(unit, () => {
        const read = readWords([{ handle: 'm', texts: [{ text: long, origin: 'foreign' }] }]);
        return read && foreignWords(long, read);
      });
    }
  });
});
