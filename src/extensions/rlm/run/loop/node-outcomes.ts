/**
 * Owns what a reply makes of its node: read and committed, asked again, or failed and a gap. Judges through read-*.ts, asks nobody.
 * Invariant: only checked facts become evidence and only an accepted synthesis becomes state; an earlier good reply is never lost to a later
 * bad one; a budget that is used up ends the asking of leaves, and all that was not asked is named. Seed 003, notes 13.4, 13.6.
 */
import type { JsonObject } from '#base/json.ts';
import type { CallRecord } from '../../call/call-record.ts';
import { traceId } from '../../call/open-record.ts';
import { type PriorPolicy, priorPolicy } from '../../memory/prior-policy.ts';
import type { NodeState } from '../../tree/node-state.ts';
import { taskOf } from '../prompt/envelope.ts';
import { readDecomposition } from '../reading/read-decomposition.ts';
import { isOfNoUse, type LeafReading, readLeaf } from '../reading/read-leaf.ts';
import { readPlain } from '../reading/read-plain.ts';
import { readSynthesis, type SynthesisReading } from '../reading/read-synthesis.ts';
import type { RunRequest } from '../run-request.ts';
import type { NodeCall } from './ask-node.ts';
import { chunkNames } from './build-outcome.ts';
import { subQuestionPlans } from './first-plans.ts';
import { type GroupPlan, leavesOf, type NodePlan } from './node-plan.ts';
import type { NodeResult } from './node-result.ts';
import { composedSynthesis, leafResult, saidGaps, synthesisResult } from './results.ts';
import type { RunState } from './run-state.ts';

/** A reading that would do, and the call it is of. */
interface Kept<T> {
  readonly reading: T;
  readonly call_id: string;
}

export class NodeOutcomes {
  readonly #request: RunRequest;
  readonly #state: RunState;
  readonly #leaves = new Map<string, Kept<LeafReading>>();
  readonly #syntheses = new Map<string, Kept<SynthesisReading>>();

  constructor(request: RunRequest, state: RunState) {
    this.#request = request;
    this.#state = state;
  }

  take(call: NodeCall, record: CallRecord): void {
    if (record.completion === null) this.#takeFailure(call, record);
    else this.#takeReply(call, record.completion);
  }

