// Owns checking a committed file of the seed without a key (seed 003, artifacts; notes 6 to 12, 14, 16): each kind by the rule that made it, a recursive
// run of the original by its `rlm.trace.v1` records and its AC tree. Reads no file. Invariant: a kind that is not known is refused, never passed; every
// difference is named with its place.
import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { CallRecord } from '#extensions/rlm/call/call-record.ts';
import { scoreCompletion } from '#extensions/rlm/guard/score-completion.ts';
import { callShape } from '#extensions/rlm/trace/export-run.ts';
import { textHash } from '#extensions/rlm/trace/run-record.ts';
import { checkCalls, type Expect, type Problem, problemsOf } from '#extensions/rlm/trace/verify-run.ts';
import {
  type ArtifactProblem,
  type ArtifactReport,
  checkAblation,
  checkClaimAware,
  checkGuardDemo,
  checkLiveMatrix,
  checkMatrix,
  checkSynthetic,
} from './check-tables.ts';
import { replayArtifact } from './compare-runs.ts';
import { validateFixture } from './truncation-fixture.ts';

export interface ArtifactInput {
  readonly value: JsonValue;
  /** The truncation fixture that lies beside it. */
  readonly fixture: () => JsonValue | undefined;
}

type Check = (
  value: JsonObject,
  fixture: ArtifactInput['fixture'],
  signal: AbortSignal,
) => ArtifactReport | null | Promise<ArtifactReport>;

const CHECKS: Readonly<Record<string, Check>> = {
  'rlm.minimal_recursive_run_fixture.v1': (value) => records(value),
  'rlm.shared_truncation_benchmark.v1': (value, fixture) => withFixture(fixture, (one) => checkComparison(value, one)),
  'rlm.long_context_truncation_fixture.v1': (value) => fixtureReport(value),
  'rlm.claim_aware_suite.v1': (value, fixture) => withFixture(fixture, (one) => checkClaimAware(value, one)),
  'rlm.synthetic_omitted_fact_benchmark.v1': (value) => checkSynthetic(value),
  'rlm_forge.live_portability_contracts_only.v1': (value) => checkMatrix(value),
  'rlm_forge.live_portability_primary.v1': (value) => checkLiveMatrix(value),
  'rlm.evaluation.output.v1': (value, fixture) => checkEvaluation(value, fixture() ?? null),
  'talaria.rlm.contract_ablation.v1': (value, _, signal) => checkAblation(value, signal),
  'rlm.traceguard_demo.v1': (value) => checkGuardDemo(value),
};

export async function checkArtifact(
  { value, fixture }: ArtifactInput,
  signal: AbortSignal,
): Promise<Result<ArtifactReport, 'artifact-unknown' | 'fixture-missing'>> {
  const object = isJsonObject(value) ? value : {};
  const schema = String(object.schema_version);
  const check = Object.hasOwn(CHECKS, schema) ? CHECKS[schema] : undefined;
  if (check === undefined) {
    const kinds = Object.keys(CHECKS).join(', ');
    return refuse('artifact-unknown', `Its schema_version is ${schema}; known are an exported run, ${kinds}.`);
  }
  const report = await check(object, fixture, signal);
  if (report !== null) return ok(report);
  return refuse('fixture-missing', 'The truncation fixture that it was made from does not lie beside it.');
}

function withFixture(
  fixture: ArtifactInput['fixture'],
  check: (fixture: JsonValue) => ArtifactReport,
): ArtifactReport | null {
  const found = fixture();
  return found === undefined ? null : check(found);
}

function records(value: JsonObject): ArtifactReport {
  const verified = verifyRecords(value);
  if (verified.ok)
    return { what: `${verified.value.records} recorded calls and their links`, problems: verified.value.problems };
  return {
    what: 'recorded calls',
    problems: [{ code: verified.reason, where: 'trace_records', detail: verified.detail }],
  };
}

