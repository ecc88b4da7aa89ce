/** The model-free tier as an inner call, without a turn around it: the same answers, no agent to compose. */
import { isJsonObject, parseJson } from '#base/json.ts';
import { ok, refuse } from '#base/result.ts';
import type { InnerCall } from '#extensions/rlm/call/inner-call.ts';
import { reflexTasks } from '#extensions/rlm/reflex/reflex-tasks.ts';

export function reflexInner(family = 'reflex'): InnerCall {
  return {
    family,
    call: async ({ prompt }) => {
      const read = parseJson(prompt);
      const input = read.ok && isJsonObject(read.value) ? read.value : {};
      const task = reflexTasks().find(({ schema }) => schema === input.schema_version);
      if (task === undefined) return refuse('no_model', 'no such task');
      const completion = (await task.load())(input);
      const usage = { input_tokens: 0, output_tokens: 0 };
      return ok({ completion, model: 'reflex/1', usage, cost: 0, elapsed_ms: 1, exit_code: null });
    },
  };
}
