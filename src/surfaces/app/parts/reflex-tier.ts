// Owns what the model-free tier is made of: the rules of every room, and the client that matches them. Loaded only when it answers.
// Knows no conversation. Invariant: the rooms' rules come first, in one fixed order, those of extensions after them.
import type { Clock } from '#base/clock.ts';
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import type { ReflexTask } from '#core/agent/reflex-task.ts';
import type { ModelClient } from '#core/model/model-client.ts';
import { createReflexClient } from '#core/reflex/reflex-client.ts';
import { toolRules } from '#core/tools/reflex-rules.ts';
import { learningRules } from '#mind/learning/learning-rules.ts';
import { memoryRules } from '#mind/memory/memory-rules.ts';
import { recallRules } from '#mind/sessions/recall-rules.ts';

export interface ReflexTier {
  readonly client: ModelClient;
  readonly rules: readonly ReflexRule[];
}

/** What extensions have added. */
export interface ReflexExtras {
  readonly rules: readonly ReflexRule[];
  readonly tasks: readonly ReflexTask[];
}

export function createReflexTier(extra: ReflexExtras, clock: Clock): ReflexTier {
  const rules = [...toolRules, ...memoryRules, ...recallRules, ...learningRules, ...extra.rules];
  return { client: createReflexClient(rules, { clock, tasks: extra.tasks }), rules };
}
