// Owns the list of reflex rules for memory: remember, forget, correct, know, why, undo (reflex 3).
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import { correctRule } from './reflex/correct-rule.ts';
import { forgetRule } from './reflex/forget-rule.ts';
import { knowRule } from './reflex/know-rule.ts';
import { rememberRule } from './reflex/remember-rule.ts';
import { undoRule } from './reflex/undo-rule.ts';
import { whyRule } from './reflex/why-rule.ts';

export const memoryRules: readonly ReflexRule[] = [rememberRule, forgetRule, correctRule, knowRule, whyRule, undoRule];
