// Owns the verdict on a stored run: all that does not hold together, each with its code and place (notes 16, link verifier): events, calls, nodes,
// texts, outcome, and that what was accepted rests on what was read. Without a model; it runs nothing again but the code of handles, replay does.
// Invariant: total on whatever a file holds; every problem is listed, not the first one. Reads calls of the original as well, which hash nothing.
import { canonicalJson, isJsonObject, type JsonObject } from '#base/json.ts';
import { WholeQuotes } from '#base/text/quotes.ts';
import { oneLine } from '#base/text.ts';
import { type CallRecord, callTotals, traceId } from '../call/call-record.ts';
import { EvidenceWords } from '../guard/manifest.ts';
import {
  type AskOutcome,
  basesOf,
  type FreshFact,
  type RunOutcome,
  readOutcome,
  type SourcePlace,
} from '../outcome.ts';
import type { ContextSource } from '../repl/parted-source.ts';
import { parseChunkId } from '../scaffold/chunks.ts';
import {
  eventId,
  jsonHash,
  keptChunks,
  namedTexts,
  RUN_EVENT_TYPES,
  type RunEvent,
  type RunEventType,
  type RunRecord,
  textHash,
} from './run-record.ts';

export interface Problem {
  /** Stable. */
  readonly code: string;
  /** Event, call, node, claim or handle. */
  readonly where: string;
  /** One sentence. */
  readonly detail: string;
}

/** Notes a problem when something does not hold. */
export type Expect = (holds: boolean, code: string, where: string, detail: string) => void;

export function problemsOf(check: (expect: Expect) => void): readonly Problem[] {
  const problems: Problem[] = [];
  check((holds, code, where, detail) => {
    if (!holds) problems.push({ code, where, detail });
  });
  return problems;
}

/** Looks at one handle, or at the quotation `sentence N`, with what the run read or ran; a sentence: what is wrong. */
export type HandleCheck = (of: { readonly id: string }) => string | null;

/** `handle`: for `rlm ask`; absent: what handles say of the source and of code is not looked at. */
export function verifyRun(record: RunRecord, { handle }: { readonly handle?: HandleCheck } = {}): readonly Problem[] {
  const { row, calls, textOf } = record;
  return problemsOf((expect) => {
    checkEvents(record, expect);
    checkCalls(calls, { run_id: row.run_id, unasked: unaskedParents(record) }, expect);
    checkLifecycle(record, expect);
    checkNodes(record, expect);
    for (const [hash, where] of namedTexts(record)) {
      const text = textOf(hash);
      const isSame = text === undefined || textHash(text) === hash;
      expect(text !== undefined, 'text-missing', where, `The text ${hash.slice(0, 15)} is not kept.`);
      expect(isSame, 'text-hash', where, `The text ${hash.slice(0, 15)} is another now.`);
    }
    checkOutcome(record, expect);
    if (row.outcome === null) return;
    const read = readOutcome(row.outcome);
    if (read.kind === 'run') checkClaims(read.outcome, record, expect);
    else if (read.kind === 'ask') checkAnswer(read.outcome, { calls, handle }, expect);
    else expect(row.kind === 'vanilla', 'outcome-shape', OUTCOME, `It is none of a run of the kind ${row.kind}.`);
  });
}

const TYPES: ReadonlySet<string> = new Set(RUN_EVENT_TYPES);

/** A whole, ordered chain from a beginning to at most one end. */
export function checkEvents({ row, events }: Pick<RunRecord, 'row' | 'events'>, expect: Expect): void {
  const seen = new Map<string, number>();
  for (const { event_id, seq } of events.toReversed()) seen.set(event_id, seq);
  for (const [at, { seq, run_id, event_id, type, causal_parent_event_id }] of events.entries()) {
    const where = `event ${seq}`;
    const before = events[at - 1]?.seq ?? 0;
    const cause = causal_parent_event_id === null ? 0 : seen.get(causal_parent_event_id);
    expect(seq === before + 1, 'seq-gap', where, `It follows event ${before}, ${before + 1} is expected.`);
    expect(run_id === row.run_id, 'event-of-other-run', where, `It names the run ${run_id}.`);
    expect(event_id === eventId(row.run_id, seq), 'event-id', where, `Its id is ${event_id}.`);
    expect(TYPES.has(type), 'event-type-unknown', where, `There is no event ${type}.`);
    expect(cause !== undefined, 'causal-parent-missing', where, `There is no event ${causal_parent_event_id}.`);
    expect((cause ?? 0) < seq, 'causal-parent-late', where, 'Its cause does not come before it.');
  }
  const ended = row.ended_at !== null;
  const isBegun = events.length === 0 ? !ended : events[0]?.type === 'rlm.run.started';
  expect(isBegun, 'start-missing', 'event 1', 'A run begins with rlm.run.started.');
  const finish = events.findIndex(({ type }) => type === 'rlm.run.finished');
  expect(!ended || finish >= 0, 'finish-missing', 'the last event', 'The run has ended without rlm.run.finished.');
  const late = finish < 0 ? undefined : events[finish + 1];
  expect(late === undefined, 'event-after-finish', `event ${late?.seq}`, 'rlm.run.finished is the last event.');
  const told = events[0]?.data.request_hash ?? null;
  const isAsked = told === null || told === jsonHash(row.request);
  expect(isAsked, 'request-hash', 'event 1', 'The request is not the one that the run began with.');
}

