// Owns the list of prompts that the model-free tier answers by rule, each loaded at its first prompt, and those answers as an inner call that
// asks nobody. Knows no prompt. Invariant: an answer quotes or counts what the prompt holds and invents no word. Seed 003; without a model
// recursion still runs.
import type { Clock } from '#base/clock.ts';
import { parseJsonObject } from '#base/json.ts';
import { ok, refuse } from '#base/result.ts';
import type { ReflexTask } from '#core/agent/reflex-rule.ts';
import type { InnerCall } from './call/inner-call.ts';

const rules = () => import('./answer-by-rule.ts');

export const REFLEX_TASKS: readonly ReflexTask[] = [
  { schema: 'rlm.hermes.input.v1', load: async () => (await rules()).answerHermes },
  { schema: 'rlm.vanilla_baseline.input.v1', load: async () => (await rules()).answerVanilla },
  { schema: 'talaria.rlm.repl.v1', load: async () => (await rules()).answerRoot },
  { schema: 'talaria.rlm.sub.v1', load: async () => (await rules()).answerSub },
];

/** Whatever keys the person has, no model is asked. */
export function callByRule(clock: Clock, family = 'default'): InnerCall {
  const free = { model: 'reflex/1', usage: { input_tokens: 0, output_tokens: 0 }, cost: 0, exit_code: null };
  return {
    family,
    call: async ({ prompt }, signal) => {
      if (signal.aborted) return refuse('cancelled', 'the call was stopped on request');
      const from = clock.monotonic();
      const input = parseJsonObject(prompt);
      const task = REFLEX_TASKS.find(({ schema }) => input.ok && schema === input.value.schema_version);
      if (!input.ok || task === undefined) return refuse('no_model', 'no rule answers such a prompt');
      const completion = (await task.load())(input.value);
      return ok({ ...free, completion, elapsed_ms: Math.round(clock.monotonic() - from) });
    },
  };
}
