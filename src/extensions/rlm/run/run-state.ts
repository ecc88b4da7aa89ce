// Owns what is known of a run while it is worked on: its tree with the moves that no event holds yet, plans, results, evidence, and the order and
// causes of its events. Decides nothing. Invariant: a result is written once for each node; only listed moves are made (run-tree.ts), each comes
// out of `drain` once; a node's first event is caused by its parent's last, every other by the node's own last; what is asked of here and not there is a bug.
import { TalariaError } from '#base/errors.ts';
import type { JsonObject } from '#base/json.ts';
import type { CountedCall } from '../call/call-record.ts';
import type { Validation } from '../guard/read-claims.ts';
import type { RepairBlock } from '../guard/repair-missing-handles.ts';
import { priorPolicy } from '../memory/priors.ts';
import type { FreshFact, RunGap, RunOutcome } from '../outcome.ts';
import type { Asked } from '../scaffold/envelope.ts';
import type { SubQuestion } from '../scaffold/read-reply.ts';
import {
  type Cause,
  hasEnded,
  isTerminal,
  type NodeState,
  type RlmNode,
  type RlmTree,
  RunTree,
  type TerminationReason,
  type RunState as TreeState,
} from '../scaffold/run-tree.ts';
import type { RunTrace } from '../trace/live-trace.ts';
import type { RunEventType } from '../trace/run-record.ts';
import { type ChunkText, FactLedger } from './fresh-facts.ts';
import { decompositionPlan, type GroupPlan, type NodePlan, nodesOf, rootPlan } from './plan.ts';
import type { RunRequest } from './run-request.ts';

/** What came of one node, as its parent and the outcome see it. */
export interface NodeResult {
  readonly node_id: string;
  /** Of the call whose reply was taken, else of the last one; null: it was not asked. */
  readonly call_id: string | null;
  /** `done`: its reply was taken; `failed`: none could be; `unasked`: a budget or a stop came first; `empty`: nothing to put together. */
  readonly status: 'done' | 'failed' | 'unasked' | 'empty';
  /** Evidence for the level above. */
  readonly facts: readonly FreshFact[];
  readonly summary: string;
  readonly verdict: string | null;
  readonly confidence: number | null;
  readonly gaps: readonly RunGap[];
  /** Of a synthesis. */
  readonly judged?: JudgedSynthesis;
}

export interface JudgedSynthesis {
  readonly validation: Validation;
  readonly repair: RepairBlock;
  /** What the form of the reply lacked; empty: it kept to the contract. */
  readonly problems: readonly string[];
}

/** What a reply is measured against. */
export interface NodeCall {
  readonly plan: NodePlan;
  readonly call_id: string;
  /** Without an envelope: rule, question, text. */
  readonly plain: boolean;
  readonly asked: Asked;
  readonly chunks: readonly ChunkText[];
}

type NodeName = Pick<NodePlan, 'id' | 'parent_id'>;

export class RunState {
  readonly request: RunRequest;
  readonly trace: RunTrace;
  readonly ledger: FactLedger;
  readonly root: NodePlan;
  readonly calls: CountedCall[] = [];
  readonly results = new Map<string, NodeResult>();
  /** What was wrong with the last reply of a node. */
  readonly problems = new Map<string, readonly string[]>();
  /** Leaves that are asked again without an envelope. */
  readonly plain = new Set<string>();
  /** Of a synthesis: what it was not shown. */
  readonly shownGaps = new Map<string, readonly RunGap[]>();
  readonly gaps: RunGap[] = [];
  readonly refusedFacts: RunOutcome['refused_facts'][number][] = [];
  subQuestions: readonly SubQuestion[] = [];
  /** Why nothing more is asked; null: everything was. */
  stopped: string | null = null;
  readonly #tree: RunTree;
  readonly #plans = new Map<string, NodePlan>();
  readonly #children = new Map<string, NodePlan[]>();
  /** Groups below which a leaf was asked. */
  readonly #needed = new Set<string>();
  /** Events, by node; null: of the run. */
  readonly #last = new Map<string | null, string>();
  readonly #ended = new Set<string>();

  constructor(request: RunRequest, trace: RunTrace) {
    this.request = request;
    this.trace = trace;
    // As many as memory may grant beyond those of the run; which node uses them is decided where it is asked again.
    const granted = priorPolicy(request.memory.priors).retries_after_repair;
    const limits = { ...request.limits, max_retries: Math.max(request.limits.max_retries, granted) };
    this.#tree = new RunTree(trace.run_id, limits);
    this.ledger = new FactLedger(request.chunks.map(({ chunk_id }) => chunk_id));
    this.root = rootPlan(request);
    this.#plans.set(this.root.id, this.root);
  }

  /** As it is now: the next move changes its nodes. */
  get tree(): RlmTree {
    return this.#tree.now;
  }