  #takeReply(call: NodeCall, completion: string): void {
    this.#move(call.plan, ['validating_response'], 'read the reply');
    switch (call.plan.kind) {
      case 'leaf':
        this.#takeLeaf(call, completion);
        break;
      case 'group':
        this.#takeSynthesis(call.plan, call, completion);
        break;
      case 'decomposition':
        this.#takeDecomposition(call, completion);
        break;
    }
  }

  addChildren(parent: NodePlan, children: readonly NodePlan[]): void {
    this.#state.keeper.addChildren(parent.id, children);
    this.#state.addPlans(parent, children);
    for (const child of children) this.#schedule(child);
  }

  hasEvidence(parent: GroupPlan): boolean {
    return this.#state.childrenOf(parent).some((child) => this.#state.resultOf(child).facts.length > 0);
  }

  /** Of a group below which nothing was found. */
  leaveEmpty(plan: GroupPlan): void {
    const statuses = this.#state.childrenOf(plan).map((child) => this.#state.resultOf(child).status);
    const status = statuses.some((one) => one === 'done' || one === 'empty') ? 'empty' : 'failed';
    const said = { summary: '', verdict: null, confidence: null };
    this.#move(plan, ['cancelled'], 'no evidence to put together');
    this.#end(plan, { node_id: plan.id, call_id: null, status, facts: [], gaps: [], ...said });
  }

  #takeFailure(call: NodeCall, record: CallRecord): void {
    const { plan } = call;
    const { type, detail } = record.adapter_error ?? { type: 'runtime_error' as const, detail: 'no reply' };
    const isBudget = type.startsWith('budget_');
    if (plan.kind === 'leaf' && TOO_MUCH.has(type)) this.#state.askPlainly(plan.id);
    if (!isBudget && type !== 'no_model' && this.#again(plan, [`${type}: ${detail}`])) return;
    if (plan.kind === 'leaf' && this.#commitKeptLeaf(call)) return;
    if (plan.kind === 'group' && this.#commitKeptSynthesis(plan)) return;
    if (isBudget && plan.kind !== 'group') this.#outOfBudget(plan, type);
    else this.#fail(plan, `${type}: ${detail}`, call.call_id);
  }

  /** What waits is not asked any more; what is under way and the syntheses go on. */
  #outOfBudget(plan: NodePlan, type: string): void {
    const { keeper } = this.#state;
    this.#state.stopped ??= type;
    this.#move(plan, ['cancelled'], type);
    this.#terminal(plan, type);
    for (const id of [...keeper.tree.work_queue]) {
      const waiting = this.#state.planOf(id);
      if (waiting.kind === 'group') continue;
      if (keeper.node(id).retries > 0) this.#endUnasked(waiting);
      else {
        this.#move(waiting, ['cancelled'], type);
        this.#terminal(waiting, type);
      }
    }
  }

  /** Of a node that waits to be asked again: an earlier reply that would do, else what was wrong with it. */
  #endUnasked(plan: NodePlan): void {
    const kept = this.#leaves.get(plan.id);
    const [why = 'no usable reply'] = this.#state.problemsOf(plan.id);
    this.#move(plan, ['cancelled'], 'it is not asked again');
    if (kept !== undefined) this.#recordLeaf(plan, kept);
    else this.#endFailed(plan, `no usable reply: ${why}`, plan.call_id);
  }

  #takeLeaf(call: NodeCall, completion: string): void {
    const { plan, chunks, asked } = call;
    const policy = this.#policy(plan);
    const reading = call.plain ? readPlain(completion, chunks) : readLeaf(completion, { asked, chunks, policy });
    const { form, problems, facts, refused } = reading;
    this.#validated(call, { form, problems, facts: facts.length, refused: refused.length });
    const usable = form === 'contract' || facts.length > 0;
    const kept = this.#leaves.get(plan.id);
    const isBetter = usable && (kept === undefined || facts.length >= kept.reading.facts.length);
    if (isBetter) this.#leaves.set(plan.id, { reading, call_id: call.call_id });
    if (isOfNoUse(reading)) this.#state.askPlainly(plan.id);
    if (problems.length > 0 && this.#again(plan, problems)) return;
    if (!this.#commitKeptLeaf(call)) this.#fail(plan, `no usable reply: ${problems[0] ?? form}`, call.call_id);
  }

  #commitKeptLeaf({ plan }: NodeCall): boolean {
    const kept = this.#leaves.get(plan.id);
    if (kept === undefined) return false;
    this.#move(plan, this.#wayTo(plan, 'atomic_complete'), 'the facts that its chunk holds are kept');
    this.#recordLeaf(plan, kept);
    return true;
  }

  #recordLeaf(plan: NodePlan, { reading, call_id }: Kept<LeafReading>): void {
    const facts = this.#state.ledger.add(reading.facts, call_id);
    this.#state.refusedFacts.push(...reading.refused.map(({ text, reason }) => ({ call_id, text, reason })));
    const result = leafResult(plan, { reading, call_id, facts });
    const judged = plan.parent_id === null ? composedSynthesis(result, this.#request.guard_mode) : undefined;
    this.#end(plan, judged === undefined ? result : { ...result, judged });
  }

  #takeSynthesis(plan: GroupPlan, call: NodeCall, completion: string): void {
    const children = this.#state.childrenOf(plan);
    const leaves = this.#state.allPlans(plan).filter((one) => one.kind === 'leaf');
    const reading = readSynthesis(completion, {
      asked: call.asked,
      facts: children.flatMap((child) => this.#state.resultOf(child).facts),
      selectedChunkIds: leaves
        .flatMap((leaf) => leavesOf(leaf))
        .flatMap(({ chunks }) => chunks.map(({ chunk_id }) => chunk_id)),
      answeredChunkIds: leaves
        .filter((leaf) => this.#state.resultOf(leaf).status === 'done')
        .flatMap((leaf) => leavesOf(leaf))
        .flatMap(({ chunks }) => chunks.map(({ chunk_id }) => chunk_id)),
      mode: this.#request.guard_mode,
      policy: this.#policy(plan),
    });
    this.#judged(call, reading);
    const kept = this.#syntheses.get(plan.id);
    if (kept === undefined || reading.accepted || !kept.reading.accepted)
      this.#syntheses.set(plan.id, { reading, call_id: call.call_id });
    if (reading.problems.length > 0 && this.#mayAgain(plan, reading) && this.#again(plan, reading.problems)) return;
    this.#commitKeptSynthesis(plan);
  }

  /** Beyond the retries of the run memory grants one more after a repair. */
  #mayAgain(plan: NodePlan, { repair, accepted }: SynthesisReading): boolean {
    const { retries } = this.#state.keeper.node(plan.id);
    if (retries < this.#request.limits.max_retries) return true;
    return !accepted && repair.repair_attempted && retries < this.#policy(plan).retries_after_repair;
  }

  #commitKeptSynthesis(plan: GroupPlan): boolean {
    const kept = this.#syntheses.get(plan.id);
    if (kept === undefined) return false;
    const facts = this.#state.childrenOf(plan).flatMap((child) => this.#state.resultOf(child).facts);
    const shown = this.#state.shownGaps.get(plan.id) ?? [];
    const result = synthesisResult(plan, { ...kept, facts, shown });
    const end: NodeState = kept.reading.accepted ? 'synthesis_complete' : 'failed';
    this.#move(plan, this.#wayTo(plan, end), kept.reading.accepted ? 'the guard accepts it' : 'the guard refuses it');
    this.#end(plan, result);
    return true;
  }

  #takeDecomposition(call: NodeCall, completion: string): void {
    const { plan, asked } = call;
    const { max_depth } = this.#request.limits;
    const trace_id = traceId(call.call_id);
    const read = readDecomposition(completion, { asked, question: plan.question, max_depth, trace_id });
    this.#validated(call, { sub_questions: read.ok ? read.value.length : 0, refusal: read.ok ? null : read.reason });
    if (read.ok) {
      this.#state.subQuestions = read.value;
      this.#move(plan, ['committing', 'decomposed'], 'the sub-questions keep to the rules');
      this.#endDecomposition(plan, { children: subQuestionPlans(this.#request, read.value), call_id: call.call_id });
      return;
    }
    if (read.reason === 'atomic') this.#move(plan, ['committing', 'atomic_complete'], 'the question is one');
    else if (this.#again(plan, [`${read.reason}: ${read.detail}`])) return;
    else this.#move(plan, ['failed'], read.reason);
    this.#goOnUndecomposed(plan, `${read.reason}: ${read.detail}`, call.call_id);
  }

  #goOnUndecomposed(plan: NodePlan, why: string, call_id: string): void {
    this.#state.gaps.push({ what: 'splitting of the question', why: `it was asked as one (${why})` });
    const { root } = this.#state;
    this.#endDecomposition(plan, { children: root.kind === 'group' ? root.children : [], call_id });
  }

  #endDecomposition(
    plan: NodePlan,
    { children, call_id }: { readonly children: readonly NodePlan[]; readonly call_id: string },
  ): void {
    const said = { summary: '', verdict: null, confidence: null };
    const sub_questions = this.#state.subQuestions.map((one) => ({ ...one }));
    this.#end(plan, { node_id: plan.id, call_id, status: 'done', facts: [], gaps: [], ...said }, { sub_questions });
    this.addChildren(this.#state.root, children);
  }

  /** Sends the node back to the queue, with what was wrong; false: it was asked often enough. */
  #again(plan: NodePlan, problems: readonly string[]): boolean {
    const { keeper } = this.#state;
    const { retries } = keeper.node(plan.id);
    if (retries >= keeper.tree.limits.max_retries) return false;
    if (plan.kind !== 'group' && retries >= this.#request.limits.max_retries) return false;
    if (plan.kind === 'leaf' && this.#state.stopped !== null) return false;
    this.#state.setProblems(plan.id, problems);
    this.#move(plan, ['blocked_retry', 'queued'], problems[0] ?? 'again');
    if (keeper.tree.run_state === 'synthesizing')
      keeper.moveRun('scheduling', { decision: 'again', reason: 'the synthesis is asked again' });
    this.#committed(plan, { problems });
    this.#schedule(plan);
    return true;
  }

  #fail(plan: NodePlan, why: string, call_id: string): void {
    if (plan.kind === 'decomposition') {
      this.#move(plan, ['failed'], why);
      this.#goOnUndecomposed(plan, why, call_id);
      return;
    }
    this.#move(plan, ['failed'], why);
    this.#endFailed(plan, why, call_id);
  }

  /** A gap; of a group the facts below it go up as they are. */
  #endFailed(plan: NodePlan, why: string, call_id: string): void {
    const below = plan.parent_id === null ? [] : this.#state.childrenOf(plan);
    const facts = below.flatMap((child) => this.#state.resultOf(child).facts);
    const what = plan.kind === 'leaf' ? chunkNames(plan) : plan.id;
    const said = { summary: '', verdict: null, confidence: null };
    const gaps = [{ what, why: why.slice(0, LONGEST_WHY).toWellFormed() }];
    this.#end(plan, { node_id: plan.id, call_id, status: 'failed', facts, gaps, ...said });
  }

  /** From where the node stands, the states on the way to its end. */
  #wayTo(plan: NodePlan, end: NodeState): readonly NodeState[] {
    const { state } = this.#state.keeper.node(plan.id);
    const near: readonly NodeState[] = state === 'awaiting_hermes' ? ['validating_response'] : [];
    return end === 'failed' ? [...near, end] : [...near, 'committing', end];
  }

  #policy(plan: NodePlan): PriorPolicy {
    return priorPolicy(this.#request.memory.priors.filter(({ task }) => task === taskOf(plan)));
  }

  #move(plan: NodePlan, states: readonly NodeState[], reason: string): void {
    const causal_parent_event_id = this.#state.journal.lastOf(plan);
    this.#state.keeper.move(plan.id, states, {
      decision: states.at(-1) ?? '',
      reason: reason.slice(0, LONGEST_WHY).toWellFormed(),
      causal_parent_event_id,
    });
  }

  #schedule(plan: NodePlan): void {
    const { id, ac_node_id, depth, parent_id, kind } = plan;
    const attempt = this.#state.keeper.node(id).retries;
    this.#state.journal.emit('rlm.node.scheduled', plan, { id, ac_node_id, depth, parent_id, kind, attempt });
  }

  #validated(call: NodeCall, data: JsonObject): void {
    this.#state.journal.emit('rlm.hermes.response.validated', call.plan, { call_id: call.call_id, ...data });
  }

  #judged(call: NodeCall, { accepted, validation, repair, problems }: SynthesisReading): void {
    this.#validated(call, {
      accepted,
      problems,
      unsupported_claim_rate: validation.unsupported_claim_rate,
      accepted_claims: validation.accepted_claims.map((claim) => ({ ...claim })),
      rejected_claims: validation.rejected_claims.map(({ reason, claim, detail }) => ({
        reason,
        claim: { ...claim },
        detail,
      })),
      repair: repair.repair_strategy,
      repair_accept: repair.repair_accept,
    });
  }

  #end(plan: NodePlan, result: NodeResult, more: JsonObject = {}): void {
    this.#state.setResult(result);
    const facts = result.facts.map(({ place: _place, ...fact }) => fact);
    this.#committed(plan, {
      status: result.status,
      call_id: result.call_id,
      facts,
      gaps: saidGaps(result.gaps),
      ...more,
    });
    this.#terminal(plan, result.status);
  }

  #committed(plan: NodePlan, data: JsonObject): void {
    const transitions = this.#state.keeper.drain().map((one) => ({ ...one }));
    this.#state.journal.emit('rlm.state.committed', plan, { ...data, transitions });
  }

  #terminal(plan: NodePlan, reason: string): void {
    const { state } = this.#state.keeper.node(plan.id);
    this.#state.journal.emit('rlm.node.terminal', plan, { state, reason });
  }
}

const LONGEST_WHY = 300;

/** Who failed like this is asked for less. */
const TOO_MUCH: ReadonlySet<string> = new Set(['reply_too_large', 'timeout']);