function fixtureReport(value: JsonObject): ArtifactReport {
  const valid = validateFixture(value);
  const problems = valid.ok ? [] : [{ code: valid.reason, where: 'the fixture', detail: valid.detail }];
  return { what: 'lines, chunks, facts and boundary of a truncation fixture', problems };
}

function checkComparison(value: JsonObject, fixture: JsonValue): ArtifactReport {
  const replay = replayArtifact({ artifact: value, fixture });
  const run = checkRun(value);
  return {
    what: `the figures of the comparison, ${run.calls + 1} completions and their links`,
    problems: [
      ...(replay.ok ? [] : [{ code: replay.reason, where: 'the file', detail: replay.detail }]),
      ...(replay.ok && !replay.value.agrees ? [figures('quality_comparison')] : []),
      ...run.problems,
      ...checkSingle(objectAt(value.vanilla_output, 'runner_output')),
    ],
  };
}

/** What a single call or a recursive fixture wrote. */
function checkEvaluation(value: JsonObject, fixture: JsonValue): ArtifactReport {
  const { runner_output: single, baseline, rlm_output, benchmark_id, checks } = value;
  const run = isJsonObject(rlm_output) ? checkRun(value) : { calls: 0, problems: [] };
  const said = isJsonObject(single) ? single : null;
  const score = said === null ? 0 : scoreCompletion({ fixture, completion: String(said.completion ?? '') }).score;
  const isOurs = said !== null || rlm_output !== undefined || Array.isArray(checks) || typeof benchmark_id === 'string';
  return {
    what: said === null ? `${run.calls} completions and their links` : 'the score of one completion',
    problems: [
      ...(isOurs ? [] : [{ code: 'evaluation-empty', where: 'the file', detail: 'It holds no output of a run.' }]),
      ...run.problems,
      ...(said === null ? [] : checkSingle(said)),
      ...(said === null || objectAt({ baseline: baseline ?? null }, 'baseline').output_quality_score === score
        ? []
        : [figures('baseline.output_quality_score')]),
    ],
  };
}

function checkSingle({ completion, completion_hash }: JsonObject): readonly ArtifactProblem[] {
  return hashProblem('the single call', completion, completion_hash);
}

/** The links of its calls are those of the run that stands beside it, where one does; the original kept none. */
function checkRun({ rlm_output, recorded_runs }: JsonObject): {
  readonly calls: number;
  readonly problems: readonly ArtifactProblem[];
} {
  const execution = objectAt(rlm_output, 'atomic_execution');
  const calls = Array.isArray(execution.subcalls) ? execution.subcalls.filter(isJsonObject) : [];
  const run = String(execution.generation_id);
  const links = calls.map((call) => asRecord(call, run));
  const held = Array.isArray(recorded_runs) ? recorded_runs : [];
  const isHeld = held.some((one) => objectAt(one, 'row').run_id === run);
  const records = isHeld ? [] : checkRecords(links, run);
  const last = hashProblem('the final message', execution.final_message, execution.final_message_hash);
  return { calls: calls.length, problems: [...records, ...last] };
}

function figures(where: string): ArtifactProblem {
  return {
    code: 'figures-disagree',
    where,
    detail: 'Scored again, the completions have other figures than the file states.',
  };
}

/** In the shape that the links are checked in. */
function asRecord(call: JsonObject, generation_id: string): CallRecord {
  const texts = { prompt: '', prompt_hash: null, response_hash: call.completion_hash, system_prompt_hash: null };
  const empty = { generated_child_ac_node_ids: [], adapter_error: null };
  return { ...empty, ...call, ...texts, generation_id } as unknown as CallRecord;
}

function hashProblem(
  where: string,
  text: JsonValue | undefined,
  hash: JsonValue | undefined,
): readonly ArtifactProblem[] {
  if (typeof text === 'string' && textHash(text) === hash) return [];
  return [{ code: 'response-hash', where, detail: 'The completion is not the one that was hashed.' }];
}

function objectAt(value: JsonValue | undefined, key: string): JsonObject {
  const found = isJsonObject(value) ? value[key] : undefined;
  return isJsonObject(found) ? found : {};
}

