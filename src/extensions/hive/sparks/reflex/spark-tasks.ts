// Owns the list of peer questions that the model-free tier answers by rule. Each is loaded at its first question. Knows no rule.
// Invariant: an answer has the JSON shape that a model is asked for, and quotes what the question holds. Issue; notes on seed 004.
import type { ReflexTask } from '#core/agent/reflex-task.ts';
import { PAIR_SCHEMA } from '../pairs/pair-shape.ts';
import { SUMMARY_SCHEMA } from '../summary/summary-shape.ts';

export function sparkTasks(): readonly ReflexTask[] {
  return [
    { schema: SUMMARY_SCHEMA, load: async () => (await import('./answer-summary.ts')).answerSummary },
    { schema: PAIR_SCHEMA, load: async () => (await import('./answer-pair.ts')).answerPair },
  ];
}
