// Owns the ablation as one report (notes 8, 22.10): the original's scripted table, the guard on injected faults, the contracts on the real engine. Replies
// are scripted, verdicts are not. Invariant: what is called unsupported is found by the scorer, not by the script; calls are counted where they are made.
import { type Clock, systemClock } from '#base/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '#base/json.ts';
import { ok, refuse } from '#base/result.ts';
import { roundHalfEven } from '#base/round-half-even.ts';
import type { InnerCall } from '#extensions/rlm/call/inner-call.ts';
import type { Engine as BenchEngine } from '#extensions/rlm/engine.ts';
import { buildManifest } from '#extensions/rlm/guard/manifest.ts';
import type { GuardMode, RejectionReason } from '#extensions/rlm/guard/read-claims.ts';
import { scoreCompletion } from '#extensions/rlm/guard/score-completion.ts';
import { validateParentSynthesis } from '#extensions/rlm/guard/validate-parent-synthesis.ts';
import { memoryTraceStore } from '#extensions/rlm/trace/trace-store.ts';
import { type BenchReport, type BenchTable, figure } from './bench-report.ts';
import {
  ABLATION_CONTRACTS,
  ablationFixtures,
  type Behaviour,
  contractAblation,
  type Generated,
  scriptedCompletion,
} from './contract-ablation.ts';
import { guardVerdict, runFixture } from './run-fixture.ts';
import type { FixtureFact } from './truncation-fixture.ts';

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

export interface ScriptedInner extends InnerCall {
  readonly count: () => number;
}

/** @param parent what every synthesis, and the single call of a baseline, answers */
function scriptedInner(parent: JsonObject): ScriptedInner {
  let calls = 0;
  return {
    family: 'default',
    count: () => calls,
    call: async ({ prompt }) => {
      calls += 1;
      const reply = replyTo(prompt, parent);
      if (reply === null) return refuse('runtime_error', 'the script knows no such task');
      const told = { model: 'script/by-rule', usage: null, cost: null, elapsed_ms: 0, exit_code: null };
      return ok({ completion: JSON.stringify(reply), ...told });
    },
  };
}

function replyTo(prompt: string, parent: JsonObject): JsonObject | null {
  const task = parseJsonObject(prompt);
  if (!task.ok) return null;
  const { mode, context } = task.value;
  if (mode === 'vanilla_single_pass') return parent;
  if (mode === 'synthesize_parent') return { ...parent, mode, verdict: 'partial' };
  return mode === 'execute_atomic' && isJsonObject(context) ? childReply(context.chunks) : null;
}

function childReply(chunks: JsonValue | undefined): JsonObject {
  const list = Array.isArray(chunks) ? chunks.filter(isJsonObject) : [];
  const observed_facts = list.flatMap(({ chunk_id, content }) =>
    String(content)
      .split('\n')
      .flatMap((line) => {
        const fact_id = /^FACT:(\S+)\s/.exec(line)?.[1];
        return fact_id === undefined ? [] : [{ fact_id, text: line, evidence_chunk_id: String(chunk_id) }];
      }),
  );
  return {
    mode: 'execute_atomic',
    verdict: 'passed',
    confidence: 0.94,
    result: { summary: 'Quoted what stands there.', observed_facts },
    evidence_references: [],
    residual_gaps: [],
  };
}

const NOTES = [
  'Original: completions scripted by contract and scored; its rate is the share of evaluations with a claim beyond the evidence. Its calls are a label, ours below are counted.',
  'Injected faults: one fault in a sound completion, then the guard really judges it, strict and as the original.',
  'Engine: scripted replies, but real runs; a refused synthesis is asked for once more, hence one call more where the gate refuses. What is left in the state is what was accepted.',
  'A summary is prose that nobody is shown as checked: the guard does not read it (omitted_fact_in_the_summary), the scorer does.',
] as const;

export async function ablationBench(signal: AbortSignal): Promise<BenchReport> {
  const scripted = contractAblation();
  const faults = gateFaults();
  const engine = await engineAblation(signal);
  const { harmful_accepted: left } = faults;
  const document = {
    schema_version: 'talaria.rlm.contract_ablation.v1',
    scripted,
    gate_faults: faults,
    engine,
  };
  return {
    bench: 'ablation',
    notes: [
      ...NOTES,
      `Harmful completions that become state: without a gate ${figure(left.without_gate)}, with the original's guard ${figure(left.v1)}, with the strict guard ${figure(left.strict)}.`,
    ],
    tables: [scriptedTable(scripted), faultTable(faults), engineTable(engine)],
    document: document as unknown as JsonObject,
    passed:
      faults.unexpected_count === 0 &&
      left.strict === 0 &&
      engine.policy_summary.every((row) => row.unsupported_rate_with_gate === 0),
  };
}

