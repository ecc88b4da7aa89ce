import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { escapeRegExp } from '#base/text.ts';
import { searchWords } from '#extensions/rlm/answer-by-rule.ts';
import { askByRule } from './reflex-ask.ts';
import { answerByRule } from './reflex-inner.ts';

const folded = (text: string) => text.replace(/\s+/g, ' ');

const LOG = `# Harbour log

The lamp of the breakwater burns 14 litres of oil a night,
and nobody else fills it. Two keepers sign the tide table.

The bell rings. The bell is old. A bell, no more.
`;

test('a question is answered by quotations, each cited as the span in which it stands', async () => {
  const outcome = await askByRule(LOG, 'How many litres of oil does the lamp burn?');
  assert.equal(outcome.verdict, 'answered');
  const [first] = outcome.sentences;
  assert.equal(first?.text, 'The lamp of the breakwater burns 14 litres of oil a night, and nobody else fills it.');
  assert.deepEqual([first?.grade, first?.place?.start_line], ['quoted', 3]);
  const span = outcome.handles.find(({ id }) => id === first?.handles[0]);
  assert.ok(span?.kind === 'span');
  assert.deepEqual([span.place.start_line, span.place.end_line, folded(span.quote)], [3, 4, first?.text]);
  assert.ok(outcome.sentences.every(({ grade }) => grade === 'quoted'));
});

test('how often a word stands is counted by code, and the number is cited', async () => {
  const outcome = await askByRule(LOG, 'How many times does the word "bell" occur?');
  const [sentence] = outcome.sentences;
  assert.equal(sentence?.text, '"bell" stands 3 times in the context, on 1 lines.');
  assert.equal(sentence?.grade, 'computed');
  const handle = outcome.handles.find(({ id }) => id === sentence?.handles[0]);
  assert.ok(handle?.kind === 'computed');
  assert.equal(handle.output, '{"lines":1,"times":3}');
});

test('nothing found: no answer, and nothing is said', async () => {
  const outcome = await askByRule(LOG, 'Which giraffes sleep standing?');
  assert.deepEqual([outcome.verdict, outcome.sentences], ['no_answer', []]);
});

test('a question for the whole is answered by how its parts begin, in their order', async () => {
  const outcome = await askByRule(LOG, 'Summarize the document.');
  assert.equal(outcome.sentences[0]?.text.startsWith('The lamp of the breakwater'), true);
});

test('after a block that failed, and when no code runs any more, it still only quotes', async () => {
  const history = [{ step: 1, code: '', output: '', cut: 0, failure: 'sub_call_limit: none left', handles: [] }];
  const again = await answerByRule({
    schema_version: 'talaria.rlm.repl.v1',
    task: 'next_step',
    question: 'oil?',
    history,
  });
  assert.ok(!again.includes('llmQuery'));
  const handles = [
    { id: 'h1', kind: 'child', from: 'h0', text: 'The lamp burns.' },
    { id: 'h2', kind: 'child', from: 'h0', text: 'Cut off …' },
  ];
  const last = await answerByRule({
    schema_version: 'talaria.rlm.repl.v1',
    task: 'final_answer',
    question: 'oil?',
    handles,
  });
  assert.deepEqual(JSON.parse(last), { answer: [{ text: 'The lamp burns.', handles: ['h1'] }] });
});

test('what is counted may hold any mark', async () => {
  const outcome = await askByRule(
    'worker-7 ok\nworker-17 ok\nworker-7 (a+b) ok\n',
    'How many lines contain "worker-7"?',
  );
  assert.equal(outcome.sentences[0]?.text, '"worker-7" stands 2 times in the context, on 2 lines.');
  assert.equal(outcome.sentences[0]?.grade, 'computed');
});

test('property: every pattern of the code can be compiled, whatever was asked', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' })), (question) => {
      for (const [start, pattern] of searchWords(`${question} "${question}" limits-of config.yaml`)) {
        assert.ok(new RegExp(pattern, 'iu') instanceof RegExp);
        assert.notEqual(start, '');
      }
      assert.ok(new RegExp(escapeRegExp(question), 'iu').test(question));
    }),
  );
});
