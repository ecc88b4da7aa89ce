// Owns reading a completion as a JSON object; fences are not stripped (notes 6.2). Invariant: nothing a model can write throws here, and
// what comes out is shallow enough to walk.
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';

const MAX_NESTING = 500;

export function readCompletion(completion: unknown): Result<JsonObject, 'not_json' | 'not_an_object' | 'too_deep'> {
  const parsed = typeof completion === 'string' ? parseJson(completion) : ok(completion);
  if (!parsed.ok) return refuse('not_json', 'completion is not valid JSON');
  if (!isJsonObject(parsed.value)) return refuse('not_an_object', 'completion is not a JSON object');
  if (isDeeper(parsed.value)) return refuse('too_deep', `completion is nested deeper than ${MAX_NESTING} levels`);
  return ok(parsed.value);
}

function isDeeper(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_NESTING) return true;
    level = level
      .filter((item) => typeof item === 'object' && item !== null)
      .flatMap((item) => Object.values(item as object));
  }
  return false;
}
