// Owns the bound on how deep foreign JSON may be nested before it is written out for the machine: deeper than a few thousand levels nobody can
// write it out. Pure. Invariant: it takes no deeper calls itself than the bound.
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';

/** What honest devices send has fewer than ten. */
export const MAX_LEVELS = 64;

export function isDeep(value: JsonValue | undefined, levels = MAX_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const inner: readonly (JsonValue | undefined)[] = Array.isArray(value) ? value : Object.values(value);
  return inner.some((one) => isDeep(one, levels - 1));
}

/** An answer about keys, `{what: {user: {device: …}}}`, without the devices that are nested too deep. */
export function withoutDeep(answer: JsonObject): JsonObject {
  return isDeep(answer) ? part(answer, 3) : answer;
}

function part(value: JsonObject, levels: number): JsonObject {
  const kept = Object.entries(value).flatMap(([name, inner]): [string, JsonValue | undefined][] => {
    if (!isDeep(inner)) return [[name, inner]];
    return levels > 1 && isJsonObject(inner) ? [[name, part(inner, levels - 1)]] : [];
  });
  return Object.fromEntries(kept);
}
