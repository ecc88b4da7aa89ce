// The live matrix on the real engine: reflex passes without a key, what is empty fails, memory does what its mode says.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { isJsonObject, type JsonObject, parseJsonObject } from '#base/json.ts';
import type { InnerCall } from '#extensions/rlm/call/inner-call.ts';
import { createProcessCall } from '#extensions/rlm/call/process-call.ts';
import { appendMemory, readMemoryFile } from '#extensions/rlm/memory/memory-file.ts';
import type { MemoryModeName } from '#extensions/rlm/memory/memory-record.ts';
import { memoryReport } from '#extensions/rlm/memory/memory-report.ts';
import { callByRule } from '#extensions/rlm/reflex-tasks.ts';
import { ok, refuse } from '#public/talaria.ts';
import { matrixReport, offlineReport } from '../../../bench/rlm/portability-report.ts';
import {
  aggregateStatus,
  type CellMemory,
  familySummary,
  type Matrix,
  portabilityFixtures,
  runMatrix,
} from '../../../bench/rlm/run-matrix.ts';
import { benchPlace, never } from '../../extensions/rlm/bench/bench-place.ts';
import { realClock } from '../../ground.ts';
import { verifies } from '../../verifies.ts';

const FIXTURES = portabilityFixtures(8);

function memoryOf(mode: MemoryModeName | undefined, path: string): CellMemory {
  return {
    mode: mode ?? 'off',
    recall: () => readMemoryFile(path).records,
    store: async (records) => (await appendMemory(path, records)).stored,
  };
}

interface Asked {
  readonly calls: readonly InnerCall[];
  readonly memory?: MemoryModeName;
  readonly smoke?: boolean;
  readonly path?: string;
}

async function matrixOf(t: TestContext, { calls, memory, smoke = false, path }: Asked) {
  const { engine, home, requests } = benchPlace(t, calls);
  const store = path ?? join(home, 'memory.jsonl');
  const checkpoints: Matrix[] = [];
  const matrix = await runMatrix(
    engine,
    {
      mode: smoke ? 'live-smoke' : 'live-primary',
      families: calls.map(({ family }) => family),
      fixtures: FIXTURES,
      memory: memoryOf(memory, store),
      checkpoint: (so) => checkpoints.push(so),
    },
    never(),
  );
  return { matrix, checkpoints, requests, store };
}

/** Reflex, but its synthesis goes through `change` first. */
function spoiled(family: string, change: (reply: JsonObject, prompt: JsonObject) => JsonObject | string): InnerCall {
  const honest = callByRule(realClock, family);
  return {
    family,
    call: async (request, signal) => {
      const reply = await honest.call(request, signal);
      const [prompt, said] = [parseJsonObject(request.prompt), parseJsonObject(reply.ok ? reply.value.completion : '')];
      if (!reply.ok || !prompt.ok || !said.ok || prompt.value.mode !== 'synthesize_parent') return reply;
      const changed = change(said.value, prompt.value);
      return ok({ ...reply.value, completion: typeof changed === 'string' ? changed : JSON.stringify(changed) });
    },
  };
}

const withoutHandle = (reply: JsonObject): JsonObject => {
  const result = isJsonObject(reply.result) ? reply.result : {};
  const [first, ...rest] = result.retained_facts as readonly JsonObject[];
  return { ...reply, result: { ...result, retained_facts: [{ ...first, evidence_chunk_id: null }, ...rest] } };
};

