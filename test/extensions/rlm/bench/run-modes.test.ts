// The baseline modes on the real engine: how many calls are made, what is scored, what is written, what a failing model leaves.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { sha256 } from '#base/ids.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { ok, refuse } from '#base/result.ts';
import type { InnerCall } from '#extensions/rlm/call/inner-call.ts';
import { callByRule } from '#extensions/rlm/reflex-tasks.ts';
import { replayRun } from '#extensions/rlm/trace/replay.ts';
import { readRunRecord } from '#extensions/rlm/trace/run-record.ts';
import { verifyRun } from '#extensions/rlm/trace/verify-run.ts';
import { replayArtifact } from '../../../../bench/rlm/compare-runs.ts';
import { runMessage } from '../../../../bench/rlm/run-fixture.ts';
import { baselineMode, recursiveFixtureMode, truncationMode } from '../../../../bench/rlm/run-modes.ts';
import { loadFixture, ownTruncationFixture, validateFixture } from '../../../../bench/rlm/truncation-fixture.ts';
import { BENCH_ENGINES, VANILLA_SYSTEM, vanillaPrompt } from '../../../../bench/rlm/vanilla-baseline.ts';
import { verifies } from '../../../verifies.ts';
import { recorded, withData } from '../fixtures/recorded.ts';
import { benchPlace, never } from './bench-place.ts';

const COMMITTED = join(process.env.TALARIA_DATA ?? '', 'data/rlm/long_context_truncation.json');
const saying = (completion: string): InnerCall => ({
  family: 'default',
  call: async () => ok({ completion, model: 'm/n', usage: null, cost: null, elapsed_ms: 1, exit_code: null }),
});
const failing: InnerCall = { family: 'default', call: async () => refuse('runtime_error', 'the provider is down') };

function at(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((here, key) => (isJsonObject(here) ? here[key] : undefined), value);
}

describe('rlm/bench: the baseline', () => {
  verifies('rlm:fixture:vanilla-one-call', 'makes exactly one call, whatever comes back', async (t) => {
    for (const inner of [callByRule(systemClock), saying('no JSON at all'), saying('{}'), failing]) {
      const { engine, home, requests } = benchPlace(t, [inner]);
      const result = await baselineMode({ engine, home }, { families: [] }, never());
      assert.ok(result.ok);
      assert.equal(requests.length, 1);
      assert.equal(requests[0]?.call_id, 'rlm_call_vanilla_truncation_baseline');
      assert.equal(at(result.value.artifact, 'baseline', 'hermes_subcall_count'), 1);
      assert.deepEqual(
        JSON.parse(readFileSync(result.value.output, 'utf8')),
        JSON.parse(JSON.stringify(result.value.artifact)),
      );
    }
  });

  test('by rule it scores 1.00, and the guard accepts it', async (t) => {
    const { engine, home } = benchPlace(t, [callByRule(systemClock)]);
    const result = await baselineMode({ engine, home }, { families: [] }, never());
    assert.ok(result.ok);
    assert.deepEqual(result.value.lines.slice(1, 4), [
      'hermes_subcalls: vanilla=1',
      'quality: vanilla=1.00',
      'traceguard (strict): accepted',
    ]);
    assert.equal(result.value.output, join(home, 'rlm/baselines/talaria-long-context-truncation-v1.json'));
  });

  test('the prompt holds the chunks that are read, nothing of the others, and no answer key', () => {
    const bench = loadFixture();
    assert.ok(bench.ok);
    const prompt = vanillaPrompt(bench.value);
    assert.equal(prompt.startsWith('{"schema_version":"rlm.vanilla_baseline.input.v1"'), true);
    assert.equal(prompt.includes('LC-004'), true);
    // Their bytes are the users' cache.
    assert.equal(sha256(VANILLA_SYSTEM).slice(0, 16), '1dec757e9bac0f28');
    assert.equal(sha256(prompt).slice(0, 16), '4654833e78785884');
    for (const hidden of ['LC-005', 'LC-006', 'the bell was sold', 'retained_facts', 'filler 5'])
      assert.equal(prompt.includes(hidden), false, hidden);
  });

  test('a model that fails leaves an artifact that says so, and figures that are null, not 0', async (t) => {
    const { engine, home } = benchPlace(t, [failing]);
    const result = await baselineMode({ engine, home }, { families: [] }, never());
    assert.ok(result.ok);
    assert.equal(result.value.success, false);
    assert.equal(at(result.value.artifact, 'baseline', 'error_message'), 'runtime_error: the provider is down');
    const { elapsed_ms: _, ...measured } = at(result.value.artifact, 'measured') as JsonObject;
    assert.deepEqual(measured, { calls: 1, input_tokens: null, output_tokens: null, cost: null, models: [] });
  });
});