function scriptedTable({ policy_summary, fixture_count }: ReturnType<typeof contractAblation>): BenchTable {
  return {
    title: `Contracts as scripted, ${fixture_count} fixtures`,
    columns: ['contract', 'rate', 'score', 'retained', 'safety', 'claimed omitted', 'cited omitted', 'missing'],
    rows: policy_summary.map((row) => [
      row.policy_id,
      ...[
        row.unsupported_claim_rate,
        row.mean_score,
        row.mean_retained_fact_citation_score,
        row.mean_omitted_fact_safety_score,
        row.mean_claimed_omitted_facts,
        row.mean_cited_omitted_chunks,
        row.mean_missing_retained_facts,
      ].map(figure),
    ]),
  };
}

function faultTable({ fault_summary, fixture_count }: ReturnType<typeof gateFaults>): BenchTable {
  return {
    title: `Injected faults, each into ${fixture_count} completions`,
    columns: ['fault', 'harmful', 'refused strict', 'refused v1', 'reasons (strict)', 'unsupported claims'],
    rows: fault_summary.map((row) => [
      row.fault_id,
      row.harmful ? 'yes' : 'no',
      String(row.strict_refused),
      String(row.v1_refused),
      row.strict_reasons.join(' ') || '-',
      figure(row.mean_unsupported_claim_rate),
    ]),
  };
}

function engineTable({ policy_summary }: Awaited<ReturnType<typeof engineAblation>>): BenchTable {
  return {
    title: 'Contracts on the engine',
    columns: ['contract', 'calls counted', 'accepted', 'unsupported without gate', 'unsupported in the state'],
    rows: policy_summary.map((row) => [
      row.policy_id,
      figure(row.mean_call_count),
      `${row.accepted_count} of ${row.evaluation_count}`,
      figure(row.unsupported_rate_without_gate),
      figure(row.unsupported_rate_with_gate),
    ]),
  };
}

export interface GatedRow {
  readonly fixture_id: string;
  readonly fault_id: string;
  readonly mode: GuardMode;
  readonly accepted: boolean;
  readonly unsupported_claim_rate: number;
  readonly accepted_claims: number;
  readonly reasons: readonly RejectionReason[];
  readonly as_expected: boolean;
}

export function gateFaults(fixtures: readonly Generated[] = ablationFixtures()) {
  const rows = fixtures.flatMap((generated) => FAULTS.flatMap((fault) => rowsOf(generated, fault)));
  const harmful = new Set(FAULTS.filter((fault) => fault.isHarmful).map(({ fault_id }) => fault_id));
  const left = (mode: GuardMode) => {
    const faulty = rows.filter((row) => row.mode === mode && harmful.has(row.fault_id));
    return share(faulty, (row) => row.accepted);
  };
  return {
    schema_version: 'talaria.rlm.gate_faults.v1',
    fixture_count: fixtures.length,
    fault_count: FAULTS.length,
    evaluation_count: rows.length,
    unexpected_count: rows.filter((row) => !row.as_expected).length,
    /** Share of harmful completions that become state. */
    harmful_accepted: { without_gate: 1, v1: left('v1'), strict: left('strict') },
    fault_summary: FAULTS.map((fault) => faultSummary(fault, rows)),
    evaluations: rows,
  };
}

function rowsOf(generated: Generated, fault: Fault): readonly GatedRow[] {
  const manifest = buildManifest(generated.fixture);
  const synthesis = fault.inject(generated);
  return (['strict', 'v1'] as const).map((mode) => {
    const verdict = validateParentSynthesis({ manifest, synthesis, mode });
    const reasons = [...new Set(verdict.rejected_claims.map(({ reason }) => reason))];
    const expected = fault[mode];
    return {
      fixture_id: generated.fixture.fixture_id,
      fault_id: fault.fault_id,
      mode,
      accepted: verdict.accepted,
      unsupported_claim_rate: verdict.unsupported_claim_rate,
      accepted_claims: verdict.accepted_claims.length,
      reasons,
      as_expected: expected === null ? verdict.accepted : reasons.includes(expected),
    };
  });
}

function faultSummary({ fault_id, isHarmful }: Fault, all: readonly GatedRow[]) {
  const of = (mode: GuardMode) => all.filter((row) => row.fault_id === fault_id && row.mode === mode);
  const [strict, v1] = [of('strict'), of('v1')];
  return {
    fault_id,
    harmful: isHarmful,
    injected: strict.length,
    strict_refused: strict.filter((row) => !row.accepted).length,
    v1_refused: v1.filter((row) => !row.accepted).length,
    strict_reasons: [...new Set(strict.flatMap((row) => row.reasons))].sort(),
    /** TraceGuard's: refused claims over all claims. */
    mean_unsupported_claim_rate: roundHalfEven(
      strict.reduce((sum, row) => sum + row.unsupported_claim_rate, 0) / Math.max(1, strict.length),
      4,
    ),
  };
}

