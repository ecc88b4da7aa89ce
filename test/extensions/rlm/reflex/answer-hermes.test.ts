import assert from 'node:assert/strict';
import test from 'node:test';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { buildManifest } from '#extensions/rlm/guard/manifest.ts';
import { validateParentSynthesis } from '#extensions/rlm/guard/validate-parent-synthesis.ts';
import { claimedFacts } from '#extensions/rlm/run/read-leaf.ts';
import { askedOf } from '#extensions/rlm/scaffold/envelope.ts';
import { readReply } from '#extensions/rlm/scaffold/read-reply.ts';
import { input as sampleInput } from '../envelope/envelope-samples.ts';
import type { HermesInput } from '../envelope/read-input.ts';
import { answerByRule } from './reflex-inner.ts';

const MATERIAL = `# The harbour

The lamp of the breakwater burns 14 litres of oil a night. Two keepers sign the tide table.

## Bell

FACT:HB-007 The fog bell is rung every ninety seconds.
- Owner: the town council
- Bought on: 1902-05-03
`;

function leaf(question: string, content = MATERIAL): HermesInput {
  const input = sampleInput();
  const [chunk] = input.context.chunks;
  assert.ok(chunk);
  return {
    ...input,
    mode: 'execute_atomic',
    ac_node: { ...input.ac_node, statement: question },
    objective: { ...input.objective, instruction: `Question: ${question}\n\nQuote what answers it.` },
    context: { ...input.context, chunks: [{ ...chunk, content }] },
  };
}

async function reply(input: HermesInput): Promise<JsonObject> {
  const parsed = parseJsonObject(await answerByRule(input as unknown as JsonObject));
  assert.ok(parsed.ok);
  return parsed.value;
}

const quoted = async (question: string, content?: string): Promise<readonly string[]> =>
  claimedFacts(await reply(leaf(question, content))).map(({ text }) => text);

test('a call over a chunk quotes what fits the question, best first, with the chunk and the id beside it', async () => {
  const input = leaf('How often is the fog bell rung?');
  const [first] = claimedFacts(await reply(input));
  assert.deepEqual(first, {
    text: 'FACT:HB-007 The fog bell is rung every ninety seconds.',
    fact_id: 'HB-007',
    chunk_id: input.context.chunks[0]?.chunk_id,
  });
  assert.deepEqual(
    (await quoted('How many litres of oil does the lamp burn?'))[0],
    'The lamp of the breakwater burns 14 litres of oil a night.',
  );
  assert.ok((await quoted('When was it bought?')).includes('Bought on: 1902-05-03'));
  assert.ok((await quoted('Who is the owner of the bell?')).includes('Owner: the town council'));
});

test('nothing fits: no fact, and a gap that says so', async () => {
  const input = leaf('Which giraffes sleep standing?');
  const answer = await reply(input);
  assert.deepEqual(claimedFacts(answer), []);
  assert.equal(answer.verdict, 'partial');
  assert.equal(Array.isArray(answer.residual_gaps) && answer.residual_gaps.length, 1);
});

test('a question for every fact takes what is tagged as one; for the whole, how its sections begin', async () => {
  assert.deepEqual(await quoted('List every fact of the log with its chunk.'), [
    'FACT:HB-007 The fog bell is rung every ninety seconds.',
  ]);
  assert.deepEqual(
    await quoted('Summarize the document.', '# A\n\nOne stands first. Two.\n\n# B\n\nThree opens the next. Four.\n'),
    ['One stands first.', 'Three opens the next.'],
  );
});

test('the replies pass the reader, but for a synthesis without a liberty', async () => {
  for (const mode of ['execute_atomic', 'summarize_chunk', 'decompose_ac', 'synthesize_parent'] as const) {
    for (const question of ['How often is the fog bell rung?', 'giraffes']) {
      const input = { ...leaf(question), mode };
      const text = await answerByRule(input as unknown as JsonObject);
      const read = readReply(text, askedOf(input));
      const faults = read.ok && mode !== 'synthesize_parent' ? read.notes : read.ok ? [] : read.problems;
      assert.deepEqual(faults, [], `${mode} ${question}`);
    }
  }
});

const facts = [
  { fact_id: 'f001.01', text: 'The fog bell is rung every ninety seconds.', evidence_chunk_id: 'a.txt:1-2' },
  { fact_id: 'f001.02', text: 'Two keepers sign the tide table.', evidence_chunk_id: 'a.txt:1-2' },
  { fact_id: 'f002.01', text: 'The  fog bell is rung every ninety seconds.', evidence_chunk_id: 'a.txt:3-4' },
];

function synthesis(question: string, observed_facts: readonly JsonObject[]): HermesInput {
  const input = sampleInput();
  const [child] = input.context.child_results;
  assert.ok(child);
  const payload = { ...child.result_payload, reported_result: { summary: '', observed_facts } };
  const child_results = [{ ...child, completion_status: 'completed', result_payload: payload }];
  return { ...leaf(question), mode: 'synthesize_parent', context: { ...input.context, child_results } };
}

test('a synthesis retains the facts that fit, each text once, and the gate accepts it', async () => {
  const answer = await reply(synthesis('How often is the fog bell rung?', facts));
  assert.deepEqual(answer.result, {
    summary: '1 of 3 reported facts fit the question, from 1 chunk.',
    retained_facts: [facts[0]],
  });
  const manifest = buildManifest({
    entries: facts.map(({ evidence_chunk_id: chunk_id, ...fact }) => ({ ...fact, chunk_id, child_call_id: null })),
  });
  const verdict = validateParentSynthesis({ manifest, synthesis: answer });
  assert.deepEqual([verdict.accepted, verdict.rejected_claims], [true, []]);
});

test('a synthesis over children without facts claims nothing and names the gap', async () => {
  const answer = await reply(synthesis('How often is the fog bell rung?', []));
  assert.equal(answer.verdict, 'partial');
  assert.deepEqual(answer.evidence_references, []);
});

test('a decomposition is atomic, for a rule cannot split', async () => {
  const answer = await reply({ ...leaf('Everything about bells'), mode: 'decompose_ac' });
  assert.equal(answer.verdict, 'atomic');
});
