// Every rule of the rooms that own tools, as the app registers them, and the tools that they may call.
import { helpRule } from '#core/reflex/help-rule.ts';
import { toolRules } from '#core/tools/reflex-rules.ts';
import { learningRules } from '#mind/learning/learning-rules.ts';
import { memoryRules } from '#mind/memory/memory-rules.ts';
import { recallRules } from '#mind/sessions/recall-rules.ts';

export const rules = [...toolRules, ...memoryRules, ...recallRules, ...learningRules];
export const allRules = [...rules, helpRule(rules)];
export const toolNames = [
  'terminal',
  'read_file',
  'write_file',
  'patch',
  'search_files',
  'memory',
  'session_search',
  'skills_list',
  'skill_view',
  'skill_manage',
] as const;