function share(rows: readonly GatedRow[], test: (row: GatedRow) => boolean): number {
  return roundHalfEven(rows.filter(test).length / Math.max(1, rows.length), 4);
}

interface Fault {
  readonly fault_id: string;
  /** Reason of the strict guard; null: it accepts. */
  readonly strict: RejectionReason | null;
  /** Reason of the original's. */
  readonly v1: RejectionReason | null;
  /** Something that no evidence carries would become a claim of the state, or the answer hides that it has none. */
  readonly isHarmful: boolean;
  readonly inject: (generated: Generated) => JsonObject;
}

export const FAULTS: readonly Fault[] = [
  sound('none', () => ({})),
  behaviour('guarded_gap', 'guarded_gap', null),
  behaviour('omitted_fact_claimed', 'claims_omitted', 'unsupported_fact_id'),
  behaviour('omitted_chunk_cited', 'cites_omitted', 'unsupported_fact_id'),
  behaviour('chunk_only_citations', 'chunks_only', 'chunk_handle_without_fact'),
  first('invented_fact_id', 'unsupported_fact_id', () => ({ fact_id: 'UC-9999' })),
  first('handle_dropped', 'missing_evidence_handle', () => ({ evidence_chunk_id: null })),
  first('handle_emptied', 'missing_evidence_handle', () => ({ evidence_chunk_id: '' })),
  first('handle_of_another_fact', 'evidence_handle_mismatch', (_, other) => ({ evidence_chunk_id: other.chunk_id })),
  first('words_changed', 'evidence_text_mismatch', (fact) => ({ text: fact.text.replace(' own ', ' borrowed ') })),
  first('negated', 'evidence_text_mismatch', (fact) => ({ text: fact.text.replace('carries', 'never carries') })),
  first('number_changed', 'evidence_text_mismatch', (fact) => ({ text: fact.text.replace(/\d{4}/g, '7777') })),
  strictOnly('claim_elsewhere', 'claim_outside_schema', ({ fixture }, whole) => ({
    ...whole,
    result: { ...resultOf(whole), conclusions: [{ text: fixture.expected_omitted_facts[0]?.text ?? '' }] },
  })),
  strictOnly('nothing_claimed', 'no_claims', (_, whole) => ({
    ...whole,
    result: { summary: 'All was read.' },
    evidence_references: [],
  })),
  strictOnly('prompt_echoed', 'no_claims', (_, whole) => ({ task: 'synthesize', required_schema: whole })),
  strictOnly('fact_dropped', 'missing_required_fact', (generated) => completion(generated, 'drops_last')),
  sound('omitted_fact_in_the_summary', (generated) => completion(generated, 'says_omitted')),
];

function sound(fault_id: string, change: (generated: Generated) => JsonObject): Fault {
  const inject = (generated: Generated): JsonObject => ({ ...completion(generated, 'perfect'), ...change(generated) });
  return { fault_id, strict: null, v1: null, isHarmful: false, inject };
}

function behaviour(fault_id: string, name: Behaviour, reason: RejectionReason | null): Fault {
  const inject = (generated: Generated): JsonObject => completion(generated, name);
  return { fault_id, strict: reason, v1: reason, isHarmful: reason !== null, inject };
}

/** Changes the first kept fact, where it stands among the kept facts. */
function first(
  fault_id: string,
  reason: RejectionReason,
  change: (fact: FixtureFact, other: FixtureFact) => JsonObject,
): Fault {
  const inject = (generated: Generated): JsonObject => {
    const whole = completion(generated, 'perfect');
    const [fact, other] = generated.fixture.expected_retained_facts;
    const facts = resultOf(whole).retained_facts;
    if (fact === undefined || other === undefined || !Array.isArray(facts)) return whole;
    const changed = { ...(facts[0] as JsonObject), ...change(fact, other) };
    return { ...whole, result: { ...resultOf(whole), retained_facts: [changed, ...facts.slice(1)] } };
  };
  const v1 = reason === 'evidence_text_mismatch' ? null : reason;
  return { fault_id, strict: reason, v1, isHarmful: true, inject };
}

/** The original's guard has no rule for it. */
function strictOnly(
  fault_id: string,
  strict: RejectionReason,
  change: (generated: Generated, whole: JsonObject) => JsonObject,
): Fault {
  const inject = (generated: Generated): JsonObject => change(generated, completion(generated, 'perfect'));
  return { fault_id, strict, v1: null, isHarmful: true, inject };
}

function completion({ fixture, targets }: Generated, name: Behaviour): JsonObject {
  return scriptedCompletion({ fixture, behaviour: name, confidence: CONFIDENCE, targets }) as unknown as JsonObject;
}

function resultOf(whole: JsonObject): JsonObject {
  return whole.result as JsonObject;
}
