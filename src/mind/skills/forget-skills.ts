// Owns taking a text out of skills, through their one door. Invariant: what the door refuses stays.
import type { Forgets, Forgot } from '#core/agent/room.ts';
import { readSkillTree, textOf } from './door/skill-tree.ts';
import { SKILL_FILE } from './format/skill-text.ts';
import type { Skill, SkillDoor, SkillReader } from './skill.ts';

/** Only where it is asked for everywhere: a skill is the owner's own. */
export async function forgetSkills(library: SkillLibrary, door: SkillDoor, what: Forgets): Promise<readonly Forgot[]> {
  if (!what.everywhere) return [];
  await library.refresh();
  const writable = library.list().filter((skill) => skill.writable);
  let count = 0;
  for (const skill of writable) if (await rewrite(door, skill, what)) count += 1;
  return [{ name: 'skills', count }];
}

interface SkillLibrary extends Pick<SkillReader, 'list'> {
  refresh(): Promise<unknown>;
}

async function rewrite(
  door: SkillDoor,
  { name, folder }: Skill,
  { holds, replace, signal }: Forgets,
): Promise<boolean> {
  const tree = readSkillTree(folder);
  let isChanged = false;
  for (const file of tree.ok ? (tree.value?.values() ?? []) : []) {
    const old = textOf(file);
    if (old === undefined || !replace || !holds?.(old)) continue;
    const content = replace(old);
    const change =
      file.path === SKILL_FILE
        ? ({ action: 'edit', content } as const)
        : ({ action: 'write_file', filePath: file.path, content } as const);
    const written = await door.write({ name, change, actor: 'owner', approved: true }, signal);
    isChanged ||= written.ok;
  }
  return isChanged;
}