describe('rlm/bench: the comparison', () => {
  verifies('rlm:fixture:recursive-five-calls', 'one call against four chunk calls and one synthesis', async (t) => {
    const { engine, home, requests } = benchPlace(t, [callByRule(systemClock)]);
    const result = await truncationMode({ engine, home }, { families: [] }, never());
    assert.ok(result.ok);
    assert.deepEqual(result.value.lines.slice(0, 3), [
      'Shared truncation benchmark completed; vanilla Hermes and recursive RLM outputs were recorded.',
      'hermes_subcalls: vanilla=1, rlm=5',
      'chunks: selected=4, omitted=2',
    ]);
    assert.equal(result.value.lines[3], 'quality: vanilla=1.00, rlm=1.00, delta=+0.00, rlm_outperforms_vanilla=False');
    const modes = requests.slice(1).map(({ prompt }) => (JSON.parse(prompt) as JsonObject).mode);
    assert.deepEqual(modes, [...Array(4).fill('execute_atomic'), 'synthesize_parent']);
    assert.deepEqual(
      result.value.run_ids.map((id) => engine.store.calls(id).length),
      [1, 5],
    );
    assert.equal(
      requests.some(({ prompt }) => prompt.includes('LC-005')),
      false,
    );
  });

  verifies('rlm:fixture:recursive-five-calls', 'the committed fixture too', {
    options: withData,
    run: async (t) => {
      const { engine, home, requests } = benchPlace(t, [callByRule(systemClock)]);
      const result = await truncationMode({ engine, home }, { families: [], fixture: COMMITTED }, never());
      assert.ok(result.ok);
      assert.equal(requests.length, 6);
      const run = engine.store.find(result.value.run_ids[1] ?? '');
      assert.ok(run.ok);
      const claims = run.value.outcome?.claims as readonly { readonly fact_ids: readonly string[] }[];
      const cited = claims.flatMap(({ fact_ids }) => fact_ids);
      assert.deepEqual([...new Set(cited)].sort(), ['LC-001', 'LC-002', 'LC-003', 'LC-004']);
      assert.equal(at(result.value.artifact, 'traceguard', 'rlm', 'strict', 'accepted'), true);
      const keys = Object.keys(recorded('rlm-long-context-truncation-v1.json')).filter((key) => key !== 'result_path');
      for (const key of keys) assert.ok(key in result.value.artifact, key);
    },
  });

  verifies('rlm:score:replay', 'a comparison of ours replays offline to its own figures', async (t) => {
    const { engine, home } = benchPlace(t, [callByRule(systemClock)]);
    const result = await truncationMode({ engine, home }, { families: [] }, never());
    assert.ok(result.ok);
    const artifact = JSON.parse(readFileSync(result.value.output, 'utf8')) as JsonObject;
    const replay = replayArtifact({ artifact, fixture: ownTruncationFixture() });
    assert.ok(replay.ok);
    assert.equal(replay.value.agrees, true);
    assert.equal(replay.value.lines[2], 'hermes_subcalls: vanilla=1, rlm=5');
  });

  test('a model that writes prose: nothing is accepted, nothing is thrown, the score is 0', async (t) => {
    const { engine, home } = benchPlace(t, [saying('I would rather not say.')]);
    const result = await truncationMode({ engine, home }, { families: [] }, never());
    assert.ok(result.ok);
    assert.equal(at(result.value.artifact, 'rlm_output', 'accepted_claim_count'), 0);
    assert.equal(at(result.value.artifact, 'quality_comparison', 'vanilla_quality', 'score'), 0);
    assert.match(result.value.lines.join('\n'), /tokens: vanilla=not told, rlm=not told; cost: vanilla=not told/);
  });

  test('where the text was cut is reported by the parent, else by the controller, and it is said by whom', () => {
    const outcome = { boundaries: [{ source_path: 'f', last_retained_line: 8, omitted_line_count: 4 }] } as never;
    const calls = (completion: string) => [{ mode: 'synthesize_parent', completion }] as never;
    const told = '{"result":{"truncation_report":{"last_retained_line":1}}}';
    assert.deepEqual(runMessage({ outcome, calls: calls(told) }), { text: told, boundary_reported_by: 'parent' });
    const added = runMessage({ outcome, calls: calls('{"result":{"summary":"s"}}') });
    assert.equal(added.boundary_reported_by, 'controller');
    assert.equal(
      added.text,
      '{"result":{"summary":"s","truncation_report":{"last_retained_line":8,"omitted_line_count":4}}}',
    );
    for (const odd of ['', 'prose', '[]', '{"result":[]}'])
      assert.deepEqual(runMessage({ outcome, calls: calls(odd) }), { text: odd, boundary_reported_by: null });
  });
});

