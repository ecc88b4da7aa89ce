// Owns the order of a run: first in, first out, so many calls at once as granted, replies taken in the order in which they were asked; a parent is
// asked when its last child is done. What a reply means is judged in node-outcomes.ts. Nothing here depends on time: cancelling is known only by a
// call that says so, so that a replay is cancelled at the same place. Invariant: every way out leaves no call alive and no node either; a prompt follows
// from the request, the texts and the results of the children alone. Serves seed 003: the outer scaffold owns scheduling and termination.
import { TalariaError } from '#base/errors.ts';
import type { CallRecord, Calls } from '../call/call-record.ts';
import { askedOf } from '../scaffold/envelope.ts';
import { textHash } from '../trace/run-record.ts';
import { buildEnvelope, modeOf } from './envelope.ts';
import type { ChunkText } from './fresh-facts.ts';
import { NodeOutcomes } from './node-outcomes.ts';
import { PLAIN_SYSTEM, plainPrompt, plainTokens } from './plain-prompt.ts';
import type { GroupPlan, NodePlan } from './plan.ts';
import { SYSTEM_PROMPT } from './run.rules.ts';
import type { RequestChunk } from './run-request.ts';
import type { NodeCall, RunState } from './run-state.ts';

export class RunLoop {
  readonly #state: RunState;
  readonly #calls: Calls;
  readonly #outcomes: NodeOutcomes;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  #inFlight: { readonly call: NodeCall; readonly record: Promise<CallRecord> }[] = [];
  /** Parents whose children are done, to be asked before anything of the queue. */
  #ready: GroupPlan[] = [];

  constructor(state: RunState, calls: Calls, signal: AbortSignal) {
    this.#state = state;
    this.#calls = calls;
    this.#outcomes = new NodeOutcomes(state);
    this.#signal = AbortSignal.any([signal, this.#stop.signal]);
  }

