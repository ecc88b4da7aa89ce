import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import fc from 'fast-check';
import { ambiguityGate } from '#extensions/rlm/ambiguity/ambiguity-gate.ts';
import { AMBIGUITY_TERMS, AMBIGUITY_THRESHOLD } from '#extensions/rlm/ambiguity/ambiguity-terms.ts';
import { type AmbiguityRequest, measureAmbiguity } from '#extensions/rlm/ambiguity/measure-ambiguity.ts';
import { ends } from '../../../ends.ts';
import { verifies } from '../../../verifies.ts';

type Labelled = AmbiguityRequest & { readonly id: string; readonly label: 'clear' | 'vague' };

function labelled(name: string): readonly Labelled[] {
  const text = readFileSync(join(import.meta.dirname, '../../../data/rlm', name), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const scoreOf = (request: string, target: AmbiguityRequest['target'] = 'exists') =>
  measureAmbiguity({ request, target }).score;
const failing = (request: AmbiguityRequest) =>
  measureAmbiguity(request)
    .terms.filter(({ fault }) => fault > 0)
    .map(({ term }) => term);

verifies(
  'rlm:ambiguity:separates',
  'eighty labelled requests are told apart, at least nine of ten of each label in each half',
  () => {
    const halves = ['requests-first.jsonl', 'requests-second.jsonl'].map(labelled);
    for (const half of halves) {
      for (const label of ['clear', 'vague'] as const) {
        const those = half.filter((request) => request.label === label);
        const missed = those.filter(
          (request) => measureAmbiguity(request).score > AMBIGUITY_THRESHOLD !== (label === 'vague'),
        );
        assert.equal(those.length, 20);
        assert.ok(missed.length <= 2, missed.map(({ id }) => id).join());
      }
    }
  },
);

verifies('rlm:ambiguity:terms', 'each term is found by itself, and alone is enough to ask', () => {
  const base = { request: 'Summarize the budget in five lines.', target: 'exists' } as const;
  assert.deepEqual(measureAmbiguity(base), {
    score: 0,
    terms: Object.entries(AMBIGUITY_TERMS).map(([term, { weight }], at) => ({
      term,
      weight,
      fault: 0,
      found: ['there', 'both', 'none', 'named or default', 'bounded'][at],
    })),
    question: null,
  });
  assert.deepEqual(failing({ ...base, target: 'missing' }), ['target_exists']);
  assert.deepEqual(failing({ ...base, target: 'none' }), ['target_exists']);
  assert.deepEqual(failing({ ...base, request: 'The budget' }), ['verb_and_object']);
  assert.deepEqual(failing({ ...base, request: 'Summarize the budget like last time' }), ['no_unresolved_pronoun']);
  assert.deepEqual(failing({ ...base, request: 'Make the budget nicer' }), ['output_form']);
  assert.deepEqual(failing({ ...base, request: 'Summarize the budget and so on' }), ['scope_bounded']);
  for (const { weight } of Object.values(AMBIGUITY_TERMS)) assert.ok(weight > AMBIGUITY_THRESHOLD && weight <= 1);
  assert.deepEqual(failing({ ...base, request: 'Make the budget nicer', output_form: 'a table' }), []);
});

test('a pronoun is resolved by what the request names before it', () => {
  assert.equal(scoreOf('Read the invoice and list the dates in it.'), 0);
  assert.equal(scoreOf('Verify that the totals match.'), 0);
  assert.equal(scoreOf('List the functions that are never called.'), 0);
  assert.equal(scoreOf('Summarize this chapter.'), 0);
  assert.deepEqual(failing({ request: 'Summarize that.', target: 'exists' }), [
    'verb_and_object',
    'no_unresolved_pronoun',
  ]);
});

test('what is asked back begins with what weighs most', () => {
  const { question } = measureAmbiguity({ request: 'Fix it somehow', target: 'missing' });
  assert.match(question ?? '', /^Which file, folder or text should be read\? What exactly should be done/);
});

test('another language is not measured by English words, its target is', () => {
  assert.equal(scoreOf('Fasse die Kapitel eins bis drei knapp zusammen und nenne alle Fristen.'), 0);
  assert.equal(scoreOf('列出 所有 日期'), 0);
  assert.equal(scoreOf('Fasse die Kapitel eins bis drei knapp zusammen.', 'missing'), 0.5);
});

verifies(
  'rlm:ambiguity:gate',
  'over the threshold the gate asks back; an override is recorded and a rating only kept',
  () => {
    const vague = measureAmbiguity({ request: 'Fix it.', target: 'exists' });
    const clear = measureAmbiguity({ request: 'List the dates.', target: 'exists' });
    const asked = ambiguityGate(vague, { model_rating: 0 });
    assert.ok(asked.ok);
    assert.deepEqual(
      [asked.value.passed, asked.value.model_rating, asked.value.override, asked.value.question !== null],
      [false, 0, null, true],
    );
    const forced = ambiguityGate(vague, { override: 'the owner said so' });
    assert.deepEqual(
      forced.ok && [forced.value.passed, forced.value.override, forced.value.question, forced.value.ambiguity_score],
      [true, 'the owner said so', null, vague.score],
    );
    const blank = ambiguityGate(vague, { override: ' ' });
    assert.equal(blank.ok && blank.value.passed, false);
    const passed = ambiguityGate(clear, { override: 'not needed', model_rating: 1 });
    assert.deepEqual(passed.ok && [passed.value.passed, passed.value.override], [true, null]);
    for (const threshold of [-0.1, 0.3, Number.NaN]) assert.equal(ambiguityGate(clear, { threshold }).ok, false);
  },
);

test('property: any text has a score between 0 and 1, the same each time, never lower without its target', () => {
  const word = fc.constantFrom(
    'fix',
    'it',
    'the',
    'list',
    'dates',
    'everything',
    'somehow',
    'this',
    '?',
    '.',
    'better',
    'we',
    'discussed',
    'é',
    '漢字',
    '"',
    "'",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(word).map((words) => words.join(' ')),
      ),
      (request) => {
        const there = measureAmbiguity({ request, target: 'exists' });
        const gone = measureAmbiguity({ request, target: 'missing' });
        assert.ok(there.score >= 0 && gone.score <= 1 && gone.score >= there.score);
        assert.deepEqual(measureAmbiguity({ request, target: 'exists' }), there);
        assert.equal(there.question === null, there.score === 0);
      },
    ),
  );
});

test('a request of megabytes is measured in linear time', () => {
  for (const part of ['it ', 'list the dates ', '"', 'as ', '.', 'and so ', 'a/'])
    ends(part, () => scoreOf(part.repeat(1_000_000)));
});
