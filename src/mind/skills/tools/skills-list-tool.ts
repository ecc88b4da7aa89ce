// Owns the `skills_list` tool: names and descriptions of the skills that fit here, nothing of their bodies (core notes 2.6, seed 001
// ch 10). Knows no folder. Invariant: names are cut at 64 and descriptions at 1,024 characters.
import { z } from 'zod';
import { ellipsize } from '#base/text.ts';
import { type AnyTool, defineTool } from '#core/agent/tool.ts';
import { skillLimits } from '../format/skill-limits.ts';
import type { SkillConditions } from '../library/offered.ts';
import type { OpenLibrary } from '../library/skill-library.ts';
import type { SkillHeader } from '../skill.ts';

const SKILLS_LIST_TOOL_NAME = 'skills_list';

const DESCRIPTION = 'List skills (name, description).';

const input = z.object({ category: z.string().optional() });
type ListInput = z.infer<typeof input>;

export interface SkillsListOptions {
  readonly library: OpenLibrary;
  readonly conditions: () => SkillConditions;
}

export function createSkillsListTool({ library, conditions }: SkillsListOptions): AnyTool {
  return defineTool<ListInput>({
    name: SKILLS_LIST_TOOL_NAME,
    description: DESCRIPTION,
    input,
    toolset: 'skills',
    effect: 'read',
    summary: ({ category }) => (category ? `skills_list ${ellipsize(category, 60)}` : 'skills_list'),
    run: async ({ category }, _context, signal) => {
      await library.ready(signal);
      return { text: JSON.stringify(answer(library.offered(conditions()), category?.trim() ?? '')) };
    },
  });
}

function answer(offered: readonly SkillHeader[], category: string) {
  const found = category === '' ? offered : offered.filter((header) => isIn(header.category, category));
  const skills = found.map(({ name, description, category: place }) => ({
    name: ellipsize(name, skillLimits.name),
    description: ellipsize(description, skillLimits.description),
    category: place,
  }));
  const categories = [...new Set(offered.map((header) => header.category))].filter(Boolean).sort();
  return { success: true, skills, categories, count: skills.length, hint: hintFor(skills.length, category) };
}

function isIn(place: string, category: string): boolean {
  return place === category || place.startsWith(`${category}/`);
}

function hintFor(count: number, category: string): string {
  if (count > 0) return 'skill_view(name) shows a skill whole.';
  return category === '' ? 'There are no skills yet.' : 'No skill is in this category; leave it out to see all.';
}
