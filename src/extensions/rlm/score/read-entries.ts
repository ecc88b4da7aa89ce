// Owns where a completion may support a fact: five lists of the result, the result itself, the evidence references (notes 6.2 after 2.2).
// Does not know any fixture. Invariant: entries stand in that order; what is no object is no entry.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { chunkIdOf, FACT_LISTS, factIdsOf, surfacesOf, TEXT_FIELDS } from '../guard/read-claims.ts';

export interface Entry {
  readonly factIds: readonly string[];
  readonly chunkId: string | null;
  readonly text: string;
  /** Among the evidence references. */
  readonly isReference: boolean;
}

export function readEntries(completion: JsonObject): readonly Entry[] {
  return surfacesOf(completion).flatMap(({ name, value }) =>
    items(value)
      .filter(isJsonObject)
      .map((item) => ({ ...readEntry(item), isReference: name === 'evidence_references' })),
  );
}

/** The completion without those objects of the five lists that name a fact of `factIds`. */
export function withoutClaims(completion: JsonObject, factIds: ReadonlySet<string>): JsonObject {
  const { result } = completion;
  if (!isJsonObject(result)) return completion;
  const isKept = (item: JsonValue): boolean => !isJsonObject(item) || !factIdsOf(item).some((id) => factIds.has(id));
  const kept = FACT_LISTS.map((key) => [key, items(result[key]).filter(isKept)] as const);
  return { ...completion, result: { ...result, ...Object.fromEntries(kept) } };
}

function readEntry(item: JsonObject): Pick<Entry, 'factIds' | 'chunkId' | 'text'> {
  const texts = TEXT_FIELDS.map((key) => item[key]).filter((text) => typeof text === 'string' && text !== '');
  return { factIds: factIdsOf(item), chunkId: chunkIdOf(item), text: texts.join('\n') };
}

function items(value: JsonValue | undefined): readonly JsonValue[] {
  if (isJsonObject(value)) return [value];
  return Array.isArray(value) ? value : [];
}
