// Every rule of the rooms that own tools, as the app registers them, the tools that they may call, and a folder to work in.
import type { ReflexFolder } from '#core/agent/reflex-rule.ts';
import { projectScripts } from '#core/reflex/folder.ts';
import { metaRules } from '#core/reflex/reflex-client.ts';
import { toolRules } from '#core/tools/reflex-rules.ts';
import { learningRules } from '#mind/learning/teach-rules.ts';
import { memoryRules } from '#mind/memory/memory-rules.ts';
import { recallRules } from '#mind/sessions/recall-rules.ts';

export const rules = [...toolRules, ...memoryRules, ...recallRules, ...learningRules];
export const allRules = [...rules, ...metaRules(rules)];
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
  'todo',
] as const;

const PACKAGE = '{"scripts":{"test":"node --test","build":"tsc","start":"node .","lint":"biome check"}}';
export const folder: ReflexFolder = {
  entries: ['.git/', 'README.md', 'a.txt', 'docs/', 'notes.txt', 'package.json', 'src/'],
  scripts: projectScripts('package.json', PACKAGE),
};