interface CallsOf {
  readonly run_id: string;
  /** May the call above this one never have been asked? A parent is asked after its children. */
  readonly unasked?: (call: CallRecord) => boolean;
}

/** Ids, parents and hashes. */
export function checkCalls(calls: readonly CallRecord[], { run_id, unasked }: CallsOf, expect: Expect): void {
  const byId = new Map(calls.map((call) => [call.call_id, call]));
  const seen = new Set<string>();
  for (const call of calls) {
    const { call_id, trace_id, generation_id } = call;
    const where = `call ${call_id}`;
    const isTwice = seen.has(`id ${call_id}`) || seen.has(`trace ${trace_id}`);
    seen.add(`id ${call_id}`).add(`trace ${trace_id}`);
    expect(!isTwice, 'call-twice', where, 'Its id or its trace id was used before.');
    expect(generation_id === run_id, 'call-of-other-run', where, `It names the run ${generation_id}.`);
    checkEnd(call, where, expect);
    checkParent(call, { parent: byId.get(call.parent_call_id ?? ''), isUnasked: unasked?.(call) ?? false }, expect);
  }
}

/** A hash that is null was never made. */
function checkEnd(call: CallRecord, where: string, expect: Expect): void {
  const { success, completion, adapter_error, prompt_hash, response_hash } = call;
  const hashed = (code: string, text: string | null, hash: string | null | undefined) => {
    const holds = (hash ?? null) === null || hash === (text === null ? null : textHash(text));
    expect(holds, code, where, 'Its text is not the one that was hashed.');
  };
  hashed('prompt-hash', call.prompt, prompt_hash);
  hashed('response-hash', completion, response_hash);
  hashed('system-prompt-hash', call.system_prompt ?? null, call.system_prompt_hash);
  const outcome = (holds: boolean, detail: string) => expect(holds, 'call-outcome', where, detail);
  outcome(!success || completion !== null, 'It succeeded without a completion.');
  outcome(success === (adapter_error === null), 'It succeeded and names an error, or failed and names none.');
  outcome(completion !== null || response_hash === null, 'It hashes a completion that it has not.');
  const isHashed = completion === null || response_hash !== null || prompt_hash === null;
  outcome(isHashed, 'Its prompt is hashed, its completion is not.');
  outcome(call.elapsed_ms >= 0, 'It took less than no time.');
}

interface Above {
  readonly parent: CallRecord | undefined;
  readonly isUnasked: boolean;
}

function checkParent(call: CallRecord, { parent, isUnasked }: Above, expect: Expect): void {
  const { call_id, parent_call_id, parent_trace_id, depth } = call;
  const where = `call ${call_id}`;
  if (parent_call_id === null) {
    expect(parent_trace_id === null, 'parent-trace', where, 'It names a trace and no call.');
    return;
  }
  const isThere = parent !== call && (parent !== undefined || isUnasked);
  const trace = parent?.trace_id ?? traceId(parent_call_id);
  expect(isThere, 'parent-call-missing', where, `There is no call ${parent_call_id} above it.`);
  expect(parent_trace_id === trace, 'parent-trace', where, `Its parent's trace is ${trace}.`);
  expect(depth > (parent?.depth ?? -1), 'call-depth', where, `Its depth is ${depth}, its parent's ${parent?.depth}.`);
}

