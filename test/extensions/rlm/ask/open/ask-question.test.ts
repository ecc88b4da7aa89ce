/** From a typed question to an outcome in the store, and from the store to the same again. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { askQuestion, type QuestionAnswered, type QuestionAsked } from '#extensions/rlm/ask/ask-question.ts';
import { RUN_ENGINES } from '#extensions/rlm/engine.ts';
import { Recording } from '#extensions/rlm/trace/replay.ts';
import { readRunRecord } from '#extensions/rlm/trace/run-record.ts';
import { openTraceStore } from '#extensions/rlm/trace/trace-store.ts';
import { verifyRun } from '#extensions/rlm/trace/verify-run.ts';
import { verifies } from '../../../../verifies.ts';
import { type AskGround, askGround } from '../ask-ground.ts';
import { js, NOTES } from '../ask-scene.ts';

const never = () => new AbortController().signal;
const ANSWER = js(
  'const h = span(context.search("port")[0]); finish([{text: "The gateway listens on port 8080.", handles: [h]}])',
);

async function ask(
  place: AskGround,
  asked: Partial<QuestionAsked> & Pick<QuestionAsked, 'context'>,
): Promise<QuestionAnswered> {
  const answered = await askQuestion({ ground: place.ground, question: 'Which port?', ...asked }, never());
  assert.ok(answered.ok, JSON.stringify(answered));
  return answered.value;
}

async function refusal(place: AskGround, asked: Partial<QuestionAsked>): Promise<string> {
  const context = { path: join(place.cwd, 'notes.md'), root: place.cwd };
  const answered = await askQuestion({ ground: place.ground, question: 'Which port?', context, ...asked }, never());
  return answered.ok ? 'answered' : `${answered.reason}: ${answered.detail}`;
}

function file(place: AskGround, path: string): { readonly path: string; readonly root: string } {
  return { path: join(place.cwd, path), root: place.cwd };
}

async function replay({ home }: AskGround, run_id: string) {
  const store = openTraceStore(home, { readOnly: true });
  try {
    const row = store.find(run_id);
    assert.ok(row.ok);
    const again = new Recording(readRunRecord(store, row.value));
    return await RUN_ENGINES.ask({ row: row.value, trace: again.trace, calls: again }, never());
  } finally {
    store.close();
  }
}

describe('rlm/ask: a question about a file, a folder, a text, what is piped in', () => {
  test('a file is told as it was named; the run is in the store and is replayed', async (t) => {
    const place = askGround(t, () => ANSWER);
    place.write('docs/notes.md', NOTES);
    const { outcome, kept } = await ask(place, { context: file(place, 'docs/notes.md') });
    assert.equal(outcome.verdict, 'answered');
    assert.ok(kept);
    const [handle] = outcome.handles;
    assert.equal(handle?.kind === 'span' ? handle.place.source_path : '', 'docs/notes.md');
    assert.deepEqual(await replay(place, outcome.run_id), outcome);
  });

  test('the window is that of the model, when nobody names one, and stands in the request', async (t) => {
    const place = askGround(t, () => ANSWER);
    place.write('notes.md', NOTES);
    const mind = { ...place.mind, window: () => 16_384 };
    const windows = [];
    for (const options of [{}, { window_tokens: 9_000 }, { families: ['reflex'] }]) {
      const { outcome } = await ask(place, { context: file(place, 'notes.md'), mind, options });
      const store = openTraceStore(place.home, { readOnly: true });
      const row = store.find(outcome.run_id);
      store.close();
      windows.push(row.ok ? row.value.request.window_tokens : row.reason);
    }
    assert.deepEqual(windows, [16_384, 9_000, 8_192]);
  });

  test('a folder is its text files; others are named; what is left out too', async (t) => {
    const place = askGround(t, () => ANSWER);
    place.write('a/notes.md', NOTES);
    place.write('a/logo.png', new Uint8Array([0, 1, 2]));
    place.write('a/.env', 'KEY=port 1');
    const leaveOut = (path: string) => path.endsWith('.env');
    const { outcome } = await ask(place, { context: { ...file(place, 'a'), leaveOut } });
    assert.deepEqual(outcome.gaps, [
      { what: 'a/.env', why: 'left-out' },
      { what: 'a/logo.png', why: 'binary' },
    ]);
    assert.deepEqual(await replay(place, outcome.run_id), outcome);
  });

  test('a changed, cut or missing file is refused by a replay', async (t) => {
    const place = askGround(t, () => ANSWER);
    const path = place.write('notes.md', NOTES);
    const { outcome } = await ask(place, { context: file(place, 'notes.md') });
    for (const spoil of [() => writeFileSync(path, `${NOTES}x`), () => writeFileSync(path, ''), () => rmSync(path)]) {
      spoil();
      await assert.rejects(replay(place, outcome.run_id), { code: 'context-changed' });
    }
  });

  test('piped input is kept only when that is asked for', async (t) => {
    const place = askGround(t, () => ANSWER);
    const piped = async function* () {
      yield NOTES.slice(0, 100);
      yield Buffer.from(NOTES.slice(100));
    };
    const gone = await ask(place, { context: { input: piped() } });
    assert.equal(gone.context, null);
    assert.deepEqual(readdirSync(join(place.home, 'rlm', 'contexts')), []);
    await assert.rejects(replay(place, gone.outcome.run_id), { code: 'context-changed' });
    const stays = await ask(place, { context: { input: piped() }, keepContext: true });
    assert.ok(stays.context !== null && existsSync(stays.context));
    const [handle] = stays.outcome.handles;
    assert.equal(handle?.kind === 'span' ? handle.place.source_path : '', '-');
    assert.deepEqual(await replay(place, stays.outcome.run_id), stays.outcome);
  });

  test('a text, and a run of which nothing is kept', async (t) => {
    const place = askGround(t, () => ANSWER);
    const { outcome, kept } = await ask(place, { context: { text: NOTES }, keep: false });
    assert.deepEqual([outcome.verdict, kept], ['answered', false]);
    assert.ok(!existsSync(join(place.home, 'rlm', 'runs.sqlite')));
    const stays = await ask(place, { context: { text: NOTES } });
    assert.deepEqual(await replay(place, stays.outcome.run_id), stays.outcome);
  });

  test('no file, an empty one, a binary one, an unreadable one; no question; limits', async (t) => {
    const place = askGround(t, () => ANSWER);
    place.write('empty.md', '');
    place.write('blob', new Uint8Array([0, 0, 1]));
    chmodSync(place.write('shut.md', 'x'), 0);
    place.write('notes.md', NOTES);
    assert.match(await refusal(place, { context: file(place, 'none.md') }), /^context-not-found: .*none\.md/);
    assert.match(await refusal(place, { context: file(place, 'empty.md') }), /^context-empty: .*empty\.md/);
    assert.match(await refusal(place, { context: file(place, 'blob') }), /^context-binary: .*blob/);
    if (process.getuid?.() !== 0)
      assert.match(await refusal(place, { context: file(place, 'shut.md') }), /^context-unreadable: .*shut\.md/);
    assert.match(await refusal(place, { context: { text: ' ' } }), /^context-empty/);
    assert.match(await refusal(place, { question: ' ?! ' }), /^question-missing/);
    assert.match(await refusal(place, { question: 'word '.repeat(2_000) }), /^question-too-long/);
    assert.match(await refusal(place, { options: { max_steps: 0 } }), /^limit-out-of-range: max_steps/);
    assert.match(await refusal(place, { options: { window_tokens: 100 } }), /^limit-out-of-range: window_tokens/);
    assert.match(await refusal(place, { options: { budget: { max_cost: -1 } } }), /^limit-out-of-range: max_cost/);
    assert.match(await refusal(place, { options: { families: ['nobody'] } }), /^rlm-family-unknown/);
    assert.ok(!existsSync(join(place.home, 'rlm', 'runs.sqlite')));
  });

  verifies('rlm:run:max-depth', 'recursion of the processes around it counts in', async (t: TestContext) => {
    const place = askGround(t, () => ANSWER, { TALARIA_RLM_DEPTH: '5' });
    place.write('notes.md', NOTES);
    assert.match(await refusal(place, {}), /^rlm-nested-too-deep/);
  });
});

describe('rlm/ask: a context that changes under the run', () => {
  test('ends it as failed, with whole links and nothing cited', async (t) => {
    const place = askGround(t, (prompt) => {
      if (prompt.includes('"history":[]')) return js('print(context.length)');
      writeFileSync(join(place.cwd, 'notes.md'), 'something else entirely');
      return ANSWER;
    });
    place.write('notes.md', NOTES.repeat(400));
    const { outcome } = await ask(place, { context: file(place, 'notes.md') });
    assert.deepEqual([outcome.verdict, outcome.run_state, outcome.sentences.length], ['failed', 'failed', 0]);
    assert.match(outcome.detail ?? '', /^context-changed: /);
    const store = openTraceStore(place.home, { readOnly: true });
    const row = store.find(outcome.run_id);
    assert.ok(row.ok);
    assert.deepEqual(verifyRun(readRunRecord(store, row.value)), []);
    store.close();
  });
});
