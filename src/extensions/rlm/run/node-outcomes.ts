// Owns what a reply makes of its node: read and committed, asked again, or failed and a gap. Judges through read-*.ts, asks nobody. Invariant: only
// checked facts become evidence and only an accepted synthesis becomes state; an earlier good reply is never lost to a later bad one; a budget that is
// used up ends the asking of leaves, and all that was not asked is named; a group hands up the facts that its accepted claims cite, a refused one all that
// it was given, and says so. Seed 003, notes 13.4, 13.6.
import type { JsonObject } from '#base/json.ts';
import type { CallRecord } from '../call/call-record.ts';
import { buildManifest } from '../guard/manifest.ts';
import type { GuardMode } from '../guard/read-claims.ts';
import { repairMissingHandles } from '../guard/repair-missing-handles.ts';
import { type PriorPolicy, priorPolicy } from '../memory/priors.ts';
import type { RunGap } from '../outcome.ts';
import type { NodeState } from '../scaffold/run-tree.ts';
import { taskOf } from './envelope.ts';
import { type GroupPlan, leavesOf, type NodePlan, subQuestionPlans } from './plan.ts';
import { isOfNoUse, type LeafReading, readLeaf, readPlain } from './read-leaf.ts';
import { readDecomposition, readSynthesis, type SynthesisReading } from './read-synthesis.ts';
import type { RunRequest } from './run-request.ts';
import type { JudgedSynthesis, NodeCall, NodeResult, RunState } from './run-state.ts';

/** A reading that would do, and the call it is of. */
interface Kept<T> {
  readonly reading: T;
  readonly call_id: string;
}

const UNSAID = { facts: [], gaps: [], summary: '', verdict: null, confidence: null };
const LONGEST_WHY = 300;
/** Who failed like this is asked for less. */
const TOO_MUCH: ReadonlySet<string> = new Set(['reply_too_large', 'timeout']);

export class NodeOutcomes {
  readonly #request: RunRequest;
  readonly #state: RunState;
  readonly #leaves = new Map<string, Kept<LeafReading>>();
  readonly #syntheses = new Map<string, Kept<SynthesisReading>>();

  constructor(state: RunState) {
    this.#request = state.request;
    this.#state = state;
  }

  take(call: NodeCall, record: CallRecord): void {
    const { plan } = call;
    const { completion } = record;
    if (completion === null) {
      this.#takeFailure(call, record);
      return;
    }
    this.#move(plan, ['validating_response'], 'read the reply');
    if (plan.kind === 'leaf') this.#takeLeaf(call, completion);
    else if (plan.kind === 'group') this.#takeSynthesis(plan, call, completion);
    else this.#takeDecomposition(call, completion);
  }

  /** Of a group below which nothing was found. */
  leaveEmpty(plan: GroupPlan): void {
    const statuses = this.#state.childrenOf(plan).map((child) => this.#state.resultOf(child).status);
    const status = statuses.some((one) => one === 'done' || one === 'empty') ? 'empty' : 'failed';
    this.#move(plan, ['cancelled'], 'no evidence to put together');
    this.#end(plan, { ...UNSAID, node_id: plan.id, call_id: null, status });
  }

  #takeFailure({ plan, call_id }: NodeCall, { adapter_error }: CallRecord): void {
    const { type, detail } = adapter_error ?? { type: 'runtime_error', detail: 'no reply' };
    const isBudget = type.startsWith('budget_');
    const why = `${type}: ${detail}`;
    if (plan.kind === 'leaf' && TOO_MUCH.has(type)) this.#state.plain.add(plan.id);
    if (!isBudget && type !== 'no_model' && this.#again(plan, [why])) return;
    if (plan.kind === 'leaf' && this.#commitKeptLeaf(plan)) return;
    if (plan.kind === 'group' && this.#commitKeptSynthesis(plan)) return;
    if (isBudget && plan.kind !== 'group') this.#outOfBudget(plan, type);
    else this.#fail(plan, why, call_id);
  }

  /** What waits is not asked any more; what is under way and the syntheses go on. */
  #outOfBudget(plan: NodePlan, type: string): void {
    const state = this.#state;
    state.stopped ??= type;
    const cancel = (one: NodePlan) => {
      this.#move(one, ['cancelled'], type);
      this.#terminal(one, type);
    };
    cancel(plan);
    for (const id of [...state.tree.work_queue]) {
      const waiting = state.planOf(id);
      if (waiting.kind === 'group') continue;
      if (state.node(id).retries > 0) this.#endUnasked(waiting);
      else cancel(waiting);
    }
  }

  /** Of a node that waits to be asked again: an earlier reply that would do, else what was wrong with it. */
  #endUnasked(plan: NodePlan): void {
    const kept = this.#leaves.get(plan.id);
    const [why = 'no usable reply'] = this.#state.problems.get(plan.id) ?? [];
    this.#move(plan, ['cancelled'], 'it is not asked again');
    if (kept !== undefined) this.#recordLeaf(plan, kept);
    else this.#endFailed(plan, `no usable reply: ${why}`, plan.call_id);
  }

