// Owns the verdict on a stored run: all that does not hold together, each with its code and place (notes 16, link verifier). Pure; it runs
// nothing again, replay does. Invariant: total on whatever a file holds; every problem is listed, not the first one.
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { CallRecord } from '../../call/call-record.ts';
import { readOutcome } from '../../page/read-outcome.ts';
import { CallTotals } from '../../run/loop/call-totals.ts';
import { namedTexts } from '../named-texts.ts';
import type { RunEvent } from '../run-event.ts';
import type { RunRecord } from '../run-record.ts';
import { jsonHash, textHash } from '../text-hash.ts';
import { checkCalls } from './check-calls.ts';
import { checkClaims } from './check-claims.ts';
import { checkEvents } from './check-events.ts';
import { checkHandles, type HandleCheck } from './check-handles.ts';
import { checkLifecycle } from './check-lifecycle.ts';
import { type Problem, problem } from './problem.ts';

export interface VerifyOptions {
  /** For handles of `rlm ask`; absent: what they say of the source and of code is not looked at. */
  readonly handle?: HandleCheck;
}

export function verifyRun(record: RunRecord, { handle }: VerifyOptions = {}): readonly Problem[] {
  const { row, calls } = record;
  return [
    ...checkEvents(record),
    ...checkCalls({ calls, run_id: row.run_id, unasked: unaskedParents(record) }),
    ...checkLifecycle(record),
    ...checkNodes(record),
    ...checkTexts(record),
    ...checkOutcome(record),
    ...checkFindings(record, handle),
  ];
}

function checkFindings(record: RunRecord, handle: HandleCheck | undefined): readonly Problem[] {
  const { row, calls } = record;
  if (row.outcome === null) return [];
  const read = readOutcome(row.outcome);
  if (read.kind === 'run') return checkClaims(read.outcome, record);
  if (read.kind === 'ask') return checkHandles(read.outcome, { calls, check: handle });
  return row.kind === 'vanilla'
    ? []
    : [problem('outcome-shape', 'the outcome', `It is none of a run of the kind ${row.kind}.`)];
}

/** Of a run that was cut, all; else those whose node, as the outcome's tree tells, was never asked. */
function unaskedParents({ row, calls }: RunRecord): (call: CallRecord) => boolean {
  if (row.ended_at === null) return () => true;
  const tree = row.outcome?.tree;
  const nodes = isJsonObject(tree) && isJsonObject(tree.nodes) ? tree.nodes : {};
  const asked = new Set(calls.map(({ rlm_node_id }) => rlm_node_id));
  return ({ rlm_node_id }) => {
    const node = Object.hasOwn(nodes, rlm_node_id) ? nodes[rlm_node_id] : undefined;
    return isJsonObject(node) && typeof node.parent_id === 'string' && !asked.has(node.parent_id);
  };
}

function checkNodes({ row, events }: Pick<RunRecord, 'row' | 'events'>): readonly Problem[] {
  if (row.ended_at === null) return [];
  const scheduled = new Set(nodesOf(events, 'rlm.node.scheduled'));
  const ends = nodesOf(events, 'rlm.node.terminal');
  const ended = new Set(ends);
  const twice = new Set(ends.filter((node, at) => ends.indexOf(node) !== at));
  return [
    ...[...scheduled]
      .filter((node) => !ended.has(node))
      .map((node) => problem('node-not-terminal', `node ${node}`, 'It was scheduled and never ended.')),
    ...[...twice].map((node) => problem('node-terminal-twice', `node ${node}`, 'It ended more than once.')),
    ...checkTree(row.outcome, ended),
  ];
}

function nodesOf(events: readonly RunEvent[], type: RunEvent['type']): readonly string[] {
  return events.flatMap((event) => (event.type === type && event.node_id !== null ? [event.node_id] : []));
}

