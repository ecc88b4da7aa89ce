// Owns the list of reflex rules for skills and recorded procedures (reflex 5). Knows no order of matching: the ranking decides.
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import { replayRule } from './reflex/replay-rules.ts';
import { amendRule, learnRule } from './reflex/teach-rules.ts';

export const learningRules: readonly ReflexRule[] = [replayRule, amendRule, learnRule];
