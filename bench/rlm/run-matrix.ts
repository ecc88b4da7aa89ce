// Owns one cell of the live matrix (notes 10.3, 10.4): one fixture through one family by the real engine, what its calls and outcome prove, and its record.
// Invariant: a call that did not come back makes the cell incomplete, not failed; coverage counts answers of children, never ids that we wrote ourselves;
// latency, tokens and cost are measured or null.
import { isoTime } from '#base/clock.ts';
import { isJsonObject, type JsonValue } from '#base/json.ts';
import { oneLine } from '#base/text.ts';
import type { CallRecord } from '#extensions/rlm/call/call-record.ts';
import type { Engine as BenchEngine } from '#extensions/rlm/engine.ts';
import { extractJson } from '#extensions/rlm/guard/extract-json.ts';
import { buildManifest, type ManifestEntry } from '#extensions/rlm/guard/manifest.ts';
import type { Validation } from '#extensions/rlm/guard/read-claims.ts';
import { type RepairBlock, repairMissingHandles } from '#extensions/rlm/guard/repair-missing-handles.ts';
import { validateParentSynthesis } from '#extensions/rlm/guard/validate-parent-synthesis.ts';
import { observeCell } from '#extensions/rlm/memory/lessons.ts';
import {
  type MemoryModeName,
  type MemoryRecord,
  type RejectedLine,
  readsMemory,
  writesMemory,
} from '#extensions/rlm/memory/memory-record.ts';
import { type MemoryPrior, RECALLED_TASKS, recallPriors } from '#extensions/rlm/memory/priors.ts';
import type { FreshFact } from '#extensions/rlm/outcome.ts';
import {
  buildPortabilityFixture,
  OPTIONAL_SPECS,
  type PortabilityFixture,
  SHARED_SPECS,
} from './portability-fixture.ts';
import { type EngineRun, measuredCalls, parentCompletion, runFixture } from './run-fixture.ts';

export interface CellAsk {
  readonly fixture: PortabilityFixture;
  readonly family_id: string;
  readonly memory: CellMemory;
}

