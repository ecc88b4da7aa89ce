// Owns the printed form of every result: keys sorted at every depth, two blanks a level, no character escaped without need. Pure.
import { canonicalJson, type JsonValue, parseJson } from '#base/json.ts';

export function dumpJson(value: unknown): string {
  const sorted = parseJson(canonicalJson(value as JsonValue));
  return JSON.stringify(sorted.ok ? sorted.value : null, null, 2);
}
