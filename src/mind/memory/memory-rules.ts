// Owns the list of reflex rules for memory: remember, forget, know, why, undo (reflex 3).
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import { knowRule, whyRule } from './reflex/ask-rules.ts';
import { forgetRule, rememberRule, undoRule } from './reflex/write-rules.ts';

export const memoryRules: readonly ReflexRule[] = [rememberRule, forgetRule, knowRule, whyRule, undoRule];
