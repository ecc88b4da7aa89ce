// Owns whether the outcome of a run is the one that was hashed, and belongs to its row, its last event and its calls. Knows no claim. Pure.
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import type { CallRecord } from '../../call/call-record.ts';
import { CallTotals } from '../../run/loop/call-totals.ts';
import type { RunRecord } from '../run-record.ts';
import { jsonHash } from '../text-hash.ts';
import { type Problem, problem } from './problem.ts';

const WHERE = 'the outcome';

export function checkOutcome({ row, events, calls }: Pick<RunRecord, 'row' | 'events' | 'calls'>): readonly Problem[] {
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