  get hasEnded(): boolean {
    return hasEnded(this.tree.run_state);
  }

  node(id: string): RlmNode {
    return this.#tree.node(id);
  }

  /** Through all of the states, in order. */
  move({ id }: NodeName, states: readonly NodeState[], cause: Cause): void {
    for (const to of states) this.#tree.move(id, to, cause);
  }

  moveRun(to: TreeState, decision: string, reason: string): void {
    this.#tree.moveRun(to, { decision, reason });
  }

  /** Null: the iterations are used up, and the run has failed. */
  takeNext(): NodePlan | null {
    const taken = this.#tree.takeNext({ decision: 'take', reason: 'first in the queue' });
    return taken === null ? null : this.planOf(taken);
  }

  addChildren(parent: NodePlan, children: readonly NodePlan[]): void {
    this.#tree.addChildren(parent.id, children);
    for (const child of children) this.#plans.set(child.id, child);
    this.#children.set(parent.id, [...this.childrenOf(parent), ...children]);
    for (const child of children) this.schedule(child);
  }

  end(reason: TerminationReason): void {
    this.#tree.end(reason, { decision: 'end', reason });
  }

  stopBy(reason: TerminationReason): void {
    this.stopped = reason;
    if (!this.hasEnded) this.end(reason);
  }

  /** The moves since the last time, as they stand in events. */
  drain(): readonly JsonObject[] {
    return this.#tree.drain().map((one) => ({ ...one }));
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
    const splits = this.request.decompose && plan.id === this.root.id;
    return splits ? [decompositionPlan(plan)] : plan.children;
  }

  childrenOf({ id }: Pick<NodePlan, 'id'>): readonly NodePlan[] {
    return this.#children.get(id) ?? [];
  }

  /** Of all children. */
  factsBelow(plan: NodePlan): readonly FreshFact[] {
    return this.childrenOf(plan).flatMap((child) => this.resultOf(child).facts);
  }

  /** From the root to the parent. */
  ancestryOf({ parent_id }: NodePlan): readonly string[] {
    return parent_id === null ? [] : [...this.ancestryOf(this.planOf(parent_id)), parent_id];
  }

  /** The node and all below it, parents before children, in order; also those that were never reached. */
  allPlans(from: NodePlan = this.root): readonly NodePlan[] {
    const children = this.childrenOf(from);
    return children.length === 0 ? nodesOf(from) : [from, ...children.flatMap((child) => this.allPlans(child))];
  }

  isReady({ id }: NodePlan): boolean {
    const { state, children_ids } = this.node(id);
    return state === 'context_bound' && children_ids.every((child) => isTerminal(this.node(child).state));
  }

  resultOf({ id }: Pick<NodePlan, 'id'>): NodeResult {
    const unsaid = { call_id: null, facts: [], gaps: [], summary: '', verdict: null, confidence: null };
    return this.results.get(id) ?? { node_id: id, status: 'unasked', ...unsaid };
  }

  /** Syntheses that must still be possible when this node is asked: of the groups that have something to put together. */
  keepBack(plan: NodePlan): number {
    if (plan.kind !== 'group') for (const id of this.ancestryOf(plan)) this.#needed.add(id);
    return [...this.#needed].filter((id) => id !== plan.id && !isTerminal(this.node(id).state)).length;
  }

  schedule({ id, ac_node_id, depth, parent_id, kind }: NodePlan): void {
    const attempt = this.node(id).retries;
    this.emit('rlm.node.scheduled', { id, parent_id }, { id, ac_node_id, depth, parent_id, kind, attempt });
  }

  /** `node`: null for the run itself. */
  emit(type: RunEventType, node: NodeName | null, data: JsonObject): string {
    const node_id = node?.id ?? null;
    const id = this.trace.emit({ type, node_id, causal_parent_event_id: this.lastOf(node), data });
    this.#last.set(node_id, id);
    if (type === 'rlm.node.terminal' && node_id !== null) this.#ended.add(node_id);
    return id;
  }

  lastOf(node: NodeName | null): string | null {
    const own = this.#last.get(node?.id ?? null);
    return own ?? this.#last.get(node?.parent_id ?? null) ?? this.#last.get(null) ?? null;
  }

  /** The moves of the run itself; those of a node are committed with it. */
  commit(data: JsonObject): void {
    const transitions = this.drain();
    if (transitions.length > 0) this.emit('rlm.state.committed', null, { ...data, transitions });
  }

  /** Nodes that ended with the run, and not by themselves. */
  endNodes(): void {
    for (const plan of this.allPlans()) {
      const node = this.#tree.find(plan.id);
      if (node === undefined || this.#ended.has(plan.id)) continue;
      this.emit('rlm.node.terminal', plan, { state: node.state, reason: this.stopped ?? 'the run ended' });
    }
  }
}