function checkTree(outcome: JsonObject | null, ended: ReadonlySet<string>): readonly Problem[] {
  const tree = outcome?.tree;
  if (!isJsonObject(tree) || !isJsonObject(tree.nodes)) return [];
  const nodes = tree.nodes;
  return [...ended]
    .filter((node) => !Object.hasOwn(nodes, node))
    .map((node) => problem('node-unknown', `node ${node}`, 'It ended, and the tree of the outcome has no such node.'));
}

const WHERE = 'the outcome';

function checkOutcome({ row, events, calls }: Pick<RunRecord, 'row' | 'events' | 'calls'>): readonly Problem[] {
  const { outcome, ended_at, state, state_hash } = row;
  if (ended_at === null)
    return state === 'running' ? [] : [problem('state-unlikely', 'the row', `It has not ended, and is ${state}.`)];
  if (outcome === null) return [problem('outcome-missing', WHERE, 'The run has ended without one.')];
  const problems: Problem[] = [];
  if (jsonHash(outcome) !== state_hash)
    problems.push(problem('outcome-hash', WHERE, 'It is not the one that was hashed.'));
  if (outcome.run_id !== undefined && outcome.run_id !== row.run_id)
    problems.push(problem('outcome-of-other-run', WHERE, `It names the run ${String(outcome.run_id)}.`));
  if (outcome.run_state !== undefined && outcome.run_state !== state)
    problems.push(problem('outcome-state', WHERE, `The run is ${state}, its outcome ${String(outcome.run_state)}.`));
  return [
    ...problems,
    ...checkLastEvent(events.at(-1)?.data ?? {}, outcome, state_hash),
    ...checkTotals(outcome, calls),
  ];
}

const TOLD = ['verdict', 'run_state', 'termination_reason', 'totals', 'question'] as const;
const HASHES = ['state_hash', 'outcome_hash'] as const;

/** What the last event tells of the outcome is what it holds. */
function checkLastEvent(data: JsonObject, outcome: JsonObject, state_hash: string | null): readonly Problem[] {
  const other = TOLD.filter((field) => data[field] !== undefined && !isEqual(data[field], outcome[field]));
  const hashes = HASHES.filter((field) => typeof data[field] === 'string' && data[field] !== state_hash);
  return [
    ...other.map((field) => problem('outcome-state', WHERE, `The last event tells another ${field}.`)),
    ...hashes.map((field) => problem('outcome-hash', WHERE, `The last event names another ${field}.`)),
  ];
}

/** Money is added in another order than here: its last digits may differ. */
function checkTotals({ totals }: JsonObject, calls: readonly CallRecord[]): readonly Problem[] {
  if (!isJsonObject(totals)) return [];
  const counted = new CallTotals();
  for (const call of calls) counted.add(call);
  const { cost, ...sums } = counted.totals();
  const wrong = (field: string, sum: number | null) =>
    problem('totals', WHERE, `It tells ${String(totals[field])} as ${field}, the calls together ${sum}.`);
  const others = Object.entries(sums).filter(([field, sum]) => totals[field] !== undefined && totals[field] !== sum);
  const told = totals.cost;
  const isOther = typeof told === 'number' ? Math.abs(told - (cost ?? 0)) > 1e-9 : told === null && cost !== null;
  return [...others.map(([field, sum]) => wrong(field, sum)), ...(isOther ? [wrong('cost', cost)] : [])];
}

function isEqual(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

function checkTexts({ row, events, textOf }: Pick<RunRecord, 'row' | 'events' | 'textOf'>): readonly Problem[] {
  return [...namedTexts({ row, events })].flatMap(([hash, where]) => {
    const text = textOf(hash);
    if (text === undefined) return [problem('text-missing', where, `The text ${short(hash)} is not kept.`)];
    return textHash(text) === hash ? [] : [problem('text-hash', where, `The text ${short(hash)} is another now.`)];
  });
}

function short(hash: string): string {
  return hash.slice(0, 15);
}