describe('rlm/bench: recursive fixture', () => {
  test('what the section recursive_run expects is held against what came out', async (t) => {
    const { engine, home } = benchPlace(t, [callByRule(systemClock)]);
    const result = await recursiveFixtureMode({ engine, home }, { families: [] }, never());
    assert.ok(result.ok);
    assert.equal(result.value.success, true, result.value.lines.join('\n'));
    assert.equal(result.value.lines.filter((line) => line.startsWith('pass ')).length, 9);
    const fixture = ownTruncationFixture();
    const wrong = { ...fixture.recursive_run.expected_outputs, hermes_subcall_count: 6, required_fact_ids: ['LC-005'] };
    const path = join(home, 'wrong.json');
    writeFileSync(
      path,
      JSON.stringify({ ...fixture, recursive_run: { ...fixture.recursive_run, expected_outputs: wrong } }),
    );
    const other = await recursiveFixtureMode({ engine, home }, { families: [], fixture: path }, never());
    assert.ok(other.ok);
    assert.equal(other.value.success, false);
    assert.deepEqual(
      other.value.lines.filter((line) => line.startsWith('FAIL ')).map((line) => line.split(':')[0]),
      ['FAIL hermes_subcall_count', 'FAIL required_fact_ids'],
    );
  });

  test('a fixture that is missing, no JSON, or disagrees with itself is refused with its reason', async (t) => {
    const { engine, home, requests } = benchPlace(t, [callByRule(systemClock)]);
    const fixture = ownTruncationFixture();
    const cases = {
      fixture_unreadable: undefined,
      fixture_malformed: '{',
      line_count_mismatch: JSON.stringify({ ...fixture, target: { ...fixture.target, line_count: 3 } }),
    };
    for (const [reason, text] of Object.entries(cases)) {
      const path = join(home, `${reason}.json`);
      if (text !== undefined) writeFileSync(path, text);
      const result = await truncationMode({ engine, home }, { families: [], fixture: path }, never());
      assert.equal(result.ok ? 'ok' : result.reason, reason);
    }
    const plain = { ...fixture, recursive_run: undefined };
    const path = join(home, 'plain.json');
    writeFileSync(path, JSON.stringify(plain));
    const result = await recursiveFixtureMode({ engine, home }, { families: [], fixture: path }, never());
    assert.equal(result.ok ? 'ok' : result.reason, 'fixture-not-recursive');
    assert.equal(requests.length, 0);
    assert.equal(validateFixture(fixture).ok, true);
  });
});

describe('rlm/bench: traces', () => {
  verifies(
    'rlm:run:replay',
    'the runs of a comparison verify, and replay without a model to the same state',
    async (t) => {
      const { engine, home, requests } = benchPlace(t, [callByRule(systemClock)]);
      const result = await truncationMode({ engine, home }, { families: [] }, never());
      assert.ok(result.ok);
      const asked = requests.length;
      for (const id of result.value.run_ids) {
        const row = engine.store.find(id);
        assert.ok(row.ok);
        const record = readRunRecord(engine.store, row.value);
        assert.deepEqual(verifyRun(record), [], row.value.kind);
        const replay = await replayRun(record, BENCH_ENGINES, never());
        assert.equal('result' in replay ? replay.result : replay.reason, 'same', JSON.stringify(replay));
      }
      assert.equal(requests.length, asked);
    },
  );
});
