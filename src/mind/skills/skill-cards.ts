// Owns what a request says of the skill tools, whose work is loaded when they are called, and `skill_manage`'s arguments as one change and back,
// which is how a proposal keeps it (core notes 2.6). Invariant: loose, so that more than is shown (evidence) may come along.
import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { ToolCard } from '#core/agent/tool.ts';
import { evidenceArgument } from '#mind/evidence/citations.ts';
import type { ProposalDraft } from '#mind/evidence/proposal.ts';
import type { SkillChange, SkillWrite } from './skill.ts';

const text = z.string().optional();

const fields = z.looseObject({
  action: z.enum(['create', 'patch', 'edit', 'delete', 'write_file', 'remove_file']),
  name: z.string().min(1),
  content: text,
  old_string: text,
  new_string: text,
  replace_all: z.boolean().optional().meta({ hidden: true }),
  category: text,
  file_path: z.string().describe('in references/, templates/, scripts/, assets/').optional(),
  file_content: text,
  absorbed_into: z.string().optional().meta({ hidden: true }),
  evidence: evidenceArgument,
});

export type SkillManageInput = z.infer<typeof fields>;

/** Models send null for what they leave out. */
export const skillManageInput = z.preprocess(
  (value) => (isJsonObject(value) ? withoutNulls(value) : value),
  fields,
) as unknown as z.ZodType<SkillManageInput>;

function withoutNulls(value: { readonly [key: string]: JsonValue | undefined }) {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null));
}

/** The same for the tool that proposes. Whom to ask before create and delete stands in the guidance of the prompt. */
export const skillManageCard: ToolCard<SkillManageInput> = {
  name: 'skill_manage',
  description:
    'Save or improve a procedure. create, edit: whole SKILL.md with front matter name, description (max 60 chars). Prefer patch.',
  input: skillManageInput,
  toolset: 'skills',
  effect: 'write',
};

const listInput = z.object({ category: z.string().optional() });

export const skillsListCard: ToolCard<z.infer<typeof listInput>> = {
  ...{ name: 'skills_list', description: 'List skills (name, description).', input: listInput },
  ...{ toolset: 'skills', effect: 'read' },
};

const viewInput = z.object({ name: z.string(), file_path: z.string().optional() });

export const skillViewCard: ToolCard<z.infer<typeof viewInput>> = {
  ...{ name: 'skill_view', description: 'Read a skill or one of its files.', input: viewInput },
  ...{ toolset: 'skills', effect: 'read' },
};

export interface AskedChange {
  readonly name: string;
  readonly change: SkillChange;
}

/** The change that was asked for, or what is missing to make it. */
export function readSkillChange(input: SkillManageInput): Result<AskedChange, 'incomplete'> {
  const change = readChange(input);
  return typeof change === 'string' ? refuse('incomplete', change) : ok({ name: input.name.trim(), change });
}

/** Not shown to models: what a proposal of an edit with support files holds. */
const fileEdits = z.array(z.object({ path: z.string(), content: z.string().nullable() })).optional();

function readChange(input: SkillManageInput): SkillChange | string {
  const { action, content } = input;
  switch (action) {
    case 'create':
      if (content === undefined) return 'create needs content, the whole SKILL.md.';
      return { action, content, ...(input.category ? { category: input.category.trim() } : {}) };
    case 'edit':
      return content === undefined ? 'edit needs content, the whole new SKILL.md.' : readEdit(content, input.files);
    case 'patch':
      return readPatch(input);
    case 'delete':
      return { action, ...(input.absorbed_into ? { absorbedInto: input.absorbed_into.trim() } : {}) };
    case 'write_file':
    case 'remove_file':
      return readFileChange(input, action);
  }
}

function readEdit(content: string, given: unknown): SkillChange | string {
  const { success, data: files } = fileEdits.safeParse(given);
  if (!success) return 'files of an edit are a list of {path, content}; content null removes the file.';
  return { action: 'edit', content, ...(files ? { files } : {}) };
}

function readFileChange(
  { file_path: filePath, file_content: content }: SkillManageInput,
  action: 'write_file' | 'remove_file',
): SkillChange | string {
  if (filePath === undefined) return `${action} needs file_path.`;
  if (action === 'remove_file') return { action, filePath };
  return content === undefined ? 'write_file needs file_content.' : { action, filePath, content };
}

function readPatch({ old_string: oldString, new_string: newString, ...input }: SkillManageInput): SkillChange | string {
  if (oldString === undefined || newString === undefined) return 'patch needs old_string and new_string.';
  const replaceAll = input.replace_all ? { replaceAll: true } : {};
  return {
    action: 'patch',
    oldString,
    newString,
    ...replaceAll,
    ...(input.file_path ? { filePath: input.file_path } : {}),
  };
}

const ARGUMENTS: Readonly<Record<string, string>> = {
  ...{ oldString: 'old_string', newString: 'new_string', replaceAll: 'replace_all' },
  ...{ filePath: 'file_path', absorbedInto: 'absorbed_into' },
};

/** As the tool's arguments: enough to make the change later. */
export function argumentsOf(change: SkillChange): JsonObject {
  const given = Object.entries(change).filter(([, value]) => value !== undefined && value !== false);
  const nameOf = (key: string) =>
    key === 'content' && change.action === 'write_file' ? 'file_content' : (ARGUMENTS[key] ?? key);
  return Object.fromEntries(given.map(([key, value]) => [nameOf(key), value])) as JsonObject;
}

export function skillDraft({ name, change, actor, expectedHash, sessionId, citations }: SkillWrite): ProposalDraft {
  return {
    kind: 'skill',
    actor,
    target: name,
    action: change.action,
    change: { name, ...argumentsOf(change), ...(expectedHash ? { expected_hash: expectedHash } : {}) },
    citations: citations ?? [],
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}