describe('rlm/bench: the live matrix', () => {
  verifies(
    'rlm:memory:off-by-default',
    'reflex passes all eight fixtures with its own evidence; memory is off',
    async (t) => {
      const { matrix, checkpoints, store } = await matrixOf(t, { calls: [callByRule(realClock, 'reflex')] });
      assert.equal(matrix.aggregate_result.status, 'pass', JSON.stringify(matrix.cells.map((cell) => cell.failures)));
      assert.deepEqual([matrix.passed_primary_cell_count, matrix.vacuous_pass_count, matrix.clean], [8, 0, true]);
      assert.deepEqual(
        checkpoints.map(({ cells }) => cells.length),
        [1, 2, 3, 4, 5, 6, 7, 8],
      );
      for (const { artifact, validated_claim_count } of matrix.cells) {
        assert.equal(artifact.trace_structure.call_count, 5);
        assert.equal(artifact.trace_structure.fresh_child_evidence_manifest.length, 4);
        assert.ok(validated_claim_count >= 4);
        assert.deepEqual(artifact.memory_trace, {
          mode: 'off',
          recalled_priors: [],
          stored_observations: [],
          rejected_memory_candidates: [],
          contamination_guard: { passed: true, rejected_count: 0 },
        });
      }
      assert.equal(existsSync(store), false);
    },
  );

  verifies(
    'rlm:memory:modes',
    'write stores and recalls nothing, read recalls and stores nothing, read-write does both',
    async (t) => {
      const calls = [callByRule(realClock, 'reflex')];
      const written = await matrixOf(t, { calls, memory: 'write' });
      assert.deepEqual([written.matrix.memory_summary.recalled_priors, written.matrix.clean], [0, false]);
      assert.ok(written.matrix.memory_summary.stored_observations >= 8);
      const before = readFileSync(written.store, 'utf8');
      const read = await matrixOf(t, { calls, memory: 'read', path: written.store });
      assert.ok(read.matrix.memory_summary.recalled_priors > 0);
      assert.equal(readFileSync(written.store, 'utf8'), before);
      assert.ok(read.requests.some(({ prompt }) => prompt.includes('operational_policy_only')));
      const both = await matrixOf(t, { calls, memory: 'read-write', path: written.store });
      assert.ok(
        both.matrix.memory_summary.recalled_priors > 0 && readFileSync(written.store, 'utf8').length > before.length,
      );
      assert.equal(both.matrix.aggregate_result.status, 'pass');
      const off = await matrixOf(t, { calls, path: written.store });
      assert.equal(
        off.requests.some(({ prompt }) => prompt.includes('memory_priors')),
        false,
      );
    },
  );

  verifies(
    'rlm:memory:not-evidence',
    'with or without memory the cells have the same verdicts and claims',
    async (t) => {
      const calls = [callByRule(realClock, 'a'), spoiled('b', withoutHandle)];
      const facts = ({ matrix }: { readonly matrix: Matrix }) =>
        matrix.cells.map((cell) => [cell.fixture_id, cell.status, cell.validated_claim_count]);
      const first = await matrixOf(t, { calls, memory: 'read-write' });
      const again = await matrixOf(t, { calls, memory: 'read', path: first.store });
      assert.deepEqual(facts(again), facts(await matrixOf(t, { calls })));
    },
  );

  verifies('rlm:memory:observations', 'a pass without a checked claim fails, and teaches nothing good', async (t) => {
    const echo = spoiled('echo', (_, prompt) => ({ ...prompt, required_schema: { answer: 'x' } }));
    const { matrix, store } = await matrixOf(t, { calls: [echo], memory: 'write' });
    assert.equal(matrix.aggregate_result.status, 'fail');
    assert.equal(matrix.family_summary[0]?.status, 'not_supported');
    assert.ok(matrix.cells.every((cell) => cell.failures.includes('vacuous_pass')));
    const kinds = new Set(readMemoryFile(store).records.map(({ kind }) => kind));
    assert.equal(kinds.has('provider_schema_stability'), false);
    assert.equal(kinds.has('schema_hint_needed'), true);
    assert.ok(memoryReport(readMemoryFile(store)).effects.some(({ policy }) => policy.output_schema === 'strict'));
  });

  test('a handle that is left out is mended from the children, and remembered', async (t) => {
    const { matrix, store } = await matrixOf(t, { calls: [spoiled('forgetful', withoutHandle)], memory: 'write' });
    assert.equal(matrix.aggregate_result.status, 'pass');
    for (const { artifact } of matrix.cells) assert.equal(artifact.traceguard_repair.repair_accept, true);
    const kinds = readMemoryFile(store).records.map(({ kind }) => kind);
    assert.ok(kinds.includes('missing_evidence_handle_seen') && kinds.includes('repair_strategy_succeeded'));
  });

  test('a fact from beyond the cut is refused, and the family fails', async (t) => {
    const leaky = spoiled('leaky', (reply) => {
      const result = isJsonObject(reply.result) ? reply.result : {};
      const leak = {
        fact_id: 'LP-01-005',
        text: 'An old notice gave another opening hour.',
        evidence_chunk_id: 'x:5-5',
      };
      return { ...reply, result: { ...result, observed_facts: [leak] } };
    });
    const { matrix } = await matrixOf(t, { calls: [leaky], smoke: true });
    assert.deepEqual(
      matrix.cells.map(({ status, failures }) => [status, failures.includes('traceguard_rejected')]),
      [['live_contract_fail', true]],
    );
    assert.equal(matrix.family_summary[0]?.status, 'contract_failure');
    assert.equal(matrix.aggregate_result.status, 'inconclusive');
  });

  test('a family that does not answer is incomplete, not failed; a timeout is told apart; errors are short', async (t) => {
    const down: InnerCall = { family: 'down', call: async () => refuse('runtime_error', 'x'.repeat(5000)) };
    const slow: InnerCall = { family: 'slow', call: async () => refuse('timeout', 'no whole reply') };
    const { matrix } = await matrixOf(t, { calls: [down, slow], smoke: true, memory: 'write' });
    assert.deepEqual(
      matrix.cells.map((cell) => [cell.status, cell.completed, (cell.error ?? '').length <= 500]),
      [
        ['infra_skip', false, true],
        ['infra_timeout', false, true],
      ],
    );
    assert.deepEqual(
      matrix.family_summary.map(({ status }) => status),
      ['incomplete', 'incomplete'],
    );
    assert.equal(matrix.aggregate_result.status, 'inconclusive');
    assert.equal(matrix.memory_summary.stored_observations, 0);
    assert.match(matrixReport(matrix).tables[1]?.rows[0]?.join(' ') ?? '', /infra_skip/);
  });

  test('a program of another agent is a family as any other', async (t) => {
    const surroundings = {
      variables: { PATH: process.env.PATH, HOME: '/nonexistent' },
      outside: 0,
      redact: (text: string) => text,
      clock: realClock,
    };
    const command = [process.execPath, join(import.meta.dirname, '../../extensions/rlm/bench/agent-program.ts')];
    const program = createProcessCall({ family: 'program', command, env: [], input: 'json', surroundings });
    const { matrix } = await matrixOf(t, { calls: [program], smoke: true });
    assert.equal(matrix.aggregate_result.status, 'pass', JSON.stringify(matrix.cells[0]?.error));
    const metrics = matrix.cells[0]?.artifact.secondary_metrics;
    assert.deepEqual([metrics?.token_usage, metrics?.cost_usd], [null, null]);
  });
});

