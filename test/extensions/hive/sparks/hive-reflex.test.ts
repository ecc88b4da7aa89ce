// The model-free tier answers both questions by rule, in the shape that a model is asked for.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#base/json.ts';
import { userMessage } from '#core/model/message.ts';
import { createReflexClient } from '#core/reflex/reflex-client.ts';
import { PAIR_PROMPT } from '#extensions/hive/sparks/pairs/pair-prompt.ts';
import { readEvaluation } from '#extensions/hive/sparks/pairs/read-evaluation.ts';
import { sparkTasks } from '#extensions/hive/sparks/reflex/spark-tasks.ts';
import { readSummary } from '#extensions/hive/sparks/summary/read-summary.ts';

async function answer(input: JsonObject): Promise<string> {
  const client = createReflexClient([], { tasks: sparkTasks() });
  const messages = [userMessage(JSON.stringify(input))];
  let text = '';
  const request = { system: PAIR_PROMPT, messages, tools: [], purpose: 'peers' as const };
  for await (const event of client.stream(request, new AbortController().signal))
    if (event.type === 'text-delta') text += event.text;
  return text;
}

const member = (name: string, parts: JsonObject = {}) => ({
  name,
  needs: [],
  offers: [],
  expertise: [],
  summary_text: '',
  ...parts,
});

describe('peer questions without a model', () => {
  test('a summary quotes the introduction and the peer, and is read as any answer', async () => {
    const read = readSummary(
      await answer({
        schema_version: 'peer-summary/1',
        peer: { name: 'hermes-of-bob' },
        introduction: { by: 'hermes-of-alice', text: 'Bob needs an auditor for TEE code.' },
        messages: [
          { author: 'peer', from: 'hermes-of-bob', time: '', text: 'I can help with Rust reviews.' },
          { author: 'me', from: 'me', time: '', text: 'I need a lawyer.' },
          { author: 'other', from: 'hermes-of-bob', time: '', text: 'I need a drummer.' },
        ],
      }),
    );
    assert.ok(read.ok);
    assert.deepEqual(read.value, {
      needs: ['an auditor for TEE code'],
      offers: ['Rust reviews'],
      expertise: [],
      summary_text: 'Bob needs an auditor for TEE code. Offers: Rust reviews.',
    });
  });

  test('a spark is told where a need and an offer share two words, with medium confidence', async () => {
    const peers = [
      member('bob', { needs: ['TEE code audits'] }),
      member('carol', { offers: ['audits of TEE firmware'] }),
    ];
    const read = readEvaluation(await answer({ schema_version: 'peer-spark/1', peers }));
    assert.ok(read.ok);
    assert.deepEqual(read.value, {
      should_introduce: true,
      reason: 'bob needs "TEE code audits"; carol offers "audits of TEE firmware".',
      confidence: 'medium',
    });
  });

  test('what is no such question gives nothing', async () => {
    for (const schema_version of ['peer-summary/1', 'peer-spark/1']) {
      const text = await answer({ schema_version, peers: 'all', messages: 7 });
      const [summary, evaluation] = [readSummary(text), readEvaluation(text)];
      assert.ok(summary.ok || evaluation.ok);
      if (summary.ok) assert.deepEqual(summary.value, { needs: [], offers: [], expertise: [], summary_text: '' });
      if (evaluation.ok) assert.equal(evaluation.value.should_introduce, false);
    }
  });
});