  #takeLeaf(call: NodeCall, completion: string): void {
    const { plan, chunks, asked, call_id } = call;
    const policy = this.#policy(plan);
    const reading = call.plain ? readPlain(completion, chunks) : readLeaf(completion, asked, chunks, policy);
    const { form, problems, facts, refused } = reading;
    this.#validated(call, { form, problems, facts: facts.length, refused: refused.length });
    const usable = form === 'contract' || facts.length > 0;
    const kept = this.#leaves.get(plan.id);
    const isBetter = usable && (kept === undefined || facts.length >= kept.reading.facts.length);
    if (isBetter) this.#leaves.set(plan.id, { reading, call_id });
    if (isOfNoUse(reading)) this.#state.plain.add(plan.id);
    if (problems.length > 0 && this.#again(plan, problems)) return;
    if (!this.#commitKeptLeaf(plan)) this.#fail(plan, `no usable reply: ${problems[0] ?? form}`, call_id);
  }

  #commitKeptLeaf(plan: NodePlan): boolean {
    const kept = this.#leaves.get(plan.id);
    if (kept === undefined) return false;
    this.#move(plan, this.#wayTo(plan, 'atomic_complete'), 'the facts that its chunk holds are kept');
    this.#recordLeaf(plan, kept);
    return true;
  }

