// Owns asking, before a change of a skill waits for anybody or anybody is asked, whether it could be made at all: so that who wants it
// can mend it at once. Knows no ledger and writes nothing. Invariants: the door asks the same questions again; what the quick look
// refuses, the whole one refuses too.
import { basename, dirname } from 'node:path';
import { ok, type Refusal, type Result, refuse } from '#base/result.ts';
import { SKILL_FILE } from '../../format/skill-limits.ts';
import type { Skill, SkillReader } from '../../skill.ts';
import type { SkillChange } from '../../skill-door.ts';
import { changeSkill } from '../change-skill.ts';
import { type JudgedChange, judgeSecrets, judgeSkill } from '../judge-skill.ts';
import { checkCategory, checkNoLinks, checkSkillName } from '../skill-paths.ts';
import { readSkillTree, textOf } from '../skill-tree.ts';
import { quickHeaderRefusal } from './quick-header.ts';

type Reader = Pick<SkillReader, 'get'>;

/** Gives the hash of the SKILL.md that the change was made for; absent for a new skill. */
export async function checkSkillChange(
  reader: Reader,
  name: string,
  change: SkillChange,
): Promise<Result<{ readonly hash?: string }>> {
  const planned = planChange(reader, name, change);
  if (!planned.ok) return planned;
  const { skill, toJudge } = planned.value;
  const judged = toJudge ? await judgeSkill(toJudge) : ok(true);
  return judged.ok ? ok(skill ? { hash: skill.hash } : {}) : judged;
}

/** As much of `checkSkillChange` as takes no YAML reader, at once: why it cannot be made. */
export function quickRefusal(reader: Reader, name: string, change: SkillChange): Refusal | undefined {
  const planned = planChange(reader, name, change);
  if (!planned.ok) return planned;
  const { toJudge } = planned.value;
  return toJudge && (judgeSecrets(toJudge) ?? headerRefusal(toJudge));
}

/** What was wrong before a patch does not forbid it. */
function headerRefusal({ name, paths, action, after }: JudgedChange): Refusal | undefined {
  if (!paths.includes(SKILL_FILE) || (action !== 'create' && action !== 'edit')) return undefined;
  return quickHeaderRefusal(textOf(after.get(SKILL_FILE)) ?? '', name, action);
}

interface Planned {
  readonly skill: Skill | undefined;
  /** Absent: nothing is written. */
  readonly toJudge?: JudgedChange;
}

function planChange(reader: Reader, name: string, change: SkillChange): Result<Planned> {
  const skill = reader.get(name);
  const there = checkTarget(name, change, skill);
  if (!there.ok) return there;
  const tree = skill ? readSkillTree(skill.folder) : ok(undefined);
  if (!tree.ok) return tree;
  const changed = changeSkill(tree.value, change);
  if (!changed.ok) return changed;
  const { after, paths } = changed;
  const inside = skill ? checkNoLinks(dirname(skill.folder), skill.folder, paths) : ok(true);
  if (!inside.ok) return inside;
  if (after === undefined || change.action === 'remove_file') return ok({ skill });
  const folder = skill ? basename(skill.folder) : name;
  return ok({ skill, toJudge: { name, folder, action: change.action, paths, before: tree.value, after } });
}

function checkTarget(name: string, change: SkillChange, skill: Skill | undefined): Result<unknown> {
  if (change.action === 'create') {
    if (skill) return refuse('name-taken', `There is a skill ${name} already; patch it, or choose another name.`);
    const named = checkSkillName(name);
    return named.ok ? checkCategory(change.category ?? '') : named;
  }
  if (!skill)
    return refuse('target-not-found', `There is no skill ${JSON.stringify(name.slice(0, 80))}; see skills_list.`);
  return skill.writable ? ok(true) : refuse('read-only', `${name} is read-only.`);
}
