// Owns asking, before a change of a skill waits for anybody, whether it could be made at all: so that a review can mend it at once.
// Knows no ledger and writes nothing. Invariant: the door asks the same questions again.
import { basename } from 'node:path';
import { ok, type Result, refuse } from '#base/result.ts';
import { changeSkill } from '#mind/skills/door/change-skill.ts';
import { judgeSkill } from '#mind/skills/door/judge-skill.ts';
import { checkSkillName } from '#mind/skills/door/skill-paths.ts';
import { readSkillTree } from '#mind/skills/door/skill-tree.ts';
import type { Skill, SkillReader } from '#mind/skills/skill.ts';
import type { SkillChange } from '#mind/skills/skill-door.ts';

/** Gives the hash of the SKILL.md that the change was made for; absent for a new skill. */
export async function checkSkillChange(
  reader: Pick<SkillReader, 'get'>,
  name: string,
  change: SkillChange,
): Promise<Result<{ readonly hash?: string }>> {
  const skill = reader.get(name);
  const there = checkTarget(name, change, skill);
  if (!there.ok) return there;
  const tree = skill ? readSkillTree(skill.folder) : ok(undefined);
  if (!tree.ok) return tree;
  const changed = changeSkill(tree.value, change);
  if (!changed.ok) return changed;
  const { after, path } = changed;
  if (after === undefined || change.action === 'remove_file') return ok(hashOf(skill));
  const folder = skill ? basename(skill.folder) : name;
  const judged = await judgeSkill({ name, folder, action: change.action, path, before: tree.value, after });
  return judged.ok ? ok(hashOf(skill)) : judged;
}

function checkTarget(name: string, { action }: SkillChange, skill: Skill | undefined): Result<unknown> {
  if (action === 'create') {
    if (skill) return refuse('name-taken', `There is a skill ${name} already; patch it, or choose another name.`);
    return checkSkillName(name);
  }
  if (!skill) return refuse('target-not-found', `There is no skill ${name}; see skills_list.`);
  return skill.writable ? ok(true) : refuse('read-only', `${name} is read-only.`);
}

function hashOf(skill: Skill | undefined): { readonly hash?: string } {
  return skill ? { hash: skill.hash } : {};
}
