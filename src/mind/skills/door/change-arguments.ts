// Owns a skill change as the arguments of `skill_manage`: how a proposal keeps it. Its reader is tools/skill-manage-input.
import type { JsonObject } from '#base/json.ts';
import type { SkillWrite } from '../skill-door.ts';

/** As the tool's arguments: enough to make the change later. */
export function argumentsOf(change: SkillWrite['change']): JsonObject {
  switch (change.action) {
    case 'create':
      return { action: 'create', content: change.content, ...(change.category ? { category: change.category } : {}) };
    case 'edit':
      return {
        action: 'edit',
        content: change.content,
        ...(change.files ? { files: change.files.map(({ path, content }) => ({ path, content })) } : {}),
      };
    case 'patch':
      return {
        action: 'patch',
        old_string: change.oldString,
        new_string: change.newString,
        ...(change.replaceAll ? { replace_all: true } : {}),
        ...(change.filePath ? { file_path: change.filePath } : {}),
      };
    case 'delete':
      return { action: 'delete', ...(change.absorbedInto ? { absorbed_into: change.absorbedInto } : {}) };
    case 'write_file':
      return { action: 'write_file', file_path: change.filePath, file_content: change.content };
    case 'remove_file':
      return { action: 'remove_file', file_path: change.filePath };
  }
}