/** Of a run that was cut, all; else those whose node, as the outcome's tree tells, was never asked. */
function unaskedParents({ row, calls }: RunRecord): (call: CallRecord) => boolean {
  if (row.ended_at === null) return () => true;
  const nodes = treeNodes(row.outcome) ?? {};
  const asked = new Set(calls.map(({ rlm_node_id }) => rlm_node_id));
  return ({ rlm_node_id }) => {
    const node = Object.hasOwn(nodes, rlm_node_id) ? nodes[rlm_node_id] : undefined;
    return isJsonObject(node) && typeof node.parent_id === 'string' && !asked.has(node.parent_id);
  };
}

function treeNodes(outcome: JsonObject | null): JsonObject | undefined {
  const tree = outcome?.tree;
  return isJsonObject(tree) && isJsonObject(tree.nodes) ? tree.nodes : undefined;
}

/** Started, then completed, with the same success, reply and children. Of a run that was cut, the last calls may lack what the cut took. */
export function checkLifecycle(
  { row, events, calls }: Pick<RunRecord, 'row' | 'events' | 'calls'>,
  expect: Expect,
): void {
  const records = new Map(calls.map((call) => [call.call_id, call]));
  const told = (type: RunEventType) =>
    Map.groupBy(
      events.filter((event) => event.type === type),
      ({ data }) => String(data.call_id),
    );
  const [started, completed] = [told('rlm.hermes.call.started'), told('rlm.hermes.call.completed')];
  for (const id of new Set([...started.keys(), ...completed.keys(), ...records.keys()])) {
    const where = `call ${id}`;
    const record = records.get(id);
    const [first, more] = started.get(id) ?? [];
    const [last, again] = completed.get(id) ?? [];
    // What was under way when a run was stopped has a record and no end.
    const isCut = row.state === 'running' && last === undefined;
    const isOrdered = first === undefined ? isCut : last === undefined || last.seq > first.seq;
    const isOnce = more === undefined && again === undefined;
    const isEnded = last !== undefined || row.state !== 'completed';
    expect(isOrdered, 'call-not-started', where, 'No event before its end says that it was started.');
    expect(isOnce, 'call-started-twice', where, 'It was started or completed more than once.');
    expect(isEnded, 'call-not-completed', where, 'No event says that it was completed.');
    expect(record !== undefined || isCut, 'call-without-record', where, 'Nothing is kept of what it asked.');
    checkAgreement([...(started.get(id) ?? []), ...(completed.get(id) ?? [])], record, expect);
  }
}

const TOLD = ['mode', 'success', 'prompt_hash', 'response_hash', 'depth', 'rlm_node_id', 'ac_node_id'] as const;

/** Whatever lists children of a call lists the same. */
function checkAgreement(events: readonly RunEvent[], record: CallRecord | undefined, expect: Expect): void {
  const lists = [...events.map(({ data }) => data.generated_child_ac_node_ids), record?.generated_child_ac_node_ids];
  const told = lists.filter((list) => Array.isArray(list) && list.length > 0).map((list) => JSON.stringify(list));
  const where = `call ${record?.call_id ?? String(events[0]?.data.call_id)}`;
  expect(new Set(told).size < 2, 'child-list-disagrees', where, 'Its records list different children.');
  for (const { seq, data, node_id } of record === undefined ? [] : events) {
    const detail = (field: string) => `Event ${seq} tells another ${field} than its record.`;
    for (const field of TOLD)
      expect(data[field] === undefined || data[field] === record?.[field], 'call-disagrees', where, detail(field));
    expect(node_id === null || node_id === record?.rlm_node_id, 'call-disagrees', where, detail('node'));
  }
}

function checkNodes({ row, events }: Pick<RunRecord, 'row' | 'events'>, expect: Expect): void {
  if (row.ended_at === null) return;
  const nodesOf = (type: RunEventType) =>
    events.flatMap((event) => (event.type === type && event.node_id !== null ? [event.node_id] : []));
  const ended = Map.groupBy(nodesOf('rlm.node.terminal'), (node) => node);
  const nodes = treeNodes(row.outcome);
  for (const node of new Set(nodesOf('rlm.node.scheduled')))
    expect(ended.has(node), 'node-not-terminal', `node ${node}`, 'It was scheduled and never ended.');
  for (const [node, ends] of ended) {
    expect(ends.length === 1, 'node-terminal-twice', `node ${node}`, 'It ended more than once.');
    const isKnown = nodes === undefined || Object.hasOwn(nodes, node);
    expect(isKnown, 'node-unknown', `node ${node}`, 'It ended, and the tree of the outcome has no such node.');
  }
}

const OUTCOME = 'the outcome';

