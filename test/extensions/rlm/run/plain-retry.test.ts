import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ChunkText } from '#extensions/rlm/run/fresh-facts.ts';
import { PLAIN_RULE, PLAIN_SYSTEM } from '#extensions/rlm/run/plain-prompt.ts';
import { readPlain } from '#extensions/rlm/run/read-leaf.ts';
import { verifyRun } from '#extensions/rlm/trace/verify-run.ts';
import { verifies } from '../../../verifies.ts';
import { createRecordedTrace } from '../trace/recorded.ts';
import { childReply, go, harbour, QUESTION, recordOf, requestOver, run, type Script, scripted } from './run-ground.ts';

const CHUNK_2 = 'rlm_call_atomic_chunk_002';
const GULLS = 'Gulls circled above pier 2 all day.';
const SHIPS = 'The harbour master counted 12 ships at pier 2.';

/** What the second chunk's call says first, and what it says when it is asked plainly. */
function weak(first: ReturnType<Script>, plain: string): Script {
  return (call_id) => {
    if (!call_id.startsWith(CHUNK_2)) return undefined;
    return call_id === CHUNK_2 ? first : plain;
  };
}

const refused = childReply([{ text: 'Seagulls were there.' }]);

describe('a child whose reply was of no use', () => {
  for (const [name, first] of [
    ['a broken envelope', '{"mode": "execute_atomic", "result": {'],
    ['prose of its own', 'The harbour was busy, I believe.'],
    ['quotations that stand nowhere', JSON.stringify(refused)],
    ['too much', { refuse: 'reply_too_large' }],
    ['nothing in time', { refuse: 'timeout' }],
  ] as const) {
    verifies('rlm:run:failed-child', `(${name}) is asked plainly, and heard where its lines stand`, async () => {
      const inner = scripted(weak(first, `Sure! Here they are:\n- ${GULLS}`));
      const { outcome } = await run(requestOver(harbour(3)), { inner });
      const again = inner.requests.filter(({ call_id }) => call_id.startsWith(CHUNK_2)).at(1);
      assert.equal(again?.call_id, `${CHUNK_2}_retry_1`);
      assert.equal(again.system, PLAIN_SYSTEM);
      assert.ok(again.prompt.startsWith(`${PLAIN_RULE}\n\nQuestion: ${QUESTION}\n\nText:\nFACT:HB-002 `));
      assert.ok(
        again.prompt.endsWith(
          `${GULLS}\n\n\nSentences of the text that answer the question "${QUESTION}", copied word for word:`,
        ),
      );
      assert.equal(again.max_output_tokens, 384);
      const facts = outcome.evidence.filter(({ chunk_id }) => chunk_id === 'harbour.txt:3-4');
      assert.deepEqual(
        facts.map(({ text, fact_id, child_call_id }) => [text, fact_id, child_call_id]),
        [[GULLS, 'f002.01', `${CHUNK_2}_retry_1`]],
      );
      assert.deepEqual(outcome.gaps, []);
      assert.equal(outcome.totals.calls, 5);
    });
  }

  test('and again nothing is a gap, and its call counts', async () => {
    const inner = scripted(weak('no idea', 'no idea'));
    const { outcome } = await run(requestOver(harbour(3)), { inner });
    assert.deepEqual(outcome.gaps, [
      { what: 'harbour.txt:3-4', why: 'no usable reply: no line of the reply stands in the text' },
    ]);
    assert.equal(inner.requests.length, 5);
    const limited = await run(requestOver(harbour(3), { budget: { max_calls: 4 } }), {
      inner: scripted(weak('no', GULLS)),
    });
    assert.ok(limited.outcome.totals.calls <= 4);
  });

  test('that reported nothing, in form, is not asked again', async () => {
    const inner = scripted(weak(JSON.stringify(childReply([])), GULLS));
    await run(requestOver(harbour(3)), { inner });
    assert.equal(inner.requests.length, 4);
  });

  verifies('rlm:run:replay', 'is the same again from the record, and the record holds together', async () => {
    const prepared = requestOver(harbour(3));
    const { outcome, store, run_id } = await run(prepared, { inner: scripted(weak('no idea', GULLS)) });
    const silent = scripted(() => ({ refuse: 'no_model' }));
    const again = await go(prepared.request, createRecordedTrace(store, run_id), { inner: silent });
    assert.deepEqual(again, outcome);
    assert.equal(silent.requests.length, 0);
    assert.deepEqual(verifyRun(recordOf({ store, run_id })), []);
  });
});

describe('a plain reply', () => {
  const chunkOf = (text: string): ChunkText => ({
    ...{ chunk_id: 'a.txt:1-9', source_path: 'a.txt', start_line: 1, end_line: 9, start_byte: 0, end_byte: 0 },
    ...{ token_estimate: 0, truncated: false, lossy: false, text },
  });
  const textsOf = (reply: string, text: string) => readPlain(reply, [chunkOf(text)]).facts.map((fact) => fact.text);
  const CHUNK = `FACT:HB-002 ${SHIPS}\n${GULLS}\nIt rained.`;

  for (const [name, reply, heard] of [
    ['lines with marks', `1. ${GULLS}\n* "${SHIPS}"`, [GULLS, SHIPS]],
    ['a sentence beside an invented one', `It was sunny. ${GULLS} ${SHIPS} Nobody knows.`, [GULLS, SHIPS]],
    ['a line once', `${GULLS}\n${GULLS}`, [GULLS]],
    ['altered numbers', 'The harbour master counted 2 ships at pier 2.', []],
    ['short lines', 'It rained.', []],
    ['what comes before it repeats its prompt', `${GULLS}\n${PLAIN_RULE}\n\nText:\n${CHUNK}`, [GULLS]],
    ['an echo', `${PLAIN_RULE}\n\nQuestion: ?\n\nText:\n${CHUNK}`, []],
    ['nothing', '  ', []],
  ] as const)
    test(`of ${name}`, () => assert.deepEqual(textsOf(reply, CHUNK), heard));

  test('that repeats most of a long text has chosen nothing', () => {
    const lines = Array.from(
      { length: 40 },
      (_, at) => `On day ${at} the harbour master counted ${at + 3} ships at the pier.`,
    );
    const text = lines.join('\n');
    assert.equal(readPlain(lines.slice(3, 5).join('\n'), [chunkOf(text)]).facts.length, 2);
    const wide = text.replaceAll('\n', ' ');
    assert.match(readPlain(wide, [chunkOf(wide)]).problems[0] ?? '', /repeats the text/);
    assert.ok(textsOf(text, text).length <= 12);
  });
});
