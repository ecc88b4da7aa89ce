// Owns the list of reflex rules for skills and recorded procedures (reflex 5). Knows no order of matching: the ranking decides.
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import { amendRule } from './reflex/rules/amend-rule.ts';
import { learnRule } from './reflex/rules/learn-rule.ts';
import { listSkillsRule } from './reflex/rules/list-skills-rule.ts';
import { repeatRule } from './reflex/rules/repeat-rule.ts';
import { replayRule } from './reflex/rules/replay-rule.ts';
import { showSkillRule } from './reflex/rules/show-skill-rule.ts';

export const learningRules: readonly ReflexRule[] = [
  replayRule,
  repeatRule,
  amendRule,
  learnRule,
  listSkillsRule,
  showSkillRule,
];