export interface CellMemory {
  readonly mode: MemoryModeName;
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
  const records = readsMemory(memory.mode) ? memory.recall() : [];
  const priors = recallPriors(records, { tasks: RECALLED_TASKS, ...place });
  const options = { families: [family_id], memory: { mode: memory.mode, priors, fixture_category } };
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
  const stored = writesMemory(memory.mode) && found.completed ? await memory.store(observed.records) : [];
  const used = { mode: memory.mode, recalled: priors, stored, rejected: observed.rejected };
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

interface MemoryTrace {
  readonly mode: MemoryModeName;
  readonly recalled_priors: readonly MemoryPrior[];
  readonly stored_observations: readonly MemoryRecord[];
  readonly rejected_memory_candidates: readonly RejectedLine[];
  readonly contamination_guard: { readonly passed: boolean; readonly rejected_count: number };
}

export interface MemoryUse {
  readonly mode: MemoryModeName;
  readonly recalled: readonly MemoryPrior[];
  readonly stored: readonly MemoryRecord[];
  readonly rejected: readonly RejectedLine[];
}

export function memoryTrace({ mode, recalled, stored, rejected }: MemoryUse): MemoryTrace {
  return {
    mode,
    recalled_priors: recalled,
    stored_observations: stored,
    rejected_memory_candidates: rejected,
    contamination_guard: { passed: rejected.length === 0, rejected_count: rejected.length },
  };
}

export type LiveMode = 'live-smoke' | 'live-primary';

export interface MatrixAsk {
  readonly mode: LiveMode;
  readonly families: readonly string[];
  readonly fixtures: readonly PortabilityFixture[];
  readonly memory: CellMemory;
  readonly checkpoint: (matrix: Matrix) => void;
}

export type Matrix = ReturnType<typeof matrixOf>;

/** @param count 8: those that every family runs; 12: the optional ones too */
export function portabilityFixtures(count: 8 | 12): readonly PortabilityFixture[] {
  const specs = count === 8 ? SHARED_SPECS : [...SHARED_SPECS, ...OPTIONAL_SPECS];
  return specs.map(buildPortabilityFixture);
}

export async function runMatrix(engine: BenchEngine, ask: MatrixAsk, signal: AbortSignal): Promise<Matrix> {
  const fixtures = ask.mode === 'live-smoke' ? ask.fixtures.slice(0, 1) : ask.fixtures;
  const cells: LiveCell[] = [];
  for (const family_id of ask.families) {
    for (const fixture of fixtures) {
      if (signal.aborted) break;
      cells.push(await runCell(engine, { fixture, family_id, memory: ask.memory }, signal));
      ask.checkpoint(matrixOf({ ...ask, fixtures }, [...cells]));
    }
  }
  return matrixOf({ ...ask, fixtures }, cells);
}

function matrixOf({ mode, families, fixtures, memory }: MatrixAsk, cells: readonly LiveCell[]) {
  const required = fixtures.length;
  const summaries = families.map((family) => familySummary(family, cells, required));
  const passed = cells.filter((cell) => cell.mandatory_contract_pass).length;
  const completed = cells.filter((cell) => cell.completed).length;
  return {
    schema_version: 'rlm_forge.live_portability_primary.v1',
    run_mode: mode.replace('-', '_'),
    live_model_calls: true,
    memory_mode: memory.mode,
    clean: memory.mode === 'off',
    fixture_count: required,
    runtime_family_count: families.length,
    primary_cell_count: required * families.length,
    completed_primary_cell_count: completed,
    passed_primary_cell_count: passed,
    vacuous_pass_count: cells.filter((cell) => cell.mandatory_contract_pass && cell.validated_claim_count === 0).length,
    aggregate_result: {
      status: aggregateStatus(summaries),
      required_completed_primary_cells_per_family: required,
      primary_claim:
        'The contract of child evidence and parent synthesis was kept or not, cell by cell. Nothing is said of the quality of a model.',
    },
    family_summary: summaries,
    memory_summary: {
      recalled_priors: cells.reduce((sum, { artifact }) => sum + artifact.memory_trace.recalled_priors.length, 0),
      stored_observations: cells.reduce(
        (sum, { artifact }) => sum + artifact.memory_trace.stored_observations.length,
        0,
      ),
      rejected_candidates: cells.reduce(
        (sum, { artifact }) => sum + artifact.memory_trace.contamination_guard.rejected_count,
        0,
      ),
    },
    cells,
  };
}

export interface ChildRecord {
  readonly call_id: string;
  readonly parent_call_id: string | null;
  readonly chunk_id: string;
  readonly output: JsonValue;
}

export interface CellEvidence {
  readonly child_records: readonly ChildRecord[];
  readonly covered: boolean;
  /** Facts of children that the fixture holds under the same id, chunk and text. */
  readonly fresh: readonly ManifestEntry[];
  /** Facts of children that it does not hold so. */
  readonly stray_facts: number;
  readonly parent: JsonValue;
  readonly initial: Validation;
  readonly repair: RepairBlock;
  readonly effective_parent: JsonValue;
  readonly effective: Validation;
  /** Over the manifest of the fixture: what the bench knows and the run did not. */
  readonly against_fixture: Validation;
}

export function cellEvidence(fixture: PortabilityFixture, { calls, outcome }: EngineRun): CellEvidence {
  const child_records = childRecordsOf(calls);
  const answered = new Set(child_records.map(({ chunk_id }) => chunk_id));
  const fresh = freshEntries(fixture, outcome.evidence);
  const manifest = buildManifest({ entries: fresh, required: fresh.map(({ fact_id }) => fact_id) });
  const parent = parentOf(calls);
  const initial = validateParentSynthesis({ manifest, synthesis: parent });
  const childRecords = fresh.map(({ chunk_id, fact_id, text }) => ({
    chunk_id,
    output: { observed_facts: [{ fact_id, text, evidence_chunk_id: chunk_id }] },
  }));
  const selectedChunkIds = fixture.selected_chunk_ids;
  const { synthesis, repair } = repairMissingHandles({ manifest, synthesis: parent, childRecords, selectedChunkIds });
  return {
    child_records,
    covered: selectedChunkIds.every((chunk_id) => answered.has(chunk_id)),
    fresh,
    stray_facts: outcome.evidence.length - fresh.length,
    parent,
    initial,
    repair,
    effective_parent: synthesis as JsonValue,
    effective: validateParentSynthesis({ manifest, synthesis }),
    against_fixture: validateParentSynthesis({ manifest: buildManifest(fixture), synthesis }),
  };
}

function childRecordsOf(calls: readonly CallRecord[]): readonly ChildRecord[] {
  return calls
    .filter(({ mode, success }) => mode === 'execute_atomic' && success)
    .flatMap(({ call_id, parent_call_id, selected_chunk_ids, completion }) =>
      selected_chunk_ids.map((chunk_id) => ({ call_id, parent_call_id, chunk_id, output: completion })),
    );
}

/** Case counts, white space and the tag before the text do not. */
function freshEntries(fixture: PortabilityFixture, facts: readonly FreshFact[]): readonly ManifestEntry[] {
  const wanted = new Map(fixture.expected_retained_facts.map((fact) => [fact.fact_id, fact]));
  const entries = facts.flatMap(({ fact_id, chunk_id, text, child_call_id }): readonly ManifestEntry[] => {
    const fact = wanted.get(fact_id);
    const isSame = fact?.chunk_id === chunk_id && bare(fact.text, fact_id) === bare(text, fact_id);
    return isSame ? [{ fact_id, chunk_id, text, child_call_id }] : [];
  });
  return [...new Map(entries.map((entry) => [entry.fact_id, entry])).values()];
}

function bare(text: string, fact_id: string): string {
  const folded = oneLine(text);
  const tag = `FACT:${fact_id} `;
  return folded.startsWith(tag) ? folded.slice(tag.length) : folded;
}

function parentOf(calls: readonly CallRecord[]): JsonValue {
  const read = extractJson(parentCompletion(calls) ?? '');
  return read.ok && isJsonObject(read.value) ? read.value : null;
}

export type CellClass = 'pass' | 'primary_contract_failure' | 'infra_skip' | 'infra_timeout';

export interface CellFindings {
  readonly completed: boolean;
  readonly timed_out: boolean;
  readonly accepted: boolean;
  readonly covered: boolean;
  readonly fresh_facts: number;
  readonly wanted_facts: number;
  readonly validated_claims: number;
  readonly fixture_accepted: boolean;
}

export interface CellVerdict {
  readonly status: 'live_contract_pass' | 'live_contract_fail' | 'infra_skip' | 'infra_timeout';
  readonly failure_classification: CellClass;
  readonly mandatory_contract_pass: boolean;
  /** Why it is no pass. */
  readonly failures: readonly string[];
}

export function cellVerdict(found: CellFindings): CellVerdict {
  if (!found.completed) {
    const failure = found.timed_out ? 'infra_timeout' : 'infra_skip';
    return { status: failure, failure_classification: failure, mandatory_contract_pass: false, failures: [failure] };
  }
  const failures = [
    ...(found.accepted ? [] : ['traceguard_rejected']),
    ...(found.covered ? [] : ['selected_chunk_coverage_failed']),
    ...(found.fresh_facts === found.wanted_facts ? [] : ['fresh_child_evidence_failed']),
    ...(found.validated_claims > 0 ? [] : ['vacuous_pass']),
    ...(found.fixture_accepted ? [] : ['fixture_manifest_rejected']),
  ];
  const passed = failures.length === 0;
  return {
    status: passed ? 'live_contract_pass' : 'live_contract_fail',
    failure_classification: passed ? 'pass' : 'primary_contract_failure',
    mandatory_contract_pass: passed,
    failures,
  };
}

export interface CellResult {
  readonly family_id: string;
  readonly completed: boolean;
  readonly failure_classification: CellClass;
  readonly latency_seconds: number | null;
}

export interface FamilySummary {
  readonly family_id: string;
  readonly required_completed_primary_cells: number;
  readonly completed_primary_cells: number;
  readonly passed_primary_cells: number;
  readonly failed_primary_cells: number;
  readonly infra_skipped_primary_cells: number;
  /** Of the completed ones; null: none. */
  readonly mean_latency_seconds: number | null;
  readonly status: 'pass' | 'contract_failure' | 'not_supported' | 'incomplete';
}

export function familySummary(family_id: string, all: readonly CellResult[], required: number): FamilySummary {
  const cells = all.filter((cell) => cell.family_id === family_id);
  const completed = cells.filter((cell) => cell.completed);
  const passed = completed.filter((cell) => cell.failure_classification === 'pass').length;
  const failed = completed.length - passed;
  const seconds = completed.flatMap(({ latency_seconds }) => latency_seconds ?? []);
  return {
    family_id,
    required_completed_primary_cells: required,
    completed_primary_cells: completed.length,
    passed_primary_cells: passed,
    failed_primary_cells: failed,
    infra_skipped_primary_cells: cells.length - completed.length,
    mean_latency_seconds:
      seconds.length === 0
        ? null
        : Math.round((seconds.reduce((sum, one) => sum + one, 0) / seconds.length) * 1000) / 1000,
    status: familyStatus({ failed, completed: completed.length, required }),
  };
}

interface Counts {
  readonly failed: number;
  readonly completed: number;
  readonly required: number;
}

function familyStatus({ failed, completed, required }: Counts): FamilySummary['status'] {
  if (failed >= 2) return 'not_supported';
  if (failed === 1) return 'contract_failure';
  return completed < required ? 'incomplete' : 'pass';
}

export function aggregateStatus(families: readonly FamilySummary[]): 'pass' | 'fail' | 'inconclusive' {
  if (families.some(({ status }) => status === 'not_supported')) return 'fail';
  const isWhole = ({ passed_primary_cells, failed_primary_cells, required_completed_primary_cells }: FamilySummary) =>
    failed_primary_cells === 0 && passed_primary_cells >= required_completed_primary_cells;
  return families.length > 0 && families.every(isWhole) ? 'pass' : 'inconclusive';
}
