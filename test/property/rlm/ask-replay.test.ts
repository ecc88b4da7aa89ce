// An ask with a random model: whatever it replies, replay equals run byte for byte, the links of its trace hold, nothing unsupported is cited.
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import fc from 'fast-check';
import { type RunEngine, replayRun } from '#extensions/rlm/trace/replay.ts';
import { readRunRecord } from '#extensions/rlm/trace/run-record.ts';
import { verifyRun } from '#extensions/rlm/trace/verify-run.ts';
import { js, playAsk } from '../../extensions/rlm/ask/ask-scene.ts';
import type { ScriptedInner } from '../../extensions/rlm/call/scripted-call.ts';
import { many } from '../../property-runs.ts';
import { verifies } from '../../verifies.ts';

const ROOT: readonly ScriptedInner[] = [
  js('var h = span(context.search("port")[0]); print(h)'),
  js('var n = compute((all) => all.search("ERROR", {max: 1000}).length, context); print(n.value)'),
  js(
    'var r = await llmQueryBatched([1, 40, 80].map((at) => ({question: "What?", piece: span(at, at + 90)}))); print(r.map((one) => one.ok))',
  ),
  js('var d = await rlmQuery("Which port?", span(0, 150)); print(d.text)'),
  js('throw new Error("no")'),
  js(
    'finish([{text: "The gateway listens on port 8080.", handles: ["h1"]}, {text: "The port is 9999.", handles: ["h1", "h2"]}])',
  ),
  '{"answer": [{"text": "There are 20 lines with ERROR.", "handles": ["h1", "h2"]}]}',
  'It is port 8080 [h1], certainly.',
  '{"answer": [{"text": "cut',
  { refuse: 'timeout' },
  (request) => request.prompt,
];
const SUB: readonly ScriptedInner[] = [
  '{"answer": "8080", "claims": ["The gateway listens on port 8080.", "The port is 9999."]}',
  'Its host is named Berlin.',
  '{"answer": ',
  { refuse: 'runtime_error', detail: 'status 500' },
];

describe('rlm/ask: properties of a run', () => {
  verifies(['rlm:run:replay', 'rlm:ask:cited'], 'whatever the model replies', async () => {
    const numbers = fc.infiniteStream(fc.nat(1_000));
    await fc.assert(
      fc.asyncProperty(numbers, async (drawn) => {
        const pick = (from: readonly ScriptedInner[]): ScriptedInner => from[drawn.next().value % from.length] ?? '';
        const script = ({ call_id }: { readonly call_id: string }) => pick(call_id.includes('sub:') ? SUB : ROOT);
        const { outcome, store } = await playAsk({ script, request: { max_steps: 4, depth: 2, concurrency: 2 } });
        for (const { text, grade } of outcome.sentences) assert.ok(grade !== 'quoted' || !text.includes('9999'), text);
        const found = store.find('ask_1');
        assert.ok(found.ok);
        const record = readRunRecord(store, found.value);
        assert.deepEqual(verifyRun(record), []);
        const ask: RunEngine = async ({ trace }) => {
          await playAsk({ script: {}, trace, request: { max_steps: 4, depth: 2, concurrency: 4 } });
        };
        const replayed = await replayRun(record, { ask }, new AbortController().signal);
        assert.equal('result' in replayed ? replayed.result : replayed.reason, 'same', JSON.stringify(replayed));
      }),
      { numRuns: many(30, 1) },
    );
  });
});
