// Owns what a recursive run says in the end, as the scorer reads it (notes 6.2): the parent's reply, and where the text was cut, which the
// controller knows and a parent may leave out. Pure. Invariant: nothing but the report of the boundary is added, and who reported is said.
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import type { EngineRun } from '../engine/run-fixture.ts';
import { parentCompletion } from './parent-completion.ts';

export interface RunMessage {
  /** Bare JSON, or the reply as it came; empty: there was none. */
  readonly text: string;
  readonly boundary_reported_by: 'parent' | 'controller' | null;
}

export function runMessage({ calls, outcome }: Pick<EngineRun, 'calls' | 'outcome'>): RunMessage {
  const completion = parentCompletion(calls) ?? '';
  const parsed = parseJson(completion);
  const reply = parsed.ok && isJsonObject(parsed.value) ? parsed.value : null;
  const result = reply === null || !isJsonObject(reply.result) ? null : reply.result;
  if (reply === null || result === null) return { text: completion, boundary_reported_by: null };
  if (isJsonObject(result.truncation_report)) return { text: completion, boundary_reported_by: 'parent' };
  const [boundary] = outcome.boundaries;
  if (boundary === undefined) return { text: completion, boundary_reported_by: null };
  const { last_retained_line, omitted_line_count } = boundary;
  const truncation_report = { last_retained_line, omitted_line_count };
  const whole: JsonObject = { ...reply, result: { ...result, truncation_report } };
  return { text: JSON.stringify(whole), boundary_reported_by: 'controller' };
}
