// Owns the contract ablation on the real engine (notes 8, 22.10): six contracts, the gate run on each synthesis, calls counted where they are
// made. The replies are scripted, the verdicts are not. Invariant: what is called unsupported is found by the scorer, not by the script.
import { type Clock, systemClock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { roundHalfEven } from '#base/number/round-half-even.ts';
import { ABLATION_CONTRACTS, ablationFixtures } from '../../fixtures/contract-ablation.ts';
import type { Generated } from '../../fixtures/generated-fixture.ts';
import { scriptedCompletion } from '../../fixtures/scripted-completion.ts';
import { scoreCompletion } from '../../score/score-completion.ts';
import { memoryTraceStore } from '../../trace/memory-trace-store.ts';
import type { BenchEngine } from '../engine/bench-engine.ts';
import { runFixture } from '../engine/run-fixture.ts';
import { guardVerdict } from '../modes/guard-verdict.ts';
import { scriptedInner } from './scripted-inner.ts';

const CONFIDENCE = 0.94;
type Contract = (typeof ABLATION_CONTRACTS)[number];

export interface EngineRow {
  readonly fixture_id: string;
  readonly policy_id: string;
  /** Counted by the inner call itself. */
  readonly call_count: number;
  /** What the reply of the parent, or of the single call, claims beyond its evidence. */
  readonly unsupported_in_reply: boolean;
  /** What was accepted into the state. */
  readonly unsupported_in_state: boolean;
  readonly accepted: boolean;
}

export async function engineAblation(
  signal: AbortSignal,
  fixtures: readonly Generated[] = ablationFixtures(),
  clock: Clock = systemClock,
) {
  const rows: EngineRow[] = [];
  for (const generated of fixtures) {
    for (const contract of ABLATION_CONTRACTS) {
      signal.throwIfAborted();
      rows.push(await engineRow({ generated, contract, clock }, signal));
    }
  }
  return {
    schema_version: 'talaria.rlm.engine_ablation.v1',
    fixture_count: fixtures.length,
    evaluation_count: rows.length,
    policy_summary: ABLATION_CONTRACTS.map(({ policy_id, isRecursive }) => summary(policy_id, isRecursive, rows)),
    evaluations: rows,
  };
}

interface RowAsk {
  readonly generated: Generated;
  readonly contract: Contract;
  readonly clock: Clock;
}

async function engineRow({ generated, contract, clock }: RowAsk, signal: AbortSignal): Promise<EngineRow> {
  const { fixture, targets } = generated;
  const { behaviour, policy_id } = contract;
  const completion = scriptedCompletion({ fixture, behaviour, confidence: CONFIDENCE, targets });
  const inner = scriptedInner(completion as unknown as JsonObject);
  const score = scoreCompletion({ fixture, completion });
  const unsupported_in_reply = score.claimed_omitted_fact_ids.length + score.cited_omitted_chunk_ids.length > 0;
  const store = memoryTraceStore(clock);
  const engine = { inner: new Map([[inner.family, inner]]), store, clock };
  const accepted = contract.isRecursive
    ? await acceptedByEngine(engine, generated, signal)
    : await acceptedAlone(inner, generated, signal);
  store.close();
  return {
    fixture_id: fixture.fixture_id,
    policy_id,
    call_count: inner.count(),
    unsupported_in_reply,
    unsupported_in_state: unsupported_in_reply && accepted,
    accepted,
  };
}

async function acceptedByEngine(engine: BenchEngine, { fixture }: Generated, signal: AbortSignal): Promise<boolean> {
  const { target, truncation_config: config } = fixture;
  const { chunk_line_limit, max_atomic_chunks, expected_selected_chunk_ids: selected } = config;
  const lines = { path: target.path, lines: target.lines, chunk_line_limit, max_atomic_chunks, selected };
  const ask = { fixture: lines, question: 'List every fact with its chunk.', options: {} };
  const run = await runFixture(engine, ask, signal);
  if (!run.ok) throw new TypeError(run.detail);
  return run.value.outcome.verdict === 'accepted';
}

/** A single call has no children: the gate holds its reply against what it was given. */
async function acceptedAlone(
  inner: ReturnType<typeof scriptedInner>,
  { fixture }: Generated,
  signal: AbortSignal,
): Promise<boolean> {
  const prompt = JSON.stringify({ mode: 'vanilla_single_pass' });
  const request = { call_id: 'single', system: '', prompt, max_output_tokens: 4000, timeout_ms: 1000 };
  const reply = await inner.call(request, signal);
  return reply.ok && guardVerdict({ fixture, completion: reply.value.completion, mode: 'strict' }).accepted;
}

function summary(policy_id: string, isRecursive: boolean, all: readonly EngineRow[]) {
  const rows = all.filter((row) => row.policy_id === policy_id);
  const mean = (value: (row: EngineRow) => number) =>
    roundHalfEven(rows.reduce((sum, row) => sum + value(row), 0) / Math.max(1, rows.length), 4);
  return {
    policy_id,
    recursive: isRecursive,
    evaluation_count: rows.length,
    mean_call_count: mean((row) => row.call_count),
    accepted_count: rows.filter((row) => row.accepted).length,
    unsupported_rate_without_gate: mean((row) => Number(row.unsupported_in_reply)),
    unsupported_rate_with_gate: mean((row) => Number(row.unsupported_in_state)),
  };
}
