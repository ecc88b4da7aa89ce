// Owns the list of reflex rules for the tools of this room. Knows no order of matching: the ranking decides.
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import { listRule, readRule } from './reflex/file-rules.ts';
import { runRule, scriptRule } from './reflex/run-rules.ts';
import { findFilesRule, findTextRule } from './reflex/search-rules.ts';
import { todoRule } from './reflex/todo-rule.ts';

export const toolRules: readonly ReflexRule[] = [
  runRule,
  scriptRule,
  listRule,
  readRule,
  findFilesRule,
  findTextRule,
  todoRule,
];
