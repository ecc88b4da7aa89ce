/**
 * Owns a scaffold run from its request to its outcome: guards, work, end. All that is not deterministic comes through `calls`; all that is
 * kept goes through `trace`, which is finished here. It reads no file and no clock.
 * Invariant: the same request, texts and replies give the same events and the same outcome, byte for byte; every run ends in one of three
 * states with no node alive; nothing unsupported is accepted. Serves seed 003: the outer scaffold alone decides recursion, retry and end.
 */

import { TalariaError } from '#base/errors.ts';
import { canonicalJson, type JsonObject, parseJsonObject } from '#base/json.ts';
import { priorPolicy } from '../memory/prior-policy.ts';
import { jsonHash } from '../trace/text-hash.ts';
import type { TerminationReason } from '../tree/run-state.ts';
import { buildOutcome } from './loop/build-outcome.ts';
import { runEnd } from './loop/run-end.ts';
import { RunLoop } from './loop/run-loop.ts';
import { RunState } from './loop/run-state.ts';
import type { RunOutcome } from './run-outcome.ts';
import type { RunParts, RunRequest } from './run-request.ts';

/** Throws only for broken storage, a trace of another run, or a bug. */
export async function executeRun(parts: RunParts): Promise<RunOutcome> {
  const { request, trace } = parts;
  const state = new RunState(request, trace, retriesOf(request));
  begin(state, request);
  if (request.ambiguity.passed) await new RunLoop(parts, state).work();
  const end = runEnd(state, request);
  finishTree(state, end.reason);
  const outcome = buildOutcome({
    request,
    tree: state.keeper.tree,
    verdict: end.verdict,
    detail: end.detail,
    plans: state.allPlans(),
    results: state.results,
    stopped: state.stopped,
    gaps: gapsOf(state, request),
    refused_facts: state.refusedFacts,
    evidence: state.ledger.all(),
    totals: state.totals.totals(),
    sub_questions: state.subQuestions,
  });
  return finish(parts, state, outcome);
}

/** As many as memory may grant beyond those of the run; which node uses them is decided where it is asked again. */
function retriesOf({ limits, memory }: RunRequest): number {
  return Math.max(limits.max_retries, priorPolicy(memory.priors).retries_after_repair);
}

function begin(state: RunState, request: RunRequest): void {
  const { keeper, journal, root } = state;
  const { question, target, target_kind, chunks, omitted, ambiguity } = request;
  journal.emit('rlm.run.started', null, {
    question,
    target,
    target_kind,
    chunks: chunks.length,
    omitted: omitted.length,
    request_hash: jsonHash(request as unknown as JsonObject),
  });
  keeper.moveRun('guarding', { decision: 'guard', reason: 'limits and ambiguity are checked' });
  if (!ambiguity.passed) {
    state.stopBy('guardrail_failed');
    return;
  }
  keeper.moveRun('scheduling', {
    decision: 'schedule',
    reason: ambiguity.override === null ? 'clear enough' : 'overridden',
  });
  commit(state, { ambiguity: { ...ambiguity } });
  const { id, ac_node_id, depth, parent_id, kind } = root;
  journal.emit('rlm.node.scheduled', root, { id, ac_node_id, depth, parent_id, kind, attempt: 0 });
}

function finishTree({ keeper, hasEnded }: RunState, reason: TerminationReason): void {
  if (hasEnded) return;
  if (keeper.tree.run_state === 'running_node')
    keeper.moveRun('scheduling', { decision: 'schedule', reason: 'nothing is under way' });
  keeper.end(reason, { decision: 'end', reason });
}

function gapsOf(state: RunState, { decompose, limits }: RunRequest) {
  const tooFlat = decompose && limits.max_depth === 0;
  const flat = { what: 'splitting of the question', why: 'max_depth_reached: it needs a depth of 1 at least' };
  return tooFlat ? [flat, ...state.gaps] : state.gaps;
}

function finish({ trace }: RunParts, state: RunState, outcome: RunOutcome): RunOutcome {
  // As it is stored: what is undefined or no JSON is no part of it.
  const plain = parseJsonObject(canonicalJson(outcome as unknown as JsonObject));
  if (!plain.ok) throw new TalariaError('The outcome of a run is no JSON.', { code: 'rlm-outcome-invalid' });
  const { run_state, termination_reason, verdict, claims, refused } = outcome;
  commit(state, {});
  endNodes(state);
  state.journal.emit('rlm.run.finished', null, {
    state: run_state,
    termination_reason,
    verdict,
    claims: claims.length,
    refused: refused.length,
    outcome_hash: jsonHash(plain.value),
  });
  trace.finish({ state: run_state, outcome: plain.value });
  return plain.value as unknown as RunOutcome;
}

/** Nodes that ended with the run, and not by themselves. */
function endNodes(state: RunState): void {
  const { keeper, journal, stopped } = state;
  for (const plan of state.allPlans()) {
    const node = keeper.tree.nodes[plan.id];
    if (node === undefined || journal.hasEnded(plan.id)) continue;
    journal.emit('rlm.node.terminal', plan, { state: node.state, reason: stopped ?? 'the run ended' });
  }
}

function commit({ keeper, journal }: RunState, data: JsonObject): void {
  const transitions = keeper.drain().map((one) => ({ ...one }));
  if (transitions.length > 0) journal.emit('rlm.state.committed', null, { ...data, transitions });
}
