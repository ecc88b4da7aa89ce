// Owns the list of prompts that the model-free tier answers by rule. Each is loaded at its first prompt. Knows no prompt.
// Invariant: an answer quotes or counts what the prompt holds and invents no word. Seed 003; without a model recursion still runs.
import type { ReflexTask } from '#core/agent/reflex-task.ts';

export function reflexTasks(): readonly ReflexTask[] {
  return [
    { schema: 'rlm.hermes.input.v1', load: async () => (await import('./answer-prompts.ts')).answerHermes },
    {
      schema: 'rlm.vanilla_baseline.input.v1',
      load: async () => (await import('./answer-prompts.ts')).answerVanilla,
    },
    { schema: 'talaria.rlm.repl.v1', load: async () => (await import('./answer-root.ts')).answerRoot },
    { schema: 'talaria.rlm.sub.v1', load: async () => (await import('./answer-prompts.ts')).answerSub },
  ];
}