function checkOutcome({ row, events, calls }: RunRecord, expect: Expect): void {
  const { outcome, ended_at, state, state_hash, run_id } = row;
  if (ended_at === null) {
    expect(state === 'running', 'state-unlikely', 'the row', `It has not ended, and is ${state}.`);
    return;
  }
  expect(outcome !== null, 'outcome-missing', OUTCOME, 'The run has ended without one.');
  if (outcome === null) return;
  expect(jsonHash(outcome) === state_hash, 'outcome-hash', OUTCOME, 'It is not the one that was hashed.');
  const { run_id: other = run_id, run_state = state } = outcome;
  expect(other === run_id, 'outcome-of-other-run', OUTCOME, `It names the run ${String(other)}.`);
  expect(run_state === state, 'outcome-state', OUTCOME, `The run is ${state}, its outcome ${String(run_state)}.`);
  // What the last event tells of the outcome is what it holds.
  const last = events.at(-1)?.data ?? {};
  for (const field of ['verdict', 'run_state', 'termination_reason', 'totals', 'question']) {
    const holds = last[field] === undefined || canonicalJson(last[field]) === canonicalJson(outcome[field]);
    expect(holds, 'outcome-state', OUTCOME, `The last event tells another ${field}.`);
  }
  for (const told of [last.state_hash, last.outcome_hash])
    expect(typeof told !== 'string' || told === state_hash, 'outcome-hash', OUTCOME, 'The last event names another.');
  checkTotals(outcome, calls, expect);
}

/** Money is added in another order than here: its last digits may differ. */
function checkTotals({ totals }: JsonObject, calls: readonly CallRecord[], expect: Expect): void {
  if (!isJsonObject(totals)) return;
  for (const [field, sum] of Object.entries(callTotals(calls))) {
    const told = totals[field];
    const isClose = typeof told === 'number' && field === 'cost' && Math.abs(told - (sum ?? 0)) <= 1e-9;
    const detail = `It tells ${String(told)} as ${field}, the calls together ${sum}.`;
    expect(told === undefined || told === sum || isClose, 'totals', OUTCOME, detail);
  }
}

/** Each claim names facts and says what they say, each quotation stands in its chunk, each fact comes from a call over that chunk. */
function checkClaims({ verdict, claims, evidence }: RunOutcome, record: RunRecord, expect: Expect): void {
  const isFounded = (verdict === 'accepted') === claims.length > 0;
  expect(isFounded, 'verdict-unfounded', 'the verdict', `It is ${verdict}, with ${claims.length} accepted claims.`);
  const isStrict = record.row.request.guard_mode !== 'v1';
  for (const [at, { text, fact_ids }] of claims.entries()) {
    const where = `claim ${at + 1}`;
    expect(fact_ids.length > 0, 'claim-without-evidence', where, 'It names no fact.');
    for (const id of fact_ids) {
      const facts = evidence.filter(({ fact_id }) => fact_id === id);
      expect(facts.length > 0, 'claim-without-evidence', where, `There is no evidence for ${id}.`);
      const isSaidBy = !isStrict || facts.length === 0 || facts.some((fact) => isSaid(text, fact));
      expect(isSaidBy, 'claim-not-said', where, `The evidence for ${id} does not say it.`);
    }
  }
  const chunks = keptChunks(record.row.request, record.textOf);
  const finders = new Map(chunks.map(({ chunk_id, text }) => [chunk_id, new WholeQuotes(text)]));
  const calls = new Map(record.calls.map((call) => [call.call_id, call]));
  for (const { fact_id, chunk_id, child_call_id, text, place } of evidence) {
    const where = `fact ${fact_id}`;
    const finder = finders.get(chunk_id);
    const call = calls.get(child_call_id);
    const isAnswered = call?.success === true && call.selected_chunk_ids.includes(chunk_id);
    expect(finder !== undefined, 'text-missing', where, `The text of ${chunk_id} is not kept.`);
    const isThere = finder === undefined || finder.find(text) !== undefined;
    expect(isThere, 'quote-not-in-chunk', where, `${chunk_id} does not say it.`);
    expect(isAnswered, 'evidence-call', where, `No answered call ${child_call_id} was over ${chunk_id}.`);
    expect(place === null || isWithin(place, chunk_id), 'evidence-call', where, `Its lines lie outside ${chunk_id}.`);
  }
}

/** A claim of several texts holds each of them. */
function isSaid(text: string, fact: FreshFact): boolean {
  const words = new EvidenceWords(fact.fact_id, fact.text);
  return words.says(text) || text.split('\n').every((line) => words.says(line));
}

