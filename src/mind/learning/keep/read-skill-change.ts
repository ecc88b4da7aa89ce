// Owns reading the arguments that a proposal keeps back into a change for the skill door. Knows no door.
// Invariant: the inverse of `argumentsOf`; what is missing is said in one sentence.
import type { JsonObject } from '#base/json.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { SkillChange } from '#mind/skills/skill-door.ts';

export function readSkillChange(change: JsonObject): Result<SkillChange, 'incomplete'> {
  const has = (...keys: readonly string[]) => keys.every((key) => typeof change[key] === 'string');
  const text = (key: string) => String(change[key] ?? '');
  switch (change.action) {
    case 'create':
      return has('content') ? ok(createOf(text('content'), text('category'))) : missing('content');
    case 'edit':
      return has('content') ? ok({ action: 'edit', content: text('content') }) : missing('content');
    case 'patch':
      return has('old_string', 'new_string') ? ok(patchOf(change)) : missing('old_string and new_string');
    case 'delete':
      return ok(deleteOf(text('absorbed_into')));
    case 'write_file':
      if (!has('file_path', 'file_content')) return missing('file_path and file_content');
      return ok({ action: 'write_file', filePath: text('file_path'), content: text('file_content') });
    case 'remove_file':
      return has('file_path') ? ok({ action: 'remove_file', filePath: text('file_path') }) : missing('file_path');
    default:
      return refuse('incomplete', 'action is missing: create, patch, edit, delete, write_file or remove_file.');
  }
}

function createOf(content: string, category: string): SkillChange {
  return { action: 'create', content, ...(category === '' ? {} : { category }) };
}

function deleteOf(into: string): SkillChange {
  return { action: 'delete', ...(into === '' ? {} : { absorbedInto: into }) };
}

function patchOf(change: JsonObject): SkillChange {
  const { old_string: oldString, new_string: newString, replace_all: all, file_path: path } = change;
  return {
    action: 'patch',
    oldString: String(oldString),
    newString: String(newString),
    ...(all === true ? { replaceAll: true } : {}),
    ...(typeof path === 'string' && path !== '' ? { filePath: path } : {}),
  };
}

function missing(what: string): Result<never, 'incomplete'> {
  return refuse('incomplete', `This action needs ${what}.`);
}