const shape = z.looseObject({
  generation_id: z.string(),
  trace_records: z.array(callShape).min(1),
  ac_tree: z.json().optional(),
});

export interface VerifiedRecords {
  readonly records: number;
  readonly problems: readonly Problem[];
}

export function verifyRecords(value: JsonValue): Result<VerifiedRecords, 'no-records'> {
  const read = shape.safeParse(value);
  if (!read.success) return refuse('no-records', 'It holds no `rlm.trace.v1` records under trace_records.');
  const { generation_id: run_id, ac_tree } = read.data;
  const records = read.data.trace_records as unknown as readonly CallRecord[];
  const problems = problemsOf((expect) => {
    checkCalls(records, { run_id }, expect);
    for (const record of records) checkLinks(record, records, expect);
    if (ac_tree !== undefined) checkTree(ac_tree, records, expect);
  });
  return ok({ records: records.length, problems });
}

/** Hashes, parents, causes and children. */
function checkRecords(records: readonly CallRecord[], run_id: string): readonly Problem[] {
  return problemsOf((expect) => {
    checkCalls(records, { run_id }, expect);
    for (const record of records) checkLinks(record, records, expect);
  });
}

/** Its cause is the call above it; each child that it made has a record of its own below it. */
function checkLinks(call: CallRecord, records: readonly CallRecord[], expect: Expect): void {
  const { call_id, parent_call_id, causal_parent_event_id: cause, generated_child_ac_node_ids } = call;
  const where = `call ${call_id}`;
  expect(
    cause === parent_call_id,
    'causal-parent-missing',
    where,
    `Its cause is not the call ${parent_call_id} above it.`,
  );
  for (const child of generated_child_ac_node_ids) {
    const found = records.filter(({ ac_node_id }) => ac_node_id === child);
    const isBelow = found.length > 0 && found.every((one) => one.parent_call_id === call_id);
    expect(
      isBelow,
      'child-record-missing',
      where,
      `Nothing is recorded of its child ${child}, or it names another parent.`,
    );
  }
}

const node = z.object({
  depth: z.int().min(0),
  parent_id: z.string().nullable().default(null),
  children_ids: z.array(z.string()).default([]),
  originating_subcall_trace_id: z.string().nullable().default(null),
});
const tree = z.object({ root_id: z.string().nullable(), nodes: z.record(z.string(), node) });

/** Each node hangs on the one that lists it, and each call has a node of its depth, its origin and its children. */
function checkTree(value: JsonValue, records: readonly CallRecord[], expect: Expect): void {
  const read = tree.safeParse(value);
  expect(read.success, 'child-tree', 'the AC tree', read.success ? '' : z.prettifyError(read.error));
  if (!read.success) return;
  const { root_id, nodes } = read.data;
  const found = (id: string | null) => (id !== null && Object.hasOwn(nodes, id) ? nodes[id] : undefined);
  for (const [id, one] of Object.entries(nodes)) {
    const parent = found(one.parent_id);
    const hangs =
      id === root_id ? one.depth === 0 : parent?.depth === one.depth - 1 && parent.children_ids.includes(id);
    const isWhole = one.children_ids.every((child) => found(child)?.parent_id === id);
    expect(
      hangs && isWhole,
      'child-tree',
      `node ${id}`,
      'It does not hang on its parent, or lists a child that is not its own.',
    );
  }
  for (const { call_id, ac_node_id, parent_trace_id, depth, generated_child_ac_node_ids } of records) {
    const own = found(ac_node_id);
    const isLinked =
      own?.depth === depth &&
      own.originating_subcall_trace_id === parent_trace_id &&
      JSON.stringify(own.children_ids) === JSON.stringify(generated_child_ac_node_ids);
    const detail = `The AC tree has no node ${ac_node_id} of its depth, its origin and its children.`;
    expect(isLinked, 'child-tree', `call ${call_id}`, detail);
  }
}