function isWithin({ source_path, start_line, end_line }: SourcePlace, chunk_id: string): boolean {
  const lines = parseChunkId(chunk_id);
  return lines === null || (source_path === lines.path && start_line >= lines.start_line && end_line <= lines.end_line);
}

interface Answered {
  readonly calls: readonly CallRecord[];
  readonly handle: HandleCheck | undefined;
}

/** Each sentence that counts has what says so, each cited handle is there, and what `handle` says of each. */
function checkAnswer({ sentences, verdict, handles }: AskOutcome, { calls, handle }: Answered, expect: Expect): void {
  const known = new Set(['context', ...handles.map(({ id }) => id)]);
  const look = (id: string, where: string, needed: readonly string[]) => {
    const wrong = handle?.({ id }) ?? null;
    expect(wrong === null, 'handle-wrong', where, wrong ?? '');
    for (const one of needed)
      expect(known.has(one), 'handle-missing', where, `It rests on ${one}, which is not there.`);
  };
  const counting = sentences.filter(({ grade }) => grade !== 'not-supported');
  const told = `It is ${verdict}, with ${counting.length} sentences that are quoted, supported or computed.`;
  expect((verdict === 'answered') === counting.length > 0, 'verdict-unfounded', 'the verdict', told);
  for (const [at, one] of sentences.entries()) {
    const where = `sentence ${at + 1}`;
    expect(isFounded(one), 'claim-without-evidence', where, `It is ${one.grade}, and names nothing that says so.`);
    look(where, where, one.grade === 'supported' || one.grade === 'computed' ? one.handles : []);
  }
  // A sub-call that was an ask of its own has no record: the calls in it begin with its id.
  const callIds = new Set(calls.flatMap(({ call_id }) => [call_id, ...asksAbove(call_id)]));
  for (const one of handles) {
    const where = `handle ${one.id}`;
    look(one.id, where, basesOf(one));
    const isCalled = one.kind !== 'child' || callIds.has(one.call_id);
    expect(isCalled, 'evidence-call', where, 'There is no such call.');
    if (one.kind !== 'computed') continue;
    expect(one.code_hash === textHash(one.code), 'handle-hash', where, 'Its code is another now.');
    expect(one.output_hash === textHash(one.output), 'handle-hash', where, 'Its output is another now.');
  }
}

function isFounded({ grade, place, model, handles }: AskOutcome['sentences'][number]): boolean {
  if (grade === 'quoted') return place !== null;
  return grade === 'not-supported' || (handles.length > 0 && (grade !== 'supported' || model !== ''));
}

function asksAbove(call_id: string): readonly string[] {
  const parts = call_id.split('/');
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'));
}

/**
 * Looks at handles with the context: a quotation stands where its place says, code gives the same bytes again in the sandbox.
 * @throws TalariaError as the source and the sandbox
 */
export async function checkAskHandles(
  { handles, sentences }: Pick<AskOutcome, 'handles' | 'sentences'>,
  source: ContextSource,
  signal: AbortSignal,
): Promise<HandleCheck> {
  const { checkComputed } = await import('../repl/create-repl-session.ts');
  const byId = new Map(handles.map((handle) => [handle.id, handle]));
  const found = new Map<string, string | null>();
  for (const handle of handles) {
    if (handle.kind === 'computed')
      found.set(handle.id, (await checkComputed(handle, (id) => byId.get(id), { source, signal })).detail);
    // A span that goes on into the next file is placed in its first.
    const isQuote = (said: string, isEnd: boolean) =>
      handle.kind === 'span' && (said === handle.quote || (isEnd && handle.quote.startsWith(said)));
    if (handle.kind === 'span') found.set(handle.id, placeDetail(handle.place, source, isQuote));
  }
  for (const [at, { place, text }] of sentences.entries())
    if (place !== null)
      found.set(
        `sentence ${at + 1}`,
        placeDetail(place, source, (said) => oneLine(said) === text),
      );
  return ({ id }) => found.get(id) ?? null;
}

function placeDetail(
  { source_path, start_byte, end_byte }: SourcePlace,
  source: ContextSource,
  isSaid: (text: string, isEnd: boolean) => boolean,
): string | null {
  const file = source.files.find(({ path }) => path === source_path);
  if (file === undefined) return 'The context has no such file.';
  const { text } = source.slice(file.start_byte + start_byte, file.start_byte + end_byte);
  return isSaid(text, file.start_byte + end_byte === file.end_byte) ? null : 'Its place says something else.';
}