describe('rlm/bench: what cells come to', () => {
  test('one failed cell is a contract failure, two are no support; the whole passes only when every family does', () => {
    const cells = (statuses: readonly ('pass' | 'primary_contract_failure' | 'infra_skip')[]) =>
      statuses.map((failure_classification) => ({
        family_id: 'f',
        completed: failure_classification !== 'infra_skip',
        failure_classification,
        latency_seconds: 2,
      }));
    const status = (...all: Parameters<typeof cells>[0]) => familySummary('f', cells(all), 3);
    const [pass, one, two, part] = [
      status('pass', 'pass', 'pass'),
      status('pass', 'primary_contract_failure', 'pass'),
      status('primary_contract_failure', 'primary_contract_failure', 'pass'),
      status('pass', 'pass', 'infra_skip'),
    ];
    assert.deepEqual(
      [pass, one, two, part].map((family) => family.status),
      ['pass', 'contract_failure', 'not_supported', 'incomplete'],
    );
    assert.equal(pass.mean_latency_seconds, 2);
    assert.deepEqual(
      [
        aggregateStatus([pass]),
        aggregateStatus([pass, one]),
        aggregateStatus([pass, two]),
        aggregateStatus([part]),
        aggregateStatus([]),
      ],
      ['pass', 'inconclusive', 'fail', 'inconclusive', 'inconclusive'],
    );
  });

  test('offline: 96 cells are planned for three families, 24 of them primary and checked', () => {
    const families = ['one', 'two', 'three'];
    const report = offlineReport({ fixtures: FIXTURES, families, planOnly: false });
    assert.equal(report.passed, true);
    assert.deepEqual([report.document.planned_cell_count, report.document.primary_cell_count], [96, 24]);
    assert.deepEqual(report.document.aggregate_result, {
      status: 'preflight_pass',
      primary_claim_status: 'not_evaluated_without_live_provider_calls',
      required_completed_primary_cells_per_family: 8,
    });
    const plan = offlineReport({ fixtures: portabilityFixtures(12), families, planOnly: true });
    assert.deepEqual([plan.document.run_mode, plan.document.fixture_count, plan.tables.length], ['dry_plan', 12, 0]);
  });
});
