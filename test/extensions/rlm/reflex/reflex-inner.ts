// A prompt answered by its rule, and the rules as an inner call.
import { systemClock } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import { callByRule, reflexTasks } from '#extensions/rlm/reflex/reflex-tasks.ts';

export async function answerByRule(input: JsonObject): Promise<string> {
  const task = reflexTasks().find(({ schema }) => schema === input.schema_version);
  return task === undefined ? '' : (await task.load())(input);
}

export const reflexInner = callByRule(systemClock);