  #recordLeaf(plan: NodePlan, { reading, call_id }: Kept<LeafReading>): void {
    const { summary, verdict, confidence, refused } = reading;
    const facts = this.#state.ledger.add(reading.facts, call_id);
    this.#state.refusedFacts.push(...refused.map(({ text, reason }) => ({ call_id, text, reason })));
    const gaps = reported(reading.gaps, call_id);
    const result = { node_id: plan.id, call_id, status: 'done', facts, summary, verdict, confidence, gaps } as const;
    const { guard_mode } = this.#request;
    this.#end(plan, plan.parent_id === null ? { ...result, judged: composedSynthesis(result, guard_mode) } : result);
  }

  #takeSynthesis(plan: GroupPlan, call: NodeCall, completion: string): void {
    const state = this.#state;
    const leaves = state.allPlans(plan).filter((one) => one.kind === 'leaf');
    const chunksOf = (some: readonly NodePlan[]) =>
      some.flatMap(leavesOf).flatMap(({ chunks }) => chunks.map(({ chunk_id }) => chunk_id));
    const reading = readSynthesis(completion, {
      asked: call.asked,
      facts: state.factsBelow(plan),
      selectedChunkIds: chunksOf(leaves),
      answeredChunkIds: chunksOf(leaves.filter((leaf) => state.resultOf(leaf).status === 'done')),
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
    const { retries } = this.#state.node(plan.id);
    if (retries < this.#request.limits.max_retries) return true;
    return !accepted && repair.repair_attempted && retries < this.#policy(plan).retries_after_repair;
  }

  #commitKeptSynthesis(plan: GroupPlan): boolean {
    const kept = this.#syntheses.get(plan.id);
    if (kept === undefined) return false;
    const { accepted } = kept.reading;
    const result = synthesisResult(plan, kept, this.#state);
    const end: NodeState = accepted ? 'synthesis_complete' : 'failed';
    this.#move(plan, this.#wayTo(plan, end), accepted ? 'the guard accepts it' : 'the guard refuses it');
    this.#end(plan, result);
    return true;
  }

  #takeDecomposition(call: NodeCall, completion: string): void {
    const { plan, asked, call_id } = call;
    const { max_depth } = this.#request.limits;
    const read = readDecomposition(completion, asked, { question: plan.question, max_depth });
    this.#validated(call, { sub_questions: read.ok ? read.value.length : 0, refusal: read.ok ? null : read.reason });
    if (read.ok) {
      this.#state.subQuestions = read.value;
      this.#move(plan, ['committing', 'decomposed'], 'the sub-questions keep to the rules');
      this.#endDecomposition(plan, subQuestionPlans(this.#request, read.value), call_id);
      return;
    }
    const why = `${read.reason}: ${read.detail}`;
    if (read.reason === 'atomic') this.#move(plan, ['committing', 'atomic_complete'], 'the question is one');
    else if (this.#again(plan, [why])) return;
    else this.#move(plan, ['failed'], read.reason);
    this.#goOnUndecomposed(plan, why, call_id);
  }

  #goOnUndecomposed(plan: NodePlan, why: string, call_id: string): void {
    const { root, gaps } = this.#state;
    gaps.push({ what: 'splitting of the question', why: `it was asked as one (${why})` });
    this.#endDecomposition(plan, root.kind === 'group' ? root.children : [], call_id);
  }

  #endDecomposition(plan: NodePlan, children: readonly NodePlan[], call_id: string): void {
    const sub_questions = this.#state.subQuestions.map((one) => ({ ...one }));
    this.#end(plan, { ...UNSAID, node_id: plan.id, call_id, status: 'done' }, { sub_questions });
    this.#state.addChildren(this.#state.root, children);
  }

  /** Sends the node back to the queue, with what was wrong; false: it was asked often enough. */
  #again(plan: NodePlan, problems: readonly string[]): boolean {
    const state = this.#state;
    const { retries } = state.node(plan.id);
    if (retries >= state.tree.limits.max_retries) return false;
    if (plan.kind !== 'group' && retries >= this.#request.limits.max_retries) return false;
    if (plan.kind === 'leaf' && state.stopped !== null) return false;
    state.problems.set(plan.id, problems);
    this.#move(plan, ['blocked_retry', 'queued'], problems[0] ?? 'again');
    if (state.tree.run_state === 'synthesizing') state.moveRun('scheduling', 'again', 'the synthesis is asked again');
    this.#committed(plan, { problems });
    state.schedule(plan);
    return true;
  }

  #fail(plan: NodePlan, why: string, call_id: string): void {
    this.#move(plan, ['failed'], why);
    if (plan.kind === 'decomposition') this.#goOnUndecomposed(plan, why, call_id);
    else this.#endFailed(plan, why, call_id);
  }

  /** A gap; of a group the facts below it go up as they are. */
  #endFailed(plan: NodePlan, why: string, call_id: string): void {
    const facts = plan.parent_id === null ? [] : this.#state.factsBelow(plan);
    const what = plan.kind === 'leaf' ? chunkNames(plan) : plan.id;
    const gaps = [{ what, why: why.slice(0, LONGEST_WHY).toWellFormed() }];
    this.#end(plan, { ...UNSAID, node_id: plan.id, call_id, status: 'failed', facts, gaps });
  }

  /** From where the node stands, the states on the way to its end. */
  #wayTo(plan: NodePlan, end: NodeState): readonly NodeState[] {
    const { state } = this.#state.node(plan.id);
    const near: readonly NodeState[] = state === 'awaiting_hermes' ? ['validating_response'] : [];
    return end === 'failed' ? [...near, end] : [...near, 'committing', end];
  }

  #policy(plan: NodePlan): PriorPolicy {
    return priorPolicy(this.#request.memory.priors.filter(({ task }) => task === taskOf(plan)));
  }

  #move(plan: NodePlan, states: readonly NodeState[], reason: string): void {
    this.#state.move(plan, states, {
      decision: states.at(-1) ?? '',
      reason: reason.slice(0, LONGEST_WHY).toWellFormed(),
      causal_parent_event_id: this.#state.lastOf(plan),
    });
  }

  #validated({ plan, call_id }: NodeCall, data: JsonObject): void {
    this.#state.emit('rlm.hermes.response.validated', plan, { call_id, ...data });
  }

  #judged(call: NodeCall, { accepted, validation, repair, problems }: SynthesisReading): void {
    const { unsupported_claim_rate, accepted_claims, rejected_claims } = validation;
    this.#validated(call, {
      accepted,
      problems,
      unsupported_claim_rate,
      accepted_claims: accepted_claims.map((claim) => ({ ...claim })),
      rejected_claims: rejected_claims.map(({ reason, claim, detail }) => ({ reason, claim: { ...claim }, detail })),
      repair: repair.repair_strategy,
      repair_accept: repair.repair_accept,
    });
  }

  #end(plan: NodePlan, result: NodeResult, more: JsonObject = {}): void {
    this.#state.results.set(result.node_id, result);
    const { status, call_id } = result;
    const facts = result.facts.map(({ place: _place, ...fact }) => fact);
    const gaps = result.gaps.map(({ what, why }) => ({ what, why }));
    this.#committed(plan, { status, call_id, facts, gaps, ...more });
    this.#terminal(plan, status);
  }

  #committed(plan: NodePlan, data: JsonObject): void {
    this.#state.emit('rlm.state.committed', plan, { ...data, transitions: this.#state.drain() });
  }

  #terminal(plan: NodePlan, reason: string): void {
    this.#state.emit('rlm.node.terminal', plan, { state: this.#state.node(plan.id).state, reason });
  }
}

