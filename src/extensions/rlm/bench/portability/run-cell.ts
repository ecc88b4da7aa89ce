// Owns one cell of the live matrix (notes 10.3, 10.4): one fixture through one family by the real engine, and its record.
// Invariant: a call that did not come back makes the cell incomplete, not failed; latency, tokens and cost are measured or null.
import { isoTime } from '#base/clock.ts';
import type { PortabilityFixture } from '../../fixtures/portability-fixture.ts';
import type { MemoryMode } from '../../memory/memory-mode.ts';
import type { MemoryRecord } from '../../memory/memory-record.ts';
import { type MemoryTrace, memoryTrace } from '../../memory/memory-trace.ts';
import { RECALLED_TASKS } from '../../memory/memory-words.ts';
import { observeCell } from '../../memory/observe-cell.ts';
import { recallPriors } from '../../memory/recall-priors.ts';
import type { BenchEngine } from '../engine/bench-engine.ts';
import { measuredCalls } from '../engine/measured-calls.ts';
import { type EngineRun, runFixture } from '../engine/run-fixture.ts';
import { type CellEvidence, cellEvidence } from './cell-evidence.ts';
import { type CellFindings, type CellVerdict, cellVerdict } from './cell-status.ts';

export interface CellAsk {
  readonly fixture: PortabilityFixture;
  readonly family_id: string;
  readonly memory: CellMemory;
}

export interface CellMemory {
  readonly mode: MemoryMode;
  /** What is remembered before the cell; read when the mode reads. */
  readonly recall: () => readonly MemoryRecord[];
  /** Keeps what the cell has taught; gives what was stored. */
  readonly store: (records: readonly MemoryRecord[]) => Promise<readonly MemoryRecord[]>;
}

export type LiveCell = Awaited<ReturnType<typeof runCell>>;

const QUESTION = 'List every FACT line that the supplied chunks hold, each with its id and its chunk.';
const LONGEST_ERROR = 500;

export async function runCell(engine: BenchEngine, ask: CellAsk, signal: AbortSignal) {
  const { fixture, family_id, memory } = ask;
  const { fixture_id, fixture_category } = fixture;
  const place = { family_id, fixture_category };
  const records = memory.mode.reads ? memory.recall() : [];
  const priors = recallPriors(records, { tasks: RECALLED_TASKS, ...place });
  const options = { families: [family_id], memory: { mode: memory.mode.mode, priors, fixture_category } };
  const run = await runFixture(engine, { fixture: linesOf(fixture), question: QUESTION, options }, signal);
  if (!run.ok) throw new TypeError(run.detail);
  const evidence = cellEvidence(fixture, run.value);
  const found = findings(fixture, run.value, evidence);
  const verdict = cellVerdict(found);
  const seconds = Math.round(run.value.elapsed_ms) / 1000;
  const observed = observeCell({
    ...place,
    ...lesson(evidence, verdict),
    latency_seconds: seconds,
    created_at: isoTime(engine.clock.now()),
  });
  const stored = memory.mode.writes && found.completed ? await memory.store(observed.records) : [];
  const used = { mode: memory.mode.mode, recalled: priors, stored, rejected: observed.rejected };
  return {
    fixture_id,
    fixture_category,
    family_id,
    contract_variant: 'rlm_forge_traceguard',
    primary_cell: true,
    completed: found.completed,
    ...verdict,
    error: found.completed ? null : errorOf(run.value),
    latency_seconds: seconds,
    run_id: run.value.run_id,
    validated_claim_count: found.validated_claims,
    artifact: artifactOf({ fixture_id, family_id, run: run.value, evidence, memory: memoryTrace(used) }),
  };
}

/** A pass without a checked claim teaches nothing; nor does one that the fixture itself refuses. */
function lesson({ initial, repair }: CellEvidence, verdict: CellVerdict) {
  return {
    initial: {
      accepted: initial.accepted && verdict.mandatory_contract_pass,
      accepted_claims: initial.accepted_claims.length,
      reasons: initial.rejected_claims.map(({ reason }) => reason),
    },
    repair_accepted: repair.repair_accept,
  };
}

function linesOf({ target, selected_chunk_ids }: PortabilityFixture) {
  const chunk_line_limit = target.lines.length / Math.max(1, target.chunks.length);
  const max_atomic_chunks = selected_chunk_ids.length;
  return { path: target.path, lines: target.lines, chunk_line_limit, max_atomic_chunks, selected: selected_chunk_ids };
}

function findings(fixture: PortabilityFixture, { outcome, calls }: EngineRun, evidence: CellEvidence): CellFindings {
  const failures = calls.filter(({ success }) => !success);
  const synthesis = calls.findLast(({ mode }) => mode === 'synthesize_parent');
  const completed = evidence.covered && synthesis?.success === true && outcome.verdict !== 'cancelled';
  return {
    completed,
    timed_out: failures.some(({ adapter_error }) => adapter_error?.type === 'timeout'),
    accepted: outcome.verdict === 'accepted' && evidence.effective.accepted,
    covered: evidence.covered,
    fresh_facts: evidence.fresh.length,
    wanted_facts: fixture.expected_retained_facts.length,
    validated_claims: evidence.effective.accepted_claims.length,
    fixture_accepted: evidence.against_fixture.accepted,
  };
}

function errorOf({ outcome, calls }: EngineRun): string {
  const failed = calls.find(({ adapter_error }) => adapter_error !== null)?.adapter_error;
  const text = failed ? `${failed.type}: ${failed.detail}` : (outcome.detail ?? 'the run did not complete');
  return text.slice(0, LONGEST_ERROR);
}

interface CellArtifact {
  readonly fixture_id: string;
  readonly family_id: string;
  readonly run: EngineRun;
  readonly evidence: CellEvidence;
  readonly memory: MemoryTrace;
}

function artifactOf({ fixture_id, family_id, run, evidence, memory }: CellArtifact) {
  const cell = `${fixture_id}::${family_id}`;
  const { input_tokens, output_tokens, cost, calls, models } = measuredCalls(run.calls);
  return {
    trace_structure: {
      root_call_id: `${cell}::root`,
      parent_synthesis_call_id: `${cell}::parent`,
      synthesis_cell_identity: `${cell}::rlm_forge_traceguard::parent_synthesis`,
      child_call_count: evidence.child_records.length,
      call_count: calls,
      engine_call_ids: run.calls.map(({ call_id }) => call_id),
      child_records: evidence.child_records,
      selected_chunk_coverage_pass: evidence.covered,
      fresh_child_evidence_pass: evidence.stray_facts === 0 && evidence.fresh.length > 0,
      fresh_child_evidence_manifest: evidence.fresh,
    },
    parent_synthesis: evidence.parent,
    initial_traceguard_validation: evidence.initial,
    effective_parent_synthesis: evidence.effective_parent,
    effective_traceguard_validation: evidence.effective,
    traceguard_validation: evidence.against_fixture,
    traceguard_repair: evidence.repair,
    run_verdict: run.outcome.verdict,
    secondary_metrics: {
      models,
      token_usage: input_tokens === null || output_tokens === null ? null : { input_tokens, output_tokens },
      cost_usd: cost,
      latency_seconds: Math.round(run.elapsed_ms) / 1000,
    },
    memory_trace: memory,
  };
}
