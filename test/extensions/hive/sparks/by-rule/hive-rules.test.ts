// Needs, offers and fields told by rule: how many of them are right, and how many of those there are, are found.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { evaluateByRule } from '#extensions/hive/sparks/by-rule/evaluate-by-rule.ts';
import { summarizeByRule } from '#extensions/hive/sparks/by-rule/summarize-by-rule.ts';
import { ends } from '../../../../ends.ts';
import type { LabelledText } from './hive-sentence.ts';
import { freshTexts } from './hive-sentences-fresh.ts';
import { knownTexts } from './hive-sentences-known.ts';

function summarize(peer: string, context: string, said: readonly string[]) {
  return summarizeByRule({
    schema_version: 'peer-summary/1',
    peer: { name: peer },
    introduction: { by: 'hermes-of-alice', text: context },
    messages: said.map((text) => ({ author: 'peer', from: peer, time: '', text })),
  });
}

function score(texts: readonly LabelledText[]) {
  const wrong: string[] = [];
  const missed: string[] = [];
  let right = 0;
  for (const labelled of texts) {
    const { text, peer = 'hermes-of-carol' } = labelled;
    const found = labelled.as === 'context' ? summarize(peer, text, []) : summarize(peer, '', [text]);
    for (const kind of ['needs', 'offers', 'expertise'] as const) {
      const judged = judge(found[kind], labelled[kind] ?? []);
      right += judged.right;
      wrong.push(...judged.wrong.map((item) => `${kind}: ${item} <= ${text}`));
      missed.push(...judged.missed.map((part) => `${kind}: ${part} <= ${text}`));
    }
  }
  return { precision: right / (right + wrong.length), recall: right / (right + missed.length), wrong, missed };
}

function judge(found: readonly string[], expected: readonly string[]) {
  const missed = [...expected];
  const wrong = found.filter((item) => {
    const at = missed.findIndex((part) => item.toLowerCase().includes(part.toLowerCase()));
    if (at !== -1) missed.splice(at, 1);
    return at === -1;
  });
  return { right: found.length - wrong.length, wrong, missed };
}

describe('needs and offers by rule', () => {
  test('of texts by which the rules were made, all items are right and all are found', () => {
    const { wrong, missed } = score(knownTexts);
    assert.deepEqual({ wrong, missed }, { wrong: [], missed: [] });
  });

  test('of texts that the rules had not seen, nineteen of twenty items are right and nine of ten are found', () => {
    const { precision, recall, wrong, missed } = score(freshTexts);
    assert.ok(precision >= 0.95, wrong.join('\n'));
    assert.ok(recall >= 0.9, missed.join('\n'));
  });

  test('what is found, solved or no longer needed takes back what was said before', () => {
    const said = ['I need an auditor for TEE code.', 'I need a lawyer.', 'I can help with taxes.'];
    assert.deepEqual(summarize('hermes-of-bob', '', said).needs, ['a lawyer', 'an auditor for TEE code']);
    assert.deepEqual(summarize('hermes-of-bob', '', [...said, 'We found an auditor!']).needs, ['a lawyer']);
    assert.deepEqual(summarize('hermes-of-bob', '', [...said, 'We no longer need a lawyer.']).needs, [
      'an auditor for TEE code',
    ]);
    assert.deepEqual(summarize('hermes-of-bob', '', [...said, 'I can no longer help with taxes.']).offers, []);
    assert.deepEqual(summarize('hermes-of-bob', 'Bob needs a lawyer.', ['I am not looking for a lawyer.']).needs, []);
  });

  test('the text for introductions is what the introducer said, then what was found besides; else nothing', () => {
    const { summary_text } = summarize('hermes-of-bob', 'Bob is my neighbour', ['I need a drummer.']);
    assert.equal(summary_text, 'Bob is my neighbour. Needs: a drummer.');
    assert.equal(summarize('hermes-of-bob', '', ['hello']).summary_text, '');
  });

  test('a hostile text is read in linear time', () => {
    for (const part of [
      'I need ',
      'who which that ',
      '"',
      '> ',
      'a-b.c@d ',
      'is a very big ',
      ', and ',
      '```',
      'my team ',
    ])
      for (const end of ['', '?', ' expert in', '\n'])
        ends(part, () =>
          summarize(
            'hermes-of-bob',
            part.repeat(4_000) + end,
            Array.from({ length: 30 }, () => part.repeat(1_000) + end),
          ),
        );
  });
});

describe('sparks by rule', () => {
  const member = (name: string, needs: string[], offers: string[] = [], expertise: string[] = []) => {
    return { name, needs, offers, expertise, summary_text: '' };
  };
  const fits = (need: string, offer: string) =>
    evaluateByRule({ peers: [member('a', [need]), member('b', [], [offer])] }).should_introduce;

  test('a need of one and an offer of the other must share two words that say something', () => {
    assert.ok(fits('TEE security audits before launch', 'TEE security audits'));
    assert.ok(fits('an auditor for Solidity contracts', 'Solidity contract audits'));
    assert.ok(fits('zero knowledge proofs in Rust', 'zero-knowledge proofs'));
    assert.ok(!fits('help with a new project', 'help with new projects'));
    assert.ok(!fits('an open-source licence expert', 'open-source operators'));
    assert.ok(!fits('TypeScript', 'TypeScript'));
    assert.ok(!fits('a violin teacher', 'TEE audits'));
  });

  test('both directions count, and expertise counts as an offer; two needs or two offers do not', () => {
    const peers = [member('a', [], [], ['TEE attestation']), member('b', ['an expert in TEE attestation'])] as const;
    assert.equal(
      evaluateByRule({ peers: [...peers] }).reason,
      'b needs "an expert in TEE attestation"; a offers "TEE attestation".',
    );
    assert.equal(
      evaluateByRule({ peers: [member('a', ['TEE audits']), member('b', ['TEE audits'])] }).should_introduce,
      false,
    );
    assert.equal(
      evaluateByRule({ peers: [member('a', [], ['TEE audits']), member('b', [], ['TEE audits'])] }).should_introduce,
      false,
    );
  });
});
