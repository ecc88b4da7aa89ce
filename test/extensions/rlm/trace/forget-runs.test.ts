/** What `forget` takes out of the runs: whole runs, their texts and their bytes. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { forgetRuns, openTraceStore, traceStorePath } from '#extensions/rlm/trace/trace-store.ts';
import { createTempHome } from '#testing/temp-home.ts';

const WORD = 'zebrafinch77';

/** Two runs: the text that one of them has kept holds the word, the other only shares the rest. */
function keepTwo(home: string): void {
  const store = openTraceStore(home, { clock: systemClock });
  for (const [run_id, text] of [
    ['one', `the code is ${WORD}`],
    ['two', 'it rains'],
  ] as const) {
    const trace = store.begin({ run_id, kind: 'ask', request: { question: 'what?' }, root: '', sources: [] });
    trace.keepText('shared by both');
    const hash = trace.keepText(text);
    trace.emit({ type: 'rlm.run.started', node_id: null, causal_parent_event_id: null, data: { hash } });
    trace.emit({ type: 'rlm.run.finished', node_id: null, causal_parent_event_id: null, data: {} });
    trace.finish({ state: 'completed', outcome: { verdict: 'answered' } });
    mkdirSync(join(home, 'rlm/contexts', run_id), { recursive: true });
    writeFileSync(join(home, 'rlm/contexts', run_id, 'input'), text);
  }
  store.close();
}

function left(home: string): readonly string[] {
  const store = openTraceStore(home, { readOnly: true });
  const ids = store.list().map(({ run_id }) => run_id);
  store.close();
  return ids;
}

describe('forgetting runs', () => {
  test('a run that holds the text goes wholly, with its context and its bytes; the other stays whole', async (t) => {
    const home = createTempHome(t).path;
    keepTwo(home);
    const done = await forgetRuns({ home, clock: systemClock }, { holds: (text) => text.includes(WORD) });
    assert.deepEqual(done, { count: 1, busy: [] });
    assert.deepEqual(left(home), ['two']);
    assert.equal(readFileSync(traceStorePath(home)).includes(WORD), false);
    assert.equal(readFileSync(traceStorePath(home)).includes('it rains'), true);
    assert.deepEqual(
      ['one', 'two'].map((id) => existsSync(join(home, 'rlm/contexts', id))),
      [false, true],
    );
  });

  test('runs that began before a time go; without runs nothing is made', async (t) => {
    const home = createTempHome(t).path;
    assert.deepEqual(await forgetRuns({ home, clock: systemClock }, { before: systemClock.now() }), {
      count: 0,
      busy: [],
    });
    assert.equal(existsSync(join(home, 'rlm')), false);
    keepTwo(home);
    const early = await forgetRuns({ home, clock: systemClock }, { before: systemClock.now() - 3_600_000 });
    assert.equal(early.count, 0);
    const all = await forgetRuns({ home, clock: systemClock }, { before: systemClock.now() + 1 });
    assert.equal(all.count, 2);
    assert.deepEqual(left(home), []);
  });
});
