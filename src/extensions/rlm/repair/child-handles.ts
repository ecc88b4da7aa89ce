// Owns which chunks the children of this run reported for a fact. Knows no manifest: what a child says is only half of a handle.
// Invariant: total on any record. Seed 003, "from the child evidence manifest".
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { readClaims } from '../guard/read-claims.ts';
import { extractJson } from '../text/extract-json.ts';

/** Fact → chunks. A record carries what the child answered under `output` or `completion`, parsed or as text, or is the answer. */
export function childHandles(records: readonly unknown[]): ReadonlyMap<string, ReadonlySet<string>> {
  const handles = new Map<string, Set<string>>();
  for (const answer of records.flatMap(answersOf)) {
    for (const { claim } of readClaims(answer)) {
      if (claim.fact_id === null || claim.chunk_id === null) continue;
      const chunks = handles.get(claim.fact_id) ?? new Set();
      handles.set(claim.fact_id, chunks.add(claim.chunk_id));
    }
  }
  return handles;
}

/** Chunks for which there is a record: the record says so, or the answer in it speaks of them. */
export function chunksOfChildren(records: readonly unknown[]): ReadonlySet<string> {
  const spoken = [...childHandles(records).values()].flatMap((chunks) => [...chunks]);
  const named = records.flatMap((record) => {
    const chunk = isJsonObject(record) ? record.chunk_id : undefined;
    return typeof chunk === 'string' ? [chunk] : [];
  });
  return new Set([...named, ...spoken]);
}

/** Each answer also as the result of one: children list their facts at the top, or are one fact. */
function answersOf(record: unknown): readonly JsonObject[] {
  if (!isJsonObject(record)) return [];
  const answers = [record, ...[record.output, record.completion].flatMap(parsed)];
  return answers.flatMap((answer) => [answer, { result: answer }]);
}

function parsed(answer: unknown): readonly JsonObject[] {
  const read = typeof answer === 'string' ? extractJson(answer) : { ok: true as const, value: answer };
  return read.ok && isJsonObject(read.value) ? [read.value] : [];
}
