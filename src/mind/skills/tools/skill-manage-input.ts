// Owns what `skill_manage` is asked with, and reading it as one change (core notes 2.6). Shared by the tool that writes and by the one
// that proposes. Knows no door. Invariant: loose, so that more than is shown (evidence) may come along; what is missing is named.
import { z } from 'zod';
import { isJsonObject, type JsonValue } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { evidenceArgument } from '#mind/evidence/evidence-argument.ts';
import type { SkillChange, SkillFileEdit } from '../skill-door.ts';

export const SKILL_MANAGE_TOOL_NAME = 'skill_manage';

/** Model-facing; the same for the tool that proposes. Whom to ask before create and delete stands in the guidance of the prompt. */
export const SKILL_MANAGE_DESCRIPTION =
  'Save or improve a procedure. create, edit: whole SKILL.md with front matter name, description (max 60 chars). Prefer patch.';

const text = z.string().optional();

const fields = z.looseObject({
  action: z.enum(['create', 'patch', 'edit', 'delete', 'write_file', 'remove_file']),
  name: z.string().min(1),
  content: text,
  old_string: text,
  new_string: text,
  replace_all: z.boolean().optional(),
  category: text,
  file_path: z.string().describe('in references/, templates/, scripts/, assets/').optional(),
  file_content: text,
  absorbed_into: z.string().describe('on delete: the skill that took it over').optional(),
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

export interface AskedChange {
  readonly name: string;
  readonly change: SkillChange;
}

/** The change that was asked for, or what is missing to make it. */
export function readSkillChange(input: SkillManageInput): Result<AskedChange, 'incomplete'> {
  const change = readChange(input);
  return typeof change === 'string' ? refuse('incomplete', change) : ok({ name: input.name.trim(), change });
}

function readChange(input: SkillManageInput): SkillChange | string {
  const { action, content } = input;
  switch (action) {
    case 'create':
      if (content === undefined) return 'create needs content, the whole SKILL.md.';
      return { action, content, ...(input.category ? { category: input.category.trim() } : {}) };
    case 'edit':
      return readEdit(input);
    case 'patch':
      return readPatch(input);
    case 'delete':
      return { action, ...(input.absorbed_into ? { absorbedInto: input.absorbed_into.trim() } : {}) };
    case 'write_file':
    case 'remove_file':
      return readFileChange(input, action);
  }
}

/** Not shown to models: what a proposal of an edit with support files holds. */
const fileEdits = z.array(z.object({ path: z.string(), content: z.string().nullable() })).optional();

function readEdit({ content, files: given }: SkillManageInput): SkillChange | string {
  if (content === undefined) return 'edit needs content, the whole new SKILL.md.';
  const read = fileEdits.safeParse(given);
  if (!read.success) return 'files of an edit are a list of {path, content}; content null removes the file.';
  const files: readonly SkillFileEdit[] | undefined = read.data;
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
  return {
    action: 'patch',
    oldString,
    newString,
    ...(input.replace_all ? { replaceAll: true } : {}),
    ...(input.file_path ? { filePath: input.file_path } : {}),
  };
}
