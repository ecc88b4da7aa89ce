import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import fc from 'fast-check';
import { AMBIGUITY_TERMS, AMBIGUITY_THRESHOLD, judged, measureAmbiguity } from '#extensions/rlm/run/ambiguity.ts';
import { ends } from '../../../../ends.ts';
import { verifies } from '../../../../verifies.ts';

interface Labelled {
  readonly label: 'clear' | 'vague';
  readonly request: string;
}

function labelled(name: string): readonly Labelled[] {
  const text = readFileSync(join(import.meta.dirname, '../../../../data/rlm', name), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const isOpen = (request: string) => measureAmbiguity(request).score > AMBIGUITY_THRESHOLD;
const failing = (request: string) =>
  measureAmbiguity(request)
    .terms.filter(({ fault }) => fault > 0)
    .map(({ term }) => term);

verifies('rlm:ambiguity:separates', 'of eighty labelled requests, in each half', () => {
  for (const half of ['requests-first.jsonl', 'requests-second.jsonl'].map(labelled)) {
    const [clear, vague] = (['clear', 'vague'] as const).map((label) => half.filter((row) => row.label === label));
    assert.deepEqual([clear?.length, vague?.length], [20, 20]);
    assert.ok((clear ?? []).filter(({ request }) => isOpen(request)).length <= 2);
    assert.ok((vague ?? []).filter(({ request }) => isOpen(request)).length >= 10);
  }
});

verifies('rlm:ambiguity:terms', 'each check is found by itself, and alone is enough to ask', () => {
  assert.deepEqual(measureAmbiguity('Summarize the budget in five lines.'), {
    score: 0,
    terms: Object.entries(AMBIGUITY_TERMS).map(([term, { weight }]) => ({ term, weight, fault: 0 })),
    question: null,
  });
  assert.deepEqual(failing('The budget'), ['says_something']);
  assert.deepEqual(failing('Fix it.'), ['says_something', 'points_nowhere']);
  assert.deepEqual(failing('Make the budget of the harbour nicer'), ['has_an_end']);
  assert.deepEqual(failing('Read the invoice and list the dates in it.'), []);
  assert.deepEqual(failing('Who is the owner?'), []);
  assert.deepEqual(failing('Fasse die Kapitel eins bis drei knapp zusammen.'), []);
  assert.deepEqual(failing('列出所有日期'), []);
  for (const { weight } of Object.values(AMBIGUITY_TERMS)) assert.ok(weight > AMBIGUITY_THRESHOLD && weight <= 1);
});

test('what is asked back begins with what weighs most', () => {
  assert.match(measureAmbiguity('Fix it somehow').question ?? '', /^What exactly should be done.*elsewhere\?/);
});

verifies('rlm:ambiguity:gate', 'over the threshold it asks back; an override is recorded where it was needed', () => {
  const [vague, clear] = ['Fix it.', 'List the dates.'].map(measureAmbiguity);
  assert.ok(vague && clear);
  const at = (force: string | null) => ({ threshold: AMBIGUITY_THRESHOLD, force });
  assert.deepEqual(judged(vague, null, at('the owner said so')), {
    passed: true,
    ambiguity_score: vague.score,
    ambiguity_threshold: AMBIGUITY_THRESHOLD,
    model_rating: null,
    override: 'the owner said so',
    question: null,
  });
  assert.equal(judged(vague, { rating: 0, question: '' }, at(' ')).passed, false);
  assert.deepEqual([judged(clear, null, at('x')).passed, judged(clear, null, at('x')).override], [true, null]);
});

test('property: any text has a score between 0 and 1, the same each time', () => {
  const word = fc.constantFrom('fix', 'it', 'the', 'list', 'dates', 'somehow', 'this', '?', '.', 'é', '漢字', '"');
  const words = fc.array(word).map((all) => all.join(' '));
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), words), (request) => {
      const measured = measureAmbiguity(request);
      assert.ok(measured.score >= 0 && measured.score <= 1);
      assert.deepEqual(measureAmbiguity(request), measured);
      assert.equal(measured.question === null, measured.score === 0);
    }),
  );
});

test('a request of megabytes is measured in linear time', () => {
  for (const part of ['it ', 'list the dates ', '"', '.']) ends(part, () => isOpen(part.repeat(1_000_000)));
});
