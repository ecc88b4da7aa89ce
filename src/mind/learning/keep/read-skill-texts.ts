// Owns what a change makes of a SKILL.md, as the loader will read it: the gate asks for evidence of its fields. Writes nothing.
// Invariant: made by the same rules as at the door; absent when another file changes, something goes or it cannot be read.
import type { ChangeOptions } from '#mind/evidence/gate/changed-text.ts';
import { changeSkill } from '#mind/skills/door/change-skill.ts';
import { readSkillTree, type SkillTree, textOf } from '#mind/skills/door/skill-tree.ts';
import { SKILL_FILE } from '#mind/skills/format/skill-limits.ts';
import type { Skill } from '#mind/skills/skill.ts';
import type { SkillChange } from '#mind/skills/skill-door.ts';

export async function readSkillTexts(
  skill: Skill | undefined,
  change: SkillChange,
): Promise<Pick<ChangeOptions, 'skill'>> {
  const tree = skill === undefined ? undefined : readSkillTree(skill.folder);
  if (tree?.ok === false) return {};
  const changed = changeSkill(tree?.value, change);
  if (!changed.ok || changed.path !== SKILL_FILE || changed.after === undefined) return {};
  const { parseSkill } = await import('#mind/skills/format/parse-skill.ts');
  const read = (files: SkillTree | undefined) => {
    const parsed = parseSkill(textOf(files?.get(SKILL_FILE)) ?? '');
    return parsed.ok ? parsed : undefined;
  };
  const [before, after] = [read(tree?.value), read(changed.after)];
  return after === undefined ? {} : { skill: { after, ...(before === undefined ? {} : { before }) } };
}
