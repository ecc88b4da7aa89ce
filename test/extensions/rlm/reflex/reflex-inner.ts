// An inner call that the rules answer: no model, no turn.
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { ok } from '#base/result.ts';
import type { InnerCall } from '#extensions/rlm/call/inner-call.ts';
import { reflexTasks } from '#extensions/rlm/reflex/reflex-tasks.ts';

export async function answerByRule(input: JsonObject): Promise<string> {
  const task = reflexTasks().find(({ schema }) => schema === input.schema_version);
  return task === undefined ? '' : (await task.load())(input);
}

export const reflexInner: InnerCall = {
  family: 'default',
  call: async ({ prompt }) => {
    const input = parseJsonObject(prompt);
    const completion = input.ok ? await answerByRule(input.value) : '';
    return ok({ completion, model: 'reflex/1', usage: null, cost: 0, elapsed_ms: 0, exit_code: null });
  },
};
