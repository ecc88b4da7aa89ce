// Owns which texts a run names: every `text_hash` and `text_hashes` of its request and events, with where it is named first. Pure.
import { isJsonObject, type JsonValue } from '#base/json.ts';
import type { RunRecord } from './run-record.ts';

/** Hash → `the request` or `event <seq>`. */
export function namedTexts({ row, events }: Pick<RunRecord, 'row' | 'events'>): ReadonlyMap<string, string> {
  const named = new Map<string, string>();
  collect(row.request, 'the request', named);
  for (const { seq, data } of events) collect(data, `event ${seq}`, named);
  return named;
}

function collect(value: JsonValue | undefined, where: string, named: Map<string, string>): void {
  const open: (JsonValue | undefined)[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (Array.isArray(next)) open.push(...next);
    if (!isJsonObject(next)) continue;
    const { text_hash, text_hashes } = next;
    for (const hash of [text_hash, text_hashes].flat())
      if (typeof hash === 'string' && !named.has(hash)) named.set(hash, where);
    open.push(...Object.values(next));
  }
}
