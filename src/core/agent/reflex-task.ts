// Owns ReflexTask: how the model-free tier answers a task that is data and no person's line, such as one call of a recursion.
// Knows no task. Invariant: an answer only quotes or counts what the task holds; it calls no tool, so that nothing can be done by it.
import type { JsonObject } from '#base/json.ts';

export interface ReflexTask {
  /** `schema_version` of the JSON objects that it answers; unique. */
  readonly schema: string;
  /** Loads what answers; asked for at the first such request. The answer is total: it never throws. */
  readonly load: () => Promise<(input: JsonObject) => string>;
}
