// Owns a run from its request to its outcome: guards, work, end. All that is not deterministic comes through `calls`; all that is kept goes through
// `trace`, which is finished here. It reads no file and no clock. Invariant: the same request, texts and replies give the same events and the same
// outcome, byte for byte; every run ends in one of three states with no node alive; `accepted` only with a claim that the guard accepted, a run that is not
// accepted says why; gaps stand in the order of the plan. Serves seed 003: the outer scaffold alone decides recursion, retry and end.
import { TalariaError } from '#base/errors.ts';
import { canonicalJson, type JsonObject, parseJsonObject } from '#base/json.ts';
import { type Calls, callTotals } from '../call/call-record.ts';
import type { Validation } from '../guard/read-claims.ts';
import type { FreshFact, RunGap, RunOutcome, RunVerdict } from '../outcome.ts';
import { hasEnded, type TerminationReason } from '../scaffold/run-tree.ts';
import type { RunTrace } from '../trace/live-trace.ts';
import { jsonHash } from '../trace/run-record.ts';
import { chunkNames } from './node-outcomes.ts';
import { RunLoop } from './run-loop.ts';
import type { RunRequest } from './run-request.ts';
import { type NodeResult, RunState } from './run-state.ts';

export interface RunParts {
  readonly request: RunRequest;
  readonly trace: RunTrace;
  readonly calls: Calls;
  readonly signal: AbortSignal;
}

/** Throws only for broken storage, a trace of another run, or a bug. */
export async function executeRun({ request, trace, calls, signal }: RunParts): Promise<RunOutcome> {
  const state = new RunState(request, trace);
  begin(state, request);
  if (request.ambiguity.passed) await new RunLoop(state, calls, signal).work();
  const end = runEnd(state, request);
  if (!state.hasEnded) {
    if (state.tree.run_state === 'running_node') state.moveRun('scheduling', 'schedule', 'nothing is under way');
    state.end(end.reason);
  }
  const outcome = buildOutcome(state, end);
  // As it is stored: what is undefined or no JSON is no part of it.
  const plain = parseJsonObject(canonicalJson(outcome as unknown as JsonObject));
  if (!plain.ok) throw new TalariaError('The outcome of a run is no JSON.', { code: 'rlm-outcome-invalid' });
  const { run_state, termination_reason, verdict, claims, refused } = outcome;
  state.commit({});
  state.endNodes();
  const told = { verdict, claims: claims.length, refused: refused.length, outcome_hash: jsonHash(plain.value) };
  state.emit('rlm.run.finished', null, { state: run_state, termination_reason, ...told });
  trace.finish({ state: run_state, outcome: plain.value });
  return plain.value as unknown as RunOutcome;
}

function begin(state: RunState, request: RunRequest): void {
  const { question, target, target_kind, chunks, omitted, ambiguity } = request;
  const counts = { chunks: chunks.length, omitted: omitted.length };
  const request_hash = jsonHash(request as unknown as JsonObject);
  state.emit('rlm.run.started', null, { question, target, target_kind, ...counts, request_hash });
  state.moveRun('guarding', 'guard', 'limits and ambiguity are checked');
  if (!ambiguity.passed) {
    state.stopBy('guardrail_failed');
    return;
  }
  state.moveRun('scheduling', 'schedule', ambiguity.override === null ? 'clear enough' : 'overridden');
  state.commit({ ambiguity: { ...ambiguity } });
  state.schedule(state.root);
}

interface RunEnd {
  readonly verdict: RunVerdict;
  readonly reason: TerminationReason;
  readonly detail: string | null;
}

function runEnd(state: RunState, request: RunRequest): RunEnd {
  const { termination_reason: reason } = state.tree;
  if (state.hasEnded && reason !== null) return early(reason, request);
  const root = state.resultOf(state.root);
  if (root.status === 'done') return doneEnd(state, root);
  if (root.status === 'empty') return noEvidence(state);
  if (root.judged !== undefined) {
    const reasons = [...new Set(root.judged.validation.rejected_claims.map((one) => one.reason))].join(', ');
    const why = reasons === '' ? (root.judged.problems[0] ?? 'its form') : reasons;
    return { verdict: 'refused', reason: 'node_failed', detail: `The synthesis was refused: ${why}.` };
  }
  return { verdict: 'failed', reason: 'node_failed', detail: failureText(state, root) };
}

function early(reason: TerminationReason, { ambiguity, limits }: RunRequest): RunEnd {
  if (reason === 'cancelled') return { verdict: 'cancelled', reason, detail: 'The run was stopped on request.' };
  if (reason === 'guardrail_failed')
    return { verdict: 'refused', reason, detail: ambiguity.question ?? 'The request is too ambiguous.' };
  return { verdict: 'failed', reason, detail: `The ${limits.max_iterations} iterations of the run are used up.` };
}

