// Owns whether events and records tell the same of each call (notes 16, link verifier): started, then completed, with the same success, reply
// and children. Of a run that was cut, the last calls may lack what the cut took. Pure.
import type { JsonValue } from '#base/json.ts';
import type { CallRecord } from '../../call/call-record.ts';
import type { RunEvent } from '../run-event.ts';
import type { RunRecord } from '../run-record.ts';
import type { RunRow } from '../run-row.ts';
import { type Problem, problem } from './problem.ts';

interface Life {
  readonly call_id: string;
  readonly record: CallRecord | undefined;
  readonly started: readonly RunEvent[];
  readonly completed: readonly RunEvent[];
}

export function checkLifecycle({
  row,
  events,
  calls,
}: Pick<RunRecord, 'row' | 'events' | 'calls'>): readonly Problem[] {
  return livesOf(events, calls).flatMap((life) => [...checkLife(life, row.state), ...checkAgreement(life)]);
}

function livesOf(events: readonly RunEvent[], calls: readonly CallRecord[]): readonly Life[] {
  const records = new Map(calls.map((call) => [call.call_id, call]));
  const started = byCall(events, 'rlm.hermes.call.started');
  const completed = byCall(events, 'rlm.hermes.call.completed');
  const ids = new Set([...started.keys(), ...completed.keys(), ...records.keys()]);
  return [...ids].map((call_id) => ({
    call_id,
    record: records.get(call_id),
    started: started.get(call_id) ?? [],
    completed: completed.get(call_id) ?? [],
  }));
}

function byCall(events: readonly RunEvent[], type: RunEvent['type']): ReadonlyMap<string, RunEvent[]> {
  const found = new Map<string, RunEvent[]>();
  for (const event of events) {
    if (event.type !== type) continue;
    const id = String(event.data.call_id);
    found.set(id, [...(found.get(id) ?? []), event]);
  }
  return found;
}

/** What was under way when a run was stopped has a record and no end. */
function checkLife({ call_id, record, started, completed }: Life, state: RunRow['state']): readonly Problem[] {
  const where = `call ${call_id}`;
  const [first] = started;
  const [last] = completed;
  const problems: Problem[] = [];
  if (first === undefined && (state !== 'running' || last !== undefined))
    problems.push(problem('call-not-started', where, 'No event says that it was started.'));
  if (started.length > 1 || completed.length > 1)
    problems.push(problem('call-started-twice', where, 'It was started or completed more than once.'));
  if (last === undefined && state === 'completed')
    problems.push(problem('call-not-completed', where, 'No event says that it was completed.'));
  if (first !== undefined && last !== undefined && last.seq < first.seq)
    problems.push(problem('call-not-started', where, 'It was completed before it was started.'));
  if (record === undefined && (state !== 'running' || last !== undefined))
    problems.push(problem('call-without-record', where, 'Nothing is kept of what was asked and answered.'));
  return problems;
}

const TOLD = ['mode', 'success', 'prompt_hash', 'response_hash', 'depth', 'rlm_node_id', 'ac_node_id'] as const;

function checkAgreement({ call_id, record, started, completed }: Life): readonly Problem[] {
  const where = `call ${call_id}`;
  const events = [...started, ...completed];
  const told = record === undefined ? [] : events.flatMap((event) => disagreements(event, record));
  const nodes =
    record === undefined ? [] : events.filter(({ node_id }) => node_id !== null && node_id !== record.rlm_node_id);
  return [
    ...told.map(([seq, field]) =>
      problem('call-disagrees', where, `Event ${seq} tells another ${field} than its record.`),
    ),
    ...nodes.map(({ seq }) => problem('call-disagrees', where, `Event ${seq} tells another node than its record.`)),
    ...checkChildren(where, events, record),
  ];
}

function disagreements({ seq, data }: RunEvent, record: CallRecord): readonly (readonly [number, string])[] {
  return TOLD.filter((field) => data[field] !== undefined && data[field] !== record[field]).map((field) => [
    seq,
    field,
  ]);
}

/** Every record of the life of a call that lists children lists the same. */
function checkChildren(where: string, events: readonly RunEvent[], record: CallRecord | undefined): readonly Problem[] {
  const lists: readonly (JsonValue | undefined)[] = [
    ...events.map(({ data }) => data.generated_child_ac_node_ids),
    record?.generated_child_ac_node_ids.length === 0 ? undefined : record?.generated_child_ac_node_ids,
  ];
  const told = new Set(
    lists.filter((list) => Array.isArray(list) && list.length > 0).map((list) => JSON.stringify(list)),
  );
  return told.size < 2 ? [] : [problem('child-list-disagrees', where, 'Its records list different children.')];
}
