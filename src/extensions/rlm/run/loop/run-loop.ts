/**
 * Owns the order of a run: first in, first out, so many calls at once as granted, replies taken in the order in which they were asked; a
 * parent is asked when its last child is done. What a reply means is judged in node-outcomes.ts. Nothing here depends on time: cancelling
 * is known only by a call that says so, so that a replay is cancelled at the same place.
 * Invariant: every way out leaves no call alive and no node either. Serves seed 003: the outer scaffold owns scheduling and termination.
 */
import type { CallRecord } from '../../call/call-record.ts';
import type { Cause } from '../../tree/transition.ts';
import { shownChildren } from '../prompt/child-results.ts';
import { modeOf } from '../prompt/envelope.ts';
import type { RunParts } from '../run-request.ts';
import { askNode, type NodeCall, nodeCall } from './ask-node.ts';
import { NodeOutcomes } from './node-outcomes.ts';
import type { GroupPlan, NodePlan } from './node-plan.ts';
import type { RunState } from './run-state.ts';

interface InFlight {
  readonly call: NodeCall;
  readonly record: Promise<CallRecord>;
}

export class RunLoop {
  readonly #parts: RunParts;
  readonly #state: RunState;
  readonly #outcomes: NodeOutcomes;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  #inFlight: InFlight[] = [];
  /** Parents whose children are done, to be asked before anything of the queue. */
  #ready: GroupPlan[] = [];

  constructor(parts: RunParts, state: RunState) {
    this.#parts = parts;
    this.#state = state;
    this.#outcomes = new NodeOutcomes(parts.request, state);
    this.#signal = AbortSignal.any([parts.signal, this.#stop.signal]);
  }

  async work(): Promise<void> {
    try {
      for (;;) {
        this.#fill();
        const next = this.#inFlight.shift();
        if (next === undefined) return;
        const record = await next.record;
        this.#take(next.call, record);
        if (this.#state.hasEnded) {
          this.#stop.abort();
          await this.#drain();
          return;
        }
      }
    } finally {
      this.#stop.abort();
      await Promise.allSettled(this.#inFlight.map(({ record }) => record));
    }
  }

  /** Calls that were under way when the run ended still count. */
  async #drain(): Promise<void> {
    for (const { record } of this.#inFlight.splice(0)) this.#state.totals.add(await record);
  }

  #fill(): void {
    const { keeper } = this.#state;
    const { max_iterations, max_in_flight } = keeper.tree.limits;
    while (this.#inFlight.length < max_in_flight) {
      const parent = this.#ready.shift();
      if (parent !== undefined) this.#ask(parent);
      else if (keeper.tree.work_queue.length === 0) return;
      else if (keeper.tree.iteration >= max_iterations && this.#inFlight.length > 0) return;
      else if (!this.#takeNext()) return;
    }
  }

  #takeNext(): boolean {
    const id = this.#state.keeper.takeNext(cause('take', 'first in the queue'));
    if (id === null) this.#state.stopBy('max_iterations_reached');
    else this.#bind(this.#state.planOf(id));
    return id !== null;
  }

  #bind(plan: NodePlan): void {
    const { keeper, journal } = this.#state;
    keeper.move(plan.id, ['context_bound'], cause('bind', 'its context is chosen'));
    const chunks = plan.kind === 'leaf' ? plan.chunks : [];
    journal.emit('rlm.context.bound', plan, {
      kind: plan.kind,
      chunk_ids: chunks.map(({ chunk_id }) => chunk_id),
      text_hashes: chunks.map(({ text_hash }) => text_hash),
    });
    if (plan.kind !== 'group' || keeper.node(plan.id).children_ids.length > 0) this.#ask(plan);
    else this.#outcomes.addChildren(plan, this.#state.firstChildren(plan));
  }

  #ask(plan: NodePlan): void {
    const { request, trace } = this.#parts;
    const { keeper, journal } = this.#state;
    const parentPlan = this.#state.parentOf(plan) ?? null;
    const parent = parentPlan === null ? null : { plan: parentPlan, siblings: this.#siblingsOf(parentPlan) };
    const ask = {
      plan,
      parent,
      ancestry: this.#state.ancestryOf(plan),
      attempt: keeper.node(plan.id).retries,
      plain: this.#state.isPlain(plan.id),
      children: plan.kind === 'group' ? this.#childrenOf(plan) : [],
      problems: this.#state.problemsOf(plan.id),
      causal_parent_event_id: journal.lastOf(plan),
    };
    const call = nodeCall({ request, trace }, ask);
    const started = journal.emit('rlm.hermes.call.started', plan, {
      call_id: call.call_id,
      mode: modeOf(plan),
      depth: plan.depth,
      parent_call_id: parentPlan?.call_id ?? null,
      prompt_hash: call.prompt_hash,
      selected_chunk_ids: call.chunks.map(({ chunk_id }) => chunk_id),
    });
    if (plan.parent_id === null && plan.kind === 'group')
      keeper.moveRun('synthesizing', cause('synthesise', 'all children are done'));
    keeper.move(plan.id, ['awaiting_hermes'], cause('ask', 'its turn'));
    this.#send(call, parentPlan?.call_id ?? null, started);
  }

  #send(call: NodeCall, parent_call_id: string | null, causal_parent_event_id: string): void {
    const { calls, request } = this.#parts;
    const keep_back = this.#state.keepBack(call.plan);
    const record = askNode({ calls, request, keep_back, parent_call_id, causal_parent_event_id }, call, this.#signal);
    // It is awaited in its turn; until then a rejection is nobody's.
    record.catch(() => undefined);
    this.#inFlight.push({ call, record });
  }

  #siblingsOf(parent: NodePlan): number {
    return Math.max(0, this.#state.keeper.node(parent.id).children_ids.length - 1);
  }

  #childrenOf(plan: GroupPlan) {
    const children = this.#state.childrenOf(plan).map((child) => [child, this.#state.resultOf(child)] as const);
    const { children: shown, gaps } = shownChildren(children, this.#parts.request.facts_chars);
    this.#state.shownGaps.set(plan.id, gaps);
    return shown;
  }

  #take(call: NodeCall, record: CallRecord): void {
    const { plan } = call;
    const { success, adapter_error, response_hash } = record;
    this.#state.totals.add(record);
    this.#state.journal.emit('rlm.hermes.call.completed', plan, {
      call_id: call.call_id,
      success,
      failure: adapter_error?.type ?? null,
      detail: adapter_error?.detail ?? null,
      response_hash,
      runtime: record.runtime,
    });
    if (adapter_error?.type === 'cancelled') this.#state.stopBy('cancelled');
    else this.#outcomes.take(call, record);
    this.#settleParents(plan);
  }

  /** Of the node; when nothing more is asked, of every node: many ended at once. */
  #settleParents(plan: NodePlan): void {
    if (this.#state.hasEnded) return;
    const ended = this.#state.stopped === null ? [plan] : [...this.#state.allPlans()].reverse();
    for (const one of ended) this.#settleParent(one);
  }

  /** A parent is asked when its last child is done; without a fact there is nothing to ask. */
  #settleParent(plan: NodePlan): void {
    const parent = this.#state.parentOf(plan);
    if (parent?.kind !== 'group' || this.#ready.includes(parent) || !this.#state.isReady(parent)) return;
    if (this.#outcomes.hasEvidence(parent)) {
      this.#ready.push(parent);
      return;
    }
    this.#outcomes.leaveEmpty(parent);
    this.#settleParent(parent);
  }
}

function cause(decision: string, reason: string): Cause {
  return { decision, reason };
}
