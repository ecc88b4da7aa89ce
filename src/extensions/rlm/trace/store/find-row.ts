// Owns which run is meant by an id or the beginning of one. Pure. Invariant: a whole id is never ambiguous, an empty one names no run.
import { ok, type Result, refuse } from '#base/result.ts';
import type { RunRow } from '../run-row.ts';

/** `rows`: those whose id begins so, newest first. */
export function findRow(
  idOrPrefix: string,
  rows: readonly RunRow[],
): Result<RunRow, 'run-not-found' | 'run-ambiguous'> {
  const whole = rows.find(({ run_id }) => run_id === idOrPrefix);
  if (whole !== undefined) return ok(whole);
  const [first, second] = rows;
  if (first === undefined || idOrPrefix === '')
    return refuse('run-not-found', `No run has the id ${idOrPrefix === '' ? '""' : idOrPrefix}.`);
  if (second === undefined) return ok(first);
  const some = rows.slice(0, 4).map(({ run_id }) => run_id);
  const more = rows.length > some.length ? ', …' : '';
  return refuse('run-ambiguous', `${rows.length} runs begin with ${idOrPrefix}: ${some.join(', ')}${more}.`);
}
