// Owns what is known of a run while it is worked on: its tree, plans, results, evidence and events, in one place. Decides nothing.
// Invariant: a result is written once for each node; what is asked of here and not there is a bug.
import { TalariaError } from '#base/errors.ts';
import type { RunTrace } from '../../trace/trace-store.ts';
import { isTerminal } from '../../tree/node-state.ts';
import { hasEnded, type TerminationReason } from '../../tree/run-state.ts';
import { FactLedger } from '../fresh-facts.ts';
import type { SubQuestion } from '../reading/read-decomposition.ts';
import type { RunGap, RunOutcome } from '../run-outcome.ts';
import type { RunRequest } from '../run-request.ts';
import { CallTotals } from './call-totals.ts';
import { decompositionPlan, rootPlan } from './first-plans.ts';
import { type GroupPlan, type NodePlan, nodesOf } from './node-plan.ts';
import type { NodeResult } from './node-result.ts';
import { RunJournal } from './run-journal.ts';
import { TreeKeeper } from './tree-keeper.ts';

export class RunState {
  readonly keeper: TreeKeeper;
  readonly journal: RunJournal;
  readonly ledger: FactLedger;
  readonly totals = new CallTotals();
  readonly root: NodePlan;
  /** Of a synthesis: what it was not shown. */
  readonly shownGaps = new Map<string, readonly RunGap[]>();
  readonly gaps: RunGap[] = [];
  readonly refusedFacts: RunOutcome['refused_facts'][number][] = [];
  subQuestions: readonly SubQuestion[] = [];
  /** Why nothing more is asked; null: everything was. */
  stopped: string | null = null;
  readonly #request: RunRequest;
  readonly #plans = new Map<string, NodePlan>();
  readonly #children = new Map<string, NodePlan[]>();
  readonly #results = new Map<string, NodeResult>();
  readonly #problems = new Map<string, readonly string[]>();
  /** Leaves that are asked again without an envelope. */
  readonly #plain = new Set<string>();
  /** Groups below which a leaf was asked. */
  readonly #needed = new Set<string>();

  constructor(request: RunRequest, trace: RunTrace, max_retries: number) {
    this.#request = request;
    this.keeper = new TreeKeeper(trace.run_id, { ...request.limits, max_retries });
    this.journal = new RunJournal(trace);
    this.ledger = new FactLedger(request.chunks.map(({ chunk_id }) => chunk_id));
    this.root = rootPlan(request);
    this.#plans.set(this.root.id, this.root);
  }

  get hasEnded(): boolean {
    return hasEnded(this.keeper.tree.run_state);
  }

  get results(): ReadonlyMap<string, NodeResult> {
    return this.#results;
  }

  planOf(id: string): NodePlan {
    const plan = this.#plans.get(id);
    if (plan === undefined) throw new TalariaError(`No plan for ${id}.`, { code: 'rlm-tree-broken' });
    return plan;
  }

  /** Undefined for the root, and for what was never reached. */
  parentOf({ parent_id }: NodePlan): NodePlan | undefined {
    return parent_id === null ? undefined : this.#plans.get(parent_id);
  }

  /** The root of a run that splits its question has the splitting as its first child. */
  firstChildren(plan: GroupPlan): readonly NodePlan[] {
    const splits = this.#request.decompose && plan.id === this.root.id;
    return splits ? [decompositionPlan(plan)] : plan.children;
  }

  addPlans(parent: NodePlan, children: readonly NodePlan[]): void {
    for (const child of children) this.#plans.set(child.id, child);
    this.#children.set(parent.id, [...this.childrenOf(parent), ...children]);
  }

  childrenOf(plan: NodePlan): readonly NodePlan[] {
    return this.#children.get(plan.id) ?? [];
  }

  /** From the root to the parent. */
  ancestryOf(plan: NodePlan): readonly string[] {
    if (plan.parent_id === null) return [];
    return [...this.ancestryOf(this.planOf(plan.parent_id)), plan.parent_id];
  }

  isReady(plan: NodePlan): boolean {
    const node = this.keeper.node(plan.id);
    const done = node.children_ids.every((id) => isTerminal(this.keeper.node(id).state));
    return node.state === 'context_bound' && done;
  }

  resultOf(plan: NodePlan): NodeResult {
    return this.#results.get(plan.id) ?? unasked(plan);
  }

  setResult(result: NodeResult): void {
    this.#results.set(result.node_id, result);
  }

  problemsOf(id: string): readonly string[] {
    return this.#problems.get(id) ?? [];
  }

  setProblems(id: string, problems: readonly string[]): void {
    this.#problems.set(id, problems);
  }

  isPlain(id: string): boolean {
    return this.#plain.has(id);
  }

  askPlainly(id: string): void {
    this.#plain.add(id);
  }

  /** Syntheses that must still be possible when this node is asked: of the groups that have something to put together. */
  keepBack(plan: NodePlan): number {
    if (plan.kind !== 'group') for (const id of this.ancestryOf(plan)) this.#needed.add(id);
    const open = [...this.#needed].filter((id) => id !== plan.id && !isTerminal(this.keeper.node(id).state));
    return open.length;
  }

  /** The node and all below it, parents before children, in order; also those that were never reached. */
  allPlans(from: NodePlan = this.root): readonly NodePlan[] {
    const children = this.childrenOf(from);
    return children.length === 0 ? nodesOf(from) : [from, ...children.flatMap((child) => this.allPlans(child))];
  }

  stopBy(reason: TerminationReason): void {
    this.stopped = reason;
    if (!this.hasEnded) this.keeper.end(reason, { decision: 'end', reason });
  }
}

function unasked(plan: NodePlan): NodeResult {
  const said = { summary: '', verdict: null, confidence: null };
  return { node_id: plan.id, call_id: null, status: 'unasked', facts: [], gaps: [], ...said };
}
