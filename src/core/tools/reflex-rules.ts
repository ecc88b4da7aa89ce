// Owns the list of reflex rules for the tools of this room. Knows no order of matching: the ranking decides.
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import { countRule } from './reflex/count-rule.ts';
import { extractRule } from './reflex/extract-rule.ts';
import { findFilesRule } from './reflex/find-files-rule.ts';
import { findTextRule } from './reflex/find-text-rule.ts';
import { listRule } from './reflex/list-rule.ts';
import { readRule } from './reflex/read-rule.ts';
import { runRule } from './reflex/run-rule.ts';
import { saveRule } from './reflex/save-rule.ts';

export const toolRules: readonly ReflexRule[] = [
  runRule,
  listRule,
  readRule,
  findTextRule,
  findFilesRule,
  saveRule,
  extractRule,
  countRule,
];
