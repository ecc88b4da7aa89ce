// A prompt answered by its rule, and the rules as an inner call.
import { systemClock } from '#base/clock.ts';
import { callByRule, REFLEX_TASKS } from '#extensions/rlm/reflex-tasks.ts';
import type { JsonObject } from '#public/talaria.ts';

export async function answerByRule(input: JsonObject): Promise<string> {
  const task = REFLEX_TASKS.find(({ schema }) => schema === input.schema_version);
  return task === undefined ? '' : (await task.load())(input);
}

export const reflexInner = callByRule(systemClock);
