import assert from 'node:assert/strict';
import test from 'node:test';
import { parseJsonObject } from '#base/json.ts';
import { readSubReply } from '#extensions/rlm/ask/read-sub-reply.ts';
import { REFLEX_TASKS } from '#extensions/rlm/reflex-tasks.ts';
import { ownTruncationFixture } from '../../../../bench/rlm/truncation-fixture.ts';
import { answerByRule } from './reflex-inner.ts';

test('four prompts are answered, each by its own name', () => {
  assert.deepEqual(
    REFLEX_TASKS.map(({ schema }) => schema),
    ['rlm.hermes.input.v1', 'rlm.vanilla_baseline.input.v1', 'talaria.rlm.repl.v1', 'talaria.rlm.sub.v1'],
  );
});

test('a sub-call gets claims that its reader takes as standing in the piece', async () => {
  const piece = 'The mail boat ties up at the third ring.\nThe lamp burns 14 litres of oil a night.\n';
  const prompt = {
    schema_version: 'talaria.rlm.sub.v1',
    task: 'answer_from_piece',
    piece,
    question: 'How much oil does the lamp burn?',
  };
  const read = readSubReply(await answerByRule(prompt), piece);
  assert.deepEqual([read.claims, read.refused], [['The lamp burns 14 litres of oil a night.'], []]);
  assert.deepEqual(JSON.parse(await answerByRule({ ...prompt, piece: null })), { answer: '', claims: [] });
});

test('the baseline claims the tagged lines of the chunks that it was given, and nothing beyond', async () => {
  const { target, truncation_config: config, recursive_run } = ownTruncationFixture();
  const retained = target.lines.slice(0, 8);
  const prompt = {
    schema_version: 'rlm.vanilla_baseline.input.v1',
    mode: 'vanilla_single_pass',
    objective: { instruction: recursive_run.initial_prompt },
    context: {
      retained_chunks: [0, 2, 4, 6].map((at) => ({
        chunk_id: `c${at}`,
        content: retained.slice(at, at + 2).join('\n'),
      })),
      omitted_chunk_ids: config.expected_omitted_chunk_ids,
      truncation_boundary: { last_retained_line: 8, omitted_line_count: 4 },
    },
  };
  const answer = parseJsonObject(await answerByRule(prompt));
  assert.ok(answer.ok);
  const { result, verdict, confidence } = answer.value;
  assert.deepEqual(result, {
    summary: '4 of 4 reported facts fit the question, from 4 chunks.',
    retained_facts: [1, 2, 3, 4].map((at) => ({
      fact_id: `LC-00${at}`,
      text: retained[2 * at - 2],
      evidence_chunk_id: `c${2 * at - 2}`,
    })),
    truncation_report: { last_retained_line: 8, omitted_line_count: 4 },
  });
  assert.deepEqual([verdict, confidence], ['partial', 0.8]);
});