function synthesisResult(plan: NodePlan, { reading, call_id }: Kept<SynthesisReading>, state: RunState): NodeResult {
  const { accepted, validation, repair, problems, summary, verdict, confidence, gaps } = reading;
  const given = state.factsBelow(plan);
  const key = (one: { readonly fact_id: string | null; readonly chunk_id: string | null }) =>
    JSON.stringify([one.fact_id, one.chunk_id]);
  const cited = new Set(validation.accepted_claims.map(key));
  const facts = accepted ? given.filter((fact) => cited.has(key(fact))) : given;
  const refused = accepted ? [] : [{ what: plan.id, why: refusalText(plan, reading, given.length) }];
  return {
    node_id: plan.id,
    call_id,
    status: accepted ? 'done' : 'failed',
    ...{ facts, summary, verdict, confidence },
    gaps: [...refused, ...(state.shownGaps.get(plan.id) ?? []), ...reported(gaps, call_id)],
    judged: { validation, repair, problems },
  };
}

function refusalText(plan: NodePlan, { validation, problems }: SynthesisReading, count: number): string {
  const reasons = [...new Set(validation.rejected_claims.map(({ reason }) => reason))].join(', ');
  const why = `its synthesis was refused (${reasons === '' ? (problems[0] ?? 'form') : reasons})`;
  return plan.parent_id === null ? why : `${why}; its ${count} quotations go up as they are`;
}

/** Of a run of one call: its checked facts, as a parent would claim them. */
function composedSynthesis({ facts, summary, verdict }: NodeResult, mode: GuardMode): JudgedSynthesis {
  const retained_facts = facts.map(({ fact_id, text, chunk_id }) => ({ fact_id, text, evidence_chunk_id: chunk_id }));
  const synthesis = { mode: 'execute_atomic', verdict, result: { summary, retained_facts }, evidence_references: [] };
  const manifest = buildManifest({ entries: facts.map(({ place: _place, ...entry }) => entry) });
  const { repair } = repairMissingHandles({ manifest, synthesis, childRecords: [], mode });
  return { validation: repair.before_validation, repair, problems: [] };
}

const MOST_GAPS = 20;

/** What a reply says is missing: prose, named as such. */
function reported(gaps: readonly string[], call_id: string): readonly RunGap[] {
  const said = gaps.filter((gap) => gap.trim() !== '').slice(0, MOST_GAPS);
  return said.map((gap) => ({ what: gap.slice(0, LONGEST_WHY).toWellFormed(), why: `said by ${call_id}` }));
}

export function chunkNames(plan: NodePlan): string {
  const chunks = leavesOf(plan).flatMap((leaf) => leaf.chunks);
  return chunks.map(({ chunk_id }) => chunk_id).join(', ');
}
