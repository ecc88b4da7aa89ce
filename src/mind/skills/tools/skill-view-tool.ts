// Owns the `skill_view` tool: one skill whole, or one file of its folder (core notes 2.6 and 2.7, seed 001 ch 10). Knows no folder; the
// library reads. Invariants: nothing outside the skill's folder is shown; what the skill needs and lacks is said by name, never by value.
import { basename } from 'node:path';
import { z } from 'zod';
import type { JsonObject } from '#base/json.ts';
import { ellipsize } from '#base/text.ts';
import { type AnyTool, defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import { platformName } from '../format/read-header.ts';
import { SKILL_FILE } from '../format/skill-limits.ts';
import type { LinkedFiles } from '../library/folder-files.ts';
import type { SkillConditions } from '../library/offered.ts';
import type { OpenLibrary } from '../library/skill-library.ts';
import type { Skill } from '../skill.ts';
import { type Surroundings, skillSetup } from './skill-setup.ts';

const SKILL_VIEW_TOOL_NAME = 'skill_view';

const DESCRIPTION = 'Read a skill or one of its files.';

const NEAREST = 10;

const input = z.object({ name: z.string(), file_path: z.string().optional() });
type ViewInput = z.infer<typeof input>;

export interface SkillViewOptions extends Surroundings {
  readonly library: OpenLibrary;
  readonly conditions: () => SkillConditions;
}

export function createSkillViewTool(options: SkillViewOptions): AnyTool {
  return defineTool<ViewInput>({
    name: SKILL_VIEW_TOOL_NAME,
    description: DESCRIPTION,
    input,
    toolset: 'skills',
    effect: 'read',
    summary: ({ name, file_path: path }) => `skill_view ${ellipsize(name, 64)}${path ? ` ${ellipsize(path, 60)}` : ''}`,
    run: async ({ name, file_path: path }, context, signal) => {
      const { library } = options;
      await library.ready(signal);
      const skill = library.get(name.trim());
      if (!skill) return noSuchSkill(library, options.conditions(), name);
      if (isForeignPlatform(skill, options.conditions())) return unsupported(skill);
      if (skill.text === '') return unreadable(skill);
      return path ? viewFile(library, skill, path) : viewSkill(options, skill, context);
    },
  });
}

async function viewSkill(options: SkillViewOptions, skill: Skill, context: ToolContext): Promise<ToolOutput> {
  const { parseSkill } = await import('../format/parse-skill.ts');
  const { relatedSkills } = await import('../format/read-header.ts');
  const parsed = parseSkill(skill.text);
  const frontmatter = parsed.ok ? parsed.frontmatter : {};
  const linked = options.library.linkedFiles(skill.name);
  const [example] = Object.values(linked ?? {}).flat();
  return json({
    success: true,
    name: skill.name,
    description: skill.description,
    tags: skill.tags,
    related_skills: relatedSkills(frontmatter),
    content: fillVariables(skill.text, skill, context),
    path: [skill.category, basename(skill.folder), SKILL_FILE].filter(Boolean).join('/'),
    skill_dir: skill.folder,
    linked_files: linkedAnswer(linked),
    ...(example ? { usage_hint: `skill_view(name, file_path) shows a linked file, e.g. ${example}` } : {}),
    ...skillSetup(frontmatter, options),
    ...(frontmatter.metadata === undefined ? {} : { metadata: frontmatter.metadata }),
  });
}

/** Null when the skill has no supporting files. */
function linkedAnswer(linked: LinkedFiles | undefined): JsonObject | null {
  const filled = Object.entries(linked ?? {}).filter(([, files]) => files.length > 0);
  return filled.length === 0 ? null : Object.fromEntries(filled);
}

function fillVariables(text: string, { folder }: Skill, { sessionId }: ToolContext): string {
  return text.replace(/\$\{HERMES_(SKILL_DIR|SESSION_ID)\}/g, (_all, name) =>
    name === 'SKILL_DIR' ? folder : sessionId,
  );
}

function viewFile(library: OpenLibrary, skill: Skill, path: string): ToolOutput {
  const read = library.file(skill.name, path);
  if (read.ok) return json({ success: true, name: skill.name, file: path, content: read.value });
  return failure({
    error: read.detail,
    reason: read.reason,
    available_files: linkedAnswer(library.linkedFiles(skill.name)),
  });
}

function isForeignPlatform({ platforms }: Skill, { platform }: SkillConditions): boolean {
  return platforms.length > 0 && !platforms.includes(platformName(platform));
}

function unsupported({ name, platforms }: Skill): ToolOutput {
  const error = `The skill "${name}" is for ${platforms.join(', ')} only.`;
  return failure({ error, reason: 'unsupported-platform', readiness_status: 'unsupported' });
}

function unreadable({ name, folder }: Skill): ToolOutput {
  return failure({ error: `SKILL.md of "${name}" cannot be read as text now (${folder}).`, reason: 'not-text' });
}

function noSuchSkill(library: OpenLibrary, conditions: SkillConditions, name: string): ToolOutput {
  const wanted = name.toLowerCase();
  const names = library.offered(conditions).map((header) => header.name);
  const near = names.filter((other) => other.toLowerCase().includes(wanted) || wanted.includes(other.toLowerCase()));
  const shown = (near.length > 0 ? near : names).slice(0, NEAREST);
  const error = `There is no skill ${JSON.stringify(ellipsize(name, 64))}.`;
  return failure({ error, reason: 'no-such-skill', available_skills: shown, hint: 'skills_list names all.' });
}

function failure(answer: JsonObject): ToolOutput {
  return { ...json({ success: false, ...answer }), isError: true };
}

function json(value: JsonObject): ToolOutput {
  return { text: JSON.stringify(value) };
}
