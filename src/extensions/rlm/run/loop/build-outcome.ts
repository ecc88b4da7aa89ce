// Owns putting a finished run into its outcome: claims with their facts, what was refused, what is missing. Asks nobody, moves nothing.
// Invariant: every claim's facts are among the evidence; gaps stand in the order of the plan, whatever the order of the replies.

import { TalariaError } from '#base/errors.ts';
import type { Validation } from '../../guard/parent-claim.ts';
import type { RlmTree } from '../../tree/rlm-tree.ts';
import { hasEnded } from '../../tree/run-state.ts';
import type { SubQuestion } from '../reading/read-decomposition.ts';
import type { AcceptedClaim, FreshFact, RunGap, RunOutcome, RunTotals, RunVerdict } from '../run-outcome.ts';
import type { RunRequest } from '../run-request.ts';
import { leavesOf, type NodePlan } from './node-plan.ts';
import type { NodeResult } from './node-result.ts';

export interface FinishedRun {
  readonly request: RunRequest;
  readonly tree: RlmTree;
  readonly verdict: RunVerdict;
  readonly detail: string | null;
  /** All nodes, parents before children. */
  readonly plans: readonly NodePlan[];
  readonly results: ReadonlyMap<string, NodeResult>;
  /** Why leaves were not asked; null: all were. */
  readonly stopped: string | null;
  readonly gaps: readonly RunGap[];
  readonly refused_facts: RunOutcome['refused_facts'];
  readonly evidence: readonly FreshFact[];
  readonly totals: RunTotals;
  readonly sub_questions: readonly SubQuestion[];
}

export function buildOutcome(run: FinishedRun): RunOutcome {
  const { request, tree, results } = run;
  const { run_state, termination_reason } = tree;
  if (!hasEnded(run_state) || termination_reason === null)
    throw new TalariaError('The run has not ended.', { code: 'rlm-tree-broken' });
  const root = results.get(tree.root_id);
  const judged = root?.judged;
  const isAccepted = run.verdict === 'accepted';
  return {
    schema_version: 'talaria.rlm.run.v1',
    run_id: tree.run_id,
    question: request.question,
    verdict: run.verdict,
    run_state,
    termination_reason,
    detail: run.detail,
    summary: isAccepted && root !== undefined && root.summary !== '' ? root.summary : null,
    claims: isAccepted && judged !== undefined ? claimsOf(judged.validation, run.evidence) : [],
    refused: run.verdict === 'refused' ? (judged?.validation.rejected_claims ?? []) : [],
    refused_facts: run.refused_facts,
    evidence: run.evidence,
    gaps: gapsOf(run),
    selected_chunk_ids: request.chunks.map(({ chunk_id }) => chunk_id),
    omitted: request.omitted,
    boundaries: request.boundaries,
    // What the run itself has put together was nobody's synthesis: nothing is to be repaired in it, or learned from it.
    repair: termination_reason === 'root_atomic_completed' ? null : (judged?.repair ?? null),
    totals: run.totals,
    tree,
    ...(run.sub_questions.length === 0 ? {} : { sub_questions: run.sub_questions }),
  };
}

/** One for each text; a claim that is only an id says what its fact says. */
function claimsOf({ accepted_claims }: Validation, evidence: readonly FreshFact[]): readonly AcceptedClaim[] {
  const claims = new Map<string, Set<string>>();
  for (const { fact_id, chunk_id, text } of accepted_claims) {
    if (fact_id === null) continue;
    const fact = evidence.find((one) => one.fact_id === fact_id && one.chunk_id === chunk_id);
    const said = bare(text, fact_id) || (fact?.text ?? '');
    claims.set(said, (claims.get(said) ?? new Set()).add(fact_id));
  }
  return [...claims].map(([text, ids]) => ({ text, fact_ids: [...ids] }));
}

/** Of a reference with quotation and claim the first line; the tag `FACT:<id> ` belongs to the id. */
function bare(text: string, fact_id: string): string {
  const said = text.trim();
  const tag = `FACT:${fact_id} `;
  return (said.startsWith(tag) ? said.slice(tag.length) : said).trim();
}

function gapsOf({ request, plans, results, stopped, gaps }: FinishedRun): readonly RunGap[] {
  const ofNodes = plans.flatMap((plan): readonly RunGap[] => {
    const result = results.get(plan.id);
    if (result !== undefined && result.status !== 'unasked') return result.gaps;
    if (plan.kind !== 'leaf') return result?.gaps ?? [];
    return [{ what: chunkNames(plan), why: `not asked: ${stopped ?? 'the run ended before'}` }];
  });
  const planned = new Set(plans.flatMap((plan) => (plan.kind === 'leaf' ? plan.chunks : [])));
  const tooMany = request.chunks.filter((chunk) => !planned.has(chunk));
  const unaffordable = tooMany.map(({ chunk_id }) => ({ what: chunk_id, why: 'not asked: budget_calls' }));
  const skipped = request.skipped.map(({ path, reason }) => ({ what: path, why: `not read: ${reason}` }));
  const lossy = request.chunks.filter((chunk) => chunk.lossy);
  const damaged = lossy.map(({ chunk_id }) => ({ what: chunk_id, why: 'holds bytes that are no UTF-8 text' }));
  return distinct([...gaps, ...ofNodes, ...unaffordable, ...skipped, ...damaged]);
}

export function chunkNames(plan: NodePlan): string {
  return leavesOf(plan)
    .flatMap(({ chunks }) => chunks.map(({ chunk_id }) => chunk_id))
    .join(', ');
}

function distinct(gaps: readonly RunGap[]): readonly RunGap[] {
  return [...new Map(gaps.map((gap) => [JSON.stringify([gap.what, gap.why]), gap])).values()];
}