function doneEnd(state: RunState, { judged, facts }: NodeResult): RunEnd {
  const reason = state.root.kind === 'leaf' ? 'root_atomic_completed' : 'parent_synthesis_completed';
  if (judged?.validation.accepted === true) return { verdict: 'accepted', reason, detail: null };
  if (facts.length === 0) return { ...noEvidence(state), reason };
  return { verdict: 'refused', reason, detail: 'The facts did not pass the guard.' };
}

function noEvidence({ stopped }: RunState): RunEnd {
  const cut = stopped === null ? '' : ` Not all chunks were asked: ${stopped}.`;
  const detail = `No chunk that was read holds a quotation that answers.${cut}`;
  return { verdict: 'no_evidence', reason: 'work_queue_exhausted', detail };
}

function failureText(state: RunState, root: NodeResult): string {
  const first = root.gaps[0]?.why ?? [...state.results.values()].flatMap(({ gaps }) => gaps)[0]?.why;
  const why = first ?? state.stopped ?? 'no call brought a reply';
  return root.facts.length > 0 || state.ledger.all().length > 0
    ? `There is evidence, but no synthesis: ${why}.`
    : `No call brought a usable reply: ${why}.`;
}

function buildOutcome(state: RunState, { verdict, detail }: RunEnd): RunOutcome {
  const { request, tree, subQuestions: sub_questions } = state;
  const { run_id, run_state, termination_reason } = tree;
  if (!hasEnded(run_state) || termination_reason === null)
    throw new TalariaError('The run has not ended.', { code: 'rlm-tree-broken' });
  const { judged, summary } = state.resultOf(state.root);
  const isAccepted = verdict === 'accepted';
  const evidence = state.ledger.all();
  return {
    schema_version: 'talaria.rlm.run.v1',
    run_id,
    question: request.question,
    verdict,
    run_state,
    termination_reason,
    detail,
    summary: isAccepted && summary !== '' ? summary : null,
    claims: isAccepted && judged !== undefined ? claimsOf(judged.validation, evidence) : [],
    refused: verdict === 'refused' ? (judged?.validation.rejected_claims ?? []) : [],
    refused_facts: state.refusedFacts,
    evidence,
    gaps: gapsOf(state, request),
    selected_chunk_ids: request.chunks.map(({ chunk_id }) => chunk_id),
    omitted: request.omitted,
    boundaries: request.boundaries,
    // What the run itself has put together was nobody's synthesis: nothing is to be repaired in it, or learned from it.
    repair: termination_reason === 'root_atomic_completed' ? null : (judged?.repair ?? null),
    totals: callTotals(state.calls),
    tree,
    ...(sub_questions.length === 0 ? {} : { sub_questions }),
  };
}

/** One for each text; a claim that is only an id says what its fact says. */
function claimsOf({ accepted_claims }: Validation, evidence: readonly FreshFact[]): RunOutcome['claims'] {
  const claims = new Map<string, Set<string>>();
  for (const { fact_id, chunk_id, text } of accepted_claims) {
    if (fact_id === null) continue;
    const fact = evidence.find((one) => one.fact_id === fact_id && one.chunk_id === chunk_id);
    const said = bare(text, fact_id) || (fact?.text ?? '');
    claims.set(said, (claims.get(said) ?? new Set()).add(fact_id));
  }
  return [...claims].map(([text, ids]) => ({ text, fact_ids: [...ids] }));
}

/** The tag `FACT:<id> ` belongs to the id. */
function bare(text: string, fact_id: string): string {
  const said = text.trim();
  const tag = `FACT:${fact_id} `;
  return (said.startsWith(tag) ? said.slice(tag.length) : said).trim();
}

function gapsOf(state: RunState, { chunks, skipped, decompose, limits }: RunRequest): readonly RunGap[] {
  const flat = { what: 'splitting of the question', why: 'max_depth_reached: it needs a depth of 1 at least' };
  const plans = state.allPlans();
  const ofNodes = plans.flatMap((plan): readonly RunGap[] => {
    const { status, gaps } = state.resultOf(plan);
    if (status !== 'unasked' || plan.kind !== 'leaf') return gaps;
    return [{ what: chunkNames(plan), why: `not asked: ${state.stopped ?? 'the run ended before'}` }];
  });
  const planned = new Set(plans.flatMap((plan) => (plan.kind === 'leaf' ? plan.chunks : [])));
  const tooMany = chunks.filter((chunk) => !planned.has(chunk));
  const lossy = chunks.filter((chunk) => chunk.lossy);
  const all = [
    ...(decompose && limits.max_depth === 0 ? [flat] : []),
    ...state.gaps,
    ...ofNodes,
    ...tooMany.map(({ chunk_id }) => ({ what: chunk_id, why: 'not asked: budget_calls' })),
    ...skipped.map(({ path, reason }) => ({ what: path, why: `not read: ${reason}` })),
    ...lossy.map(({ chunk_id }) => ({ what: chunk_id, why: 'holds bytes that are no UTF-8 text' })),
  ];
  return [...new Map(all.map((gap) => [JSON.stringify([gap.what, gap.why]), gap])).values()];
}