  async work(): Promise<void> {
    try {
      for (;;) {
        this.#fill();
        const next = this.#inFlight.shift();
        if (next === undefined) return;
        this.#take(next.call, await next.record);
        if (!this.#state.hasEnded) continue;
        this.#stop.abort();
        // Calls that were under way when the run ended still count.
        for (const { record } of this.#inFlight.splice(0)) this.#count(await record);
        return;
      }
    } finally {
      this.#stop.abort();
      await Promise.allSettled(this.#inFlight.map(({ record }) => record));
    }
  }

  #count({ adapter_error, mode, usage, cost }: CallRecord): void {
    this.#state.calls.push({ adapter_error, mode, usage, cost });
  }

  #fill(): void {
    const { max_iterations, max_in_flight } = this.#state.tree.limits;
    while (this.#inFlight.length < max_in_flight) {
      const { work_queue, iteration } = this.#state.tree;
      const parent = this.#ready.shift();
      if (parent !== undefined) this.#ask(parent);
      else if (work_queue.length === 0) return;
      else if (iteration >= max_iterations && this.#inFlight.length > 0) return;
      else if (!this.#takeNext()) return;
    }
  }

  #takeNext(): boolean {
    const plan = this.#state.takeNext();
    if (plan === null) this.#state.stopBy('max_iterations_reached');
    else this.#bind(plan);
    return plan !== null;
  }

  #bind(plan: NodePlan): void {
    const state = this.#state;
    state.move(plan, ['context_bound'], { decision: 'bind', reason: 'its context is chosen' });
    const chunks = plan.kind === 'leaf' ? plan.chunks : [];
    state.emit('rlm.context.bound', plan, {
      kind: plan.kind,
      chunk_ids: chunks.map(({ chunk_id }) => chunk_id),
      text_hashes: chunks.map(({ text_hash }) => text_hash),
    });
    if (plan.kind !== 'group' || state.node(plan.id).children_ids.length > 0) this.#ask(plan);
    else state.addChildren(plan, state.firstChildren(plan));
  }

  #ask(plan: NodePlan): void {
    const state = this.#state;
    const { families, max_output_tokens } = state.request;
    const parent_call_id = state.parentOf(plan)?.call_id ?? null;
    const { call, prompt } = this.#nodeCall(plan);
    const { call_id, plain } = call;
    const mode = modeOf(plan);
    const selected_chunk_ids = call.chunks.map(({ chunk_id }) => chunk_id);
    const told = {
      call_id,
      mode,
      depth: plan.depth,
      parent_call_id,
      prompt_hash: textHash(prompt),
      selected_chunk_ids,
    };
    const causal_parent_event_id = state.emit('rlm.hermes.call.started', plan, told);
    if (plan.parent_id === null && plan.kind === 'group')
      state.moveRun('synthesizing', 'synthesise', 'all children are done');
    state.move(plan, ['awaiting_hermes'], { decision: 'ask', reason: 'its turn' });
    const record = this.#calls.ask(
      {
        ...{ call_id, parent_call_id, causal_parent_event_id, mode, depth: plan.depth, selected_chunk_ids, prompt },
        rlm_node_id: plan.id,
        ac_node_id: plan.ac_node_id,
        system: plain ? PLAIN_SYSTEM : SYSTEM_PROMPT,
        max_output_tokens: plain ? plainTokens(max_output_tokens) : max_output_tokens,
        families: plan.kind === 'group' ? families.synthesis : families.children,
        keep_back: state.keepBack(plan),
      },
      this.#signal,
    );
    // It is awaited in its turn; until then a rejection is nobody's.
    record.catch(() => undefined);
    this.#inFlight.push({ call, record });
  }

  #nodeCall(plan: NodePlan): { readonly call: NodeCall; readonly prompt: string } {
    const state = this.#state;
    const attempt = state.node(plan.id).retries;
    const call_id = attempt === 0 ? plan.call_id : `${plan.call_id}_retry_${attempt}`;
    const plain = state.plain.has(plan.id);
    const chunks = plan.kind === 'leaf' ? plan.chunks.map((chunk) => this.#chunkText(chunk)) : [];
    const beginnings = plan.kind === 'decomposition' ? this.#beginnings() : [];
    const envelope = buildEnvelope(state, { plan, call_id, chunks, beginnings });
    const texts = chunks.map(({ text }) => text);
    const prompt = plain ? plainPrompt(plan.question, texts) : JSON.stringify(envelope);
    return { call: { plan, call_id, plain, asked: askedOf(envelope), chunks }, prompt };
  }

  #chunkText({ text_hash, ...chunk }: RequestChunk): ChunkText {
    const text = this.#state.trace.textOf(text_hash);
    if (text !== undefined) return { ...chunk, text };
    throw new TalariaError(`The text of ${chunk.chunk_id} is not in the trace.`, { code: 'trace-incomplete' });
  }

  /** How the chunks begin, for the question how to split the question. */
  #beginnings() {
    return this.#state.request.chunks.slice(0, MOST_BEGINNINGS).map((chunk) => {
      const { text } = this.#chunkText(chunk);
      return { summary_id: chunk.chunk_id, text: text.slice(0, BEGINNING).toWellFormed() };
    });
  }

  #take(call: NodeCall, record: CallRecord): void {
    const { plan, call_id } = call;
    const { success, adapter_error, response_hash, runtime } = record;
    this.#count(record);
    const failure = adapter_error?.type ?? null;
    const told = { call_id, success, failure, detail: adapter_error?.detail ?? null, response_hash, runtime };
    this.#state.emit('rlm.hermes.call.completed', plan, told);
    if (failure === 'cancelled') this.#state.stopBy('cancelled');
    else this.#outcomes.take(call, record);
    if (this.#state.hasEnded) return;
    // When nothing more is asked, of every node: many ended at once.
    const ended = this.#state.stopped === null ? [plan] : [...this.#state.allPlans()].reverse();
    for (const one of ended) this.#settleParent(one);
  }

  /** A parent is asked when its last child is done; without a fact there is nothing to ask. */
  #settleParent(plan: NodePlan): void {
    const parent = this.#state.parentOf(plan);
    if (parent?.kind !== 'group' || this.#ready.includes(parent) || !this.#state.isReady(parent)) return;
    if (this.#state.factsBelow(parent).length > 0) {
      this.#ready.push(parent);
      return;
    }
    this.#outcomes.leaveEmpty(parent);
    this.#settleParent(parent);
  }
}

/** Of a chunk. */
const BEGINNING = 240;
const MOST_BEGINNINGS = 24;
