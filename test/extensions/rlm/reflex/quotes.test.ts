import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import fc from 'fast-check';
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { cutPassages } from '#base/text/passages.ts';
import { pickQuotes } from '#extensions/rlm/answer-by-rule.ts';
import { REFLEX_TASKS } from '#extensions/rlm/reflex-tasks.ts';
import { ends } from '../../../ends.ts';
import { slow } from '../../../slow.ts';
import { DOCUMENT_QUESTIONS, type DocumentQuestion, LATER_QUESTIONS } from './questions.ts';
import { answerByRule } from './reflex-inner.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const folded = (text: string) => text.replace(/\s+/g, ' ');
const read = (document: string) => readFileSync(join(ROOT, document), 'utf8');

function placesOf(questions: readonly DocumentQuestion[]): readonly number[] {
  return questions.map(({ document, question, answer }) =>
    pickQuotes(question, read(document)).findIndex(({ text }) => folded(text).includes(answer)),
  );
}

test('of the questions over our own documents the quotes answer nine of ten, four of five among the first three', () => {
  for (const questions of [DOCUMENT_QUESTIONS, LATER_QUESTIONS]) {
    const places = placesOf(questions);
    const missed = questions.filter((_, at) => places[at] === -1).map(({ question }) => question);
    assert.ok(missed.length <= questions.length * 0.1, missed.join('\n'));
    assert.ok(places.filter((place) => place >= 0 && place < 3).length >= questions.length * 0.8);
  }
});

test('every answer stands in its document', () => {
  for (const { document, answer } of [...DOCUMENT_QUESTIONS, ...LATER_QUESTIONS])
    assert.ok(folded(read(document)).includes(answer), `${document}: ${answer}`);
});

test('passages are stretches of the text in order: sentences, items, lines of code, headings', () => {
  const text =
    '# Top\nOne two\nthree. Four e.g. five.\n\n- item a\n  goes on\n- item b\n```js\nlet x = 1;\n```\n| a | b |\n';
  assert.deepEqual(
    cutPassages(text).map((one) => [one.kind, one.text, one.under]),
    [
      ['heading', 'Top', ''],
      ['sentence', 'One two\nthree.', 'Top'],
      ['sentence', 'Four e.g. five.', 'Top'],
      ['item', 'item a\n  goes on', 'Top'],
      ['item', 'item b', 'Top'],
      ['code', 'let x = 1;', 'Top'],
      ['item', '| a | b |', 'Top'],
    ],
  );
});

test('a piece that begins inside a fence is read as one', () => {
  const kinds = cutPassages('ls -l\n```\n\nProse here.\n\n```sh\nls\n```\n').map(({ kind }) => kind);
  assert.deepEqual(kinds, ['code', 'sentence', 'code']);
});

const line = fc.constantFrom(
  '# Harbour',
  'The lamp burns 14 litres of oil a night. Two keepers sign.',
  '- Owner: the town',
  'FACT:HB-1 the bell rings.',
  '```',
  '| bell | 90 s |',
  '',
  'bell\tbell  bell',
);
const material = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.array(line, { maxLength: 20 }).map((lines) => lines.join('\n')),
);
const question = fc.oneof(
  fc.constantFrom('How often is the bell rung?', 'List every fact.', 'Who is the owner?', 'List all dates', '', 'oil'),
  fc.string({ unit: 'binary', maxLength: 80 }),
);

/** Texts of everything that a reply offers as evidence. */
function offered(reply: JsonValue | undefined): readonly string[] {
  if (Array.isArray(reply)) return reply.flatMap(offered);
  if (!isJsonObject(reply)) return [];
  return Object.entries(reply).flatMap(([key, value]) =>
    ['text', 'quoted_evidence', 'claim'].includes(key) && typeof value === 'string' ? [value] : offered(value),
  );
}

test('property: no rule offers a text that does not stand in its material, and each answers the same twice', async () => {
  await fc.assert(
    fc.asyncProperty(material, question, async (content, asked) => {
      const facts = [{ fact_id: 'f1', text: content, evidence_chunk_id: 'c1' }];
      const prompts: readonly JsonObject[] = [
        ...['execute_atomic', 'summarize_chunk', 'decompose_ac'].map((mode) => ({
          schema_version: 'rlm.hermes.input.v1',
          mode,
          ac_node: { statement: asked },
          context: { chunks: [{ chunk_id: 'c1', content }] },
        })),
        {
          schema_version: 'rlm.hermes.input.v1',
          mode: 'synthesize_parent',
          ac_node: { statement: asked },
          context: { child_results: [{ result_payload: { reported_result: { observed_facts: facts } } }] },
        },
        {
          schema_version: 'rlm.vanilla_baseline.input.v1',
          objective: { instruction: asked },
          context: { retained_chunks: [{ chunk_id: 'c1', content }] },
        },
        { schema_version: 'talaria.rlm.sub.v1', piece: content, question: asked },
      ];
      for (const prompt of prompts) {
        const text = await answerByRule(prompt);
        assert.equal(await answerByRule(prompt), text);
        const reply = parseJsonObject(text);
        assert.ok(reply.ok);
        for (const one of offered(reply.value)) assert.ok(content.includes(one), one);
      }
    }),
  );
});

test('property: every rule answers every object, in JSON or as code', async () => {
  const known = [
    'mode',
    'context',
    'chunks',
    'child_results',
    'objective',
    'ac_node',
    'history',
    'handles',
    'question',
    'piece',
    'task',
  ];
  const value = fc.jsonValue({ maxDepth: 3 });
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.constantFrom(...known), value), async (fields) => {
      for (const { schema } of REFLEX_TASKS) {
        const text = await answerByRule({ ...fields, schema_version: schema } as JsonObject);
        assert.ok(text.startsWith('```js\n') || parseJsonObject(text).ok);
      }
    }),
  );
});

slow('a chunk of megabytes is read in linear time, whatever it holds', async () => {
  for (const part of ['a ', 'bell. ', '\n', '```\n', '. ', '| ', 'FACT:x y\n', '€', '"', '.   ']) {
    const piece = part.repeat(Math.floor(1_000_000 / part.length));
    const question = 'How often is the bell rung?';
    await ends(part, () => answerByRule({ schema_version: 'talaria.rlm.sub.v1', piece, question }));
  }
});
