import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { ok, refuse } from '#base/result.ts';
import type { InnerCall } from '#extensions/rlm/call/inner-call.ts';
import { type Fault, faultyCall, INJECTED, missingHandle, unsupportedClaim } from '#extensions/rlm/demo/faulty-call.ts';

const FACT = { fact_id: 'f1', text: 'one', evidence_chunk_id: 'a:1-2' };
const SYNTHESIS = { mode: 'synthesize_parent', result: { summary: 's', retained_facts: [FACT] }, residual_gaps: [] };
const REQUEST = { call_id: 'c', system: '', prompt: '{}', max_output_tokens: 10, timeout_ms: 10 };

async function through(reply: JsonObject | string | null, fault: Fault) {
  const completion = typeof reply === 'string' ? reply : JSON.stringify(reply);
  const answer = { completion, model: 'm', usage: null, cost: null, elapsed_ms: 1, exit_code: null };
  const inner: InnerCall = {
    family: 'default',
    call: async () => (reply === null ? refuse('timeout', 'late') : ok(answer)),
  };
  const faulty = faultyCall(inner, fault);
  const outcome = await faulty.call(REQUEST, new AbortController().signal);
  return { outcome, faulty, completion };
}

async function changed(reply: JsonObject, fault: Fault): Promise<JsonObject> {
  const { outcome, faulty } = await through(reply, fault);
  assert.equal(faulty.changed, 1);
  assert.ok(outcome.ok);
  const read = parseJsonObject(outcome.value.completion);
  assert.ok(read.ok);
  return read.value;
}

describe('a call with a fault', () => {
  test('a claim is put in, and nothing else is changed', async () => {
    const made = await changed(SYNTHESIS, unsupportedClaim);
    const facts = [FACT, { ...INJECTED, evidence_chunk_id: 'a:1-2' }];
    assert.deepEqual(made, { ...SYNTHESIS, result: { summary: 's', retained_facts: facts } });
  });

  test('the handle of the first fact is left out, and nothing else is changed', async () => {
    const made = await changed(SYNTHESIS, missingHandle);
    assert.deepEqual(made, {
      ...SYNTHESIS,
      result: { summary: 's', retained_facts: [{ ...FACT, evidence_chunk_id: null }] },
    });
  });

  test('what is no synthesis goes through as it is, and is not counted', async () => {
    for (const reply of [{ ...SYNTHESIS, mode: 'execute_atomic' }, 'prose', { mode: 'synthesize_parent' }, null]) {
      const { outcome, faulty, completion } = await through(reply, unsupportedClaim);
      assert.equal(faulty.changed, 0);
      assert.equal(outcome.ok ? outcome.value.completion : outcome.reason, reply === null ? 'timeout' : completion);
      assert.equal((await through(reply, missingHandle)).faulty.changed, 0);
    }
  });
});
