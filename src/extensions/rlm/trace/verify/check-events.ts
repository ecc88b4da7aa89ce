// Owns whether the events of a run are a whole, ordered chain (notes 16, 22.8). Knows no call and no outcome. Pure.
import type { JsonObject, JsonValue } from '#base/json.ts';
import { RUN_EVENT_TYPES, type RunEvent } from '../run-event.ts';
import type { RunRecord } from '../run-record.ts';
import { eventId } from '../store/live-trace.ts';
import { jsonHash } from '../text-hash.ts';
import { type Problem, problem } from './problem.ts';

const TYPES: ReadonlySet<string> = new Set(RUN_EVENT_TYPES);

export function checkEvents({ row, events }: Pick<RunRecord, 'row' | 'events'>): readonly Problem[] {
  const seen = new Map<string, number>();
  for (const { event_id, seq } of events) if (!seen.has(event_id)) seen.set(event_id, seq);
  return [
    ...checkOrder(events),
    ...events.flatMap((event) => checkEvent(event, row.run_id)),
    ...events.flatMap((event) => checkCause(event, seen)),
    ...checkEnds(events, row.ended_at !== null),
    ...checkRequest(events[0]?.data.request_hash, row.request),
  ];
}

function checkOrder(events: readonly RunEvent[]): readonly Problem[] {
  const problems: Problem[] = [];
  let before = 0;
  for (const { seq } of events) {
    if (seq !== before + 1)
      problems.push(problem('seq-gap', `event ${seq}`, `It follows event ${before}, ${before + 1} is expected.`));
    before = seq;
  }
  return problems;
}

function checkEvent({ run_id, seq, event_id, type }: RunEvent, run: string): readonly Problem[] {
  const where = `event ${seq}`;
  return [
    ...(run_id === run ? [] : [problem('event-of-other-run', where, `It names the run ${run_id}.`)]),
    ...(event_id === eventId(run, seq) ? [] : [problem('event-id', where, `Its id is ${event_id}.`)]),
    ...(TYPES.has(type) ? [] : [problem('event-type-unknown', where, `There is no event ${type}.`)]),
  ];
}

function checkCause({ seq, causal_parent_event_id: cause }: RunEvent, seen: ReadonlyMap<string, number>) {
  if (cause === null) return [];
  const at = seen.get(cause);
  if (at === undefined) return [problem('causal-parent-missing', `event ${seq}`, `There is no event ${cause}.`)];
  return at < seq ? [] : [problem('causal-parent-late', `event ${seq}`, `Its cause ${cause} does not come before it.`)];
}

function checkEnds(events: readonly RunEvent[], ended: boolean): readonly Problem[] {
  const problems: Problem[] = [];
  const first = events[0];
  if (first?.type !== 'rlm.run.started' && (first !== undefined || ended))
    problems.push(problem('start-missing', 'event 1', 'A run begins with rlm.run.started.'));
  const finish = events.findIndex(({ type }) => type === 'rlm.run.finished');
  if (ended && finish === -1)
    problems.push(problem('finish-missing', 'the last event', 'The run has ended without rlm.run.finished.'));
  if (finish !== -1 && finish < events.length - 1)
    problems.push(
      problem('event-after-finish', `event ${events[finish + 1]?.seq}`, 'rlm.run.finished is the last event.'),
    );
  return problems;
}

function checkRequest(told: JsonValue | undefined, request: JsonObject): readonly Problem[] {
  if (told === undefined || told === jsonHash(request)) return [];
  return [problem('request-hash', 'event 1', 'The request is not the one that the run began with.')];
}
