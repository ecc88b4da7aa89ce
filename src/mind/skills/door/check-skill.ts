// Owns whether a change may be made at all, asked before it waits for anybody, so that who wants it can mend it at once; and whether the text
// of a skill may be written: its form, its name, the length of its description, no keys in it. Invariants: the door asks the same questions
// again; what was wrong before a small change does not forbid the change, and what we write new is right (core notes 2.6, 2.7).
import { basename, dirname } from 'node:path';
import { ok, type Result, refuse } from '#base/result.ts';
import { findSecrets } from '#base/secrets.ts';
import { parseSkill } from '../format/parse-skill.ts';
import { SKILL_FILE, skillLimits } from '../format/skill-text.ts';
import { validateSkillText } from '../format/validate-skill.ts';
import type { Skill, SkillChange, SkillReader, SkillRefusal } from '../skill.ts';
import { changeSkill, checkCategory, checkNoLinks, checkSkillName } from './change-skill.ts';
import { readSkillTree, type SkillTree, textOf } from './skill-tree.ts';

type Reader = Pick<SkillReader, 'get'>;

/** Gives the hash of the SKILL.md that the change was made for; absent for a new skill. */
export function checkSkillChange(
  reader: Reader,
  name: string,
  change: SkillChange,
): Result<{ readonly hash?: string }> {
  const planned = planChange(reader, name, change);
  if (!planned.ok) return planned;
  const { skill, toJudge } = planned.value;
  const judged = toJudge ? judgeSkill(toJudge) : ok(true);
  return judged.ok ? ok(skill ? { hash: skill.hash } : {}) : judged;
}

/** Without `toJudge` nothing is written. */
function planChange(
  reader: Reader,
  name: string,
  change: SkillChange,
): Result<{ readonly skill: Skill | undefined; readonly toJudge?: JudgedChange }> {
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

interface Judged {
  readonly ok: true;
  /** What other tools might find fault with; it is written all the same. */
  readonly warnings: readonly string[];
}

interface JudgedChange {
  readonly name: string;
  /** Last part of the skill's folder. */
  readonly folder: string;
  readonly action: SkillChange['action'];
  /** Files that differ. */
  readonly paths: readonly string[];
  readonly before: SkillTree | undefined;
  readonly after: SkillTree;
}

/** Rules of agentskills.io that we do not hold ourselves to: hermes-agent's own fields and names are in use everywhere. */
const SOFT: readonly string[] = ['unknown-field', 'name-characters', 'name-hyphens'];

export function judgeSkill(change: JudgedChange): Judged | SkillRefusal {
  const secret = judgeSecrets(change);
  if (secret) return secret;
  if (!change.paths.includes(SKILL_FILE)) return { ok: true, warnings: [] };
  const text = textOf(change.after.get(SKILL_FILE));
  if (text === undefined) return refuse('invalid-skill', 'SKILL.md is not UTF-8 text.');
  return judgeText(change, text);
}

/** What stands where a key was taken out: such a text is not what was meant. */
const TAKEN_OUT = /\[redacted:[\w-]{1,40}\]/;

/** Keys, and marks of keys that were taken out, which were not there before. */
function judgeSecrets(change: JudgedChange): SkillRefusal | undefined {
  for (const path of change.paths) {
    const refusal = judgeFile(change, path);
    if (refusal) return refusal;
  }
  return undefined;
}

function judgeFile({ before, after }: JudgedChange, path: string): SkillRefusal | undefined {
  const [old, text] = [textOf(before?.get(path)) ?? '', textOf(after.get(path)) ?? ''];
  const known = new Set(findSecrets(old).map(({ start, end }) => old.slice(start, end)));
  const secret = findSecrets(text).find(({ start, end }) => !known.has(text.slice(start, end)))?.kind;
  if (secret !== undefined)
    return refuse('secret', `${path} holds a key-shaped string (${secret}). Name an environment variable instead.`);
  const mark = TAKEN_OUT.exec(text)?.[0];
  if (mark === undefined || TAKEN_OUT.test(old)) return undefined;
  return refuse('secret', `A secret was taken out of ${path} (${mark}). Name an environment variable in its place.`);
}

function judgeText(change: JudgedChange, text: string): Judged | SkillRefusal {
  const { name, folder } = change;
  const old = change.action === 'patch' ? textOf(change.before?.get(SKILL_FILE)) : undefined;
  const known = old === undefined ? [] : validateSkillText(old, folder).map(({ rule }) => rule);
  const findings = validateSkillText(text, folder).filter(({ rule }) => !known.includes(rule));
  // A skill that was found under a name that is not its folder's keeps both.
  const soft = name === folder ? SOFT : [...SOFT, 'name-folder'];
  const hard = findings.find(({ rule }) => !soft.includes(rule));
  if (hard !== undefined)
    return refuse(
      hard.rule === 'description-too-long' ? 'description-too-long' : 'invalid-skill',
      `${hard.message} ${hard.fix}`,
    );
  const misnamed = checkName(change, text);
  return misnamed ?? { ok: true, warnings: findings.map(({ message, fix }) => `${message} ${fix}`) };
}

/** The name stays what it is called by; what the tool makes new has a description that the index shows whole. */
function checkName({ name, action, before }: JudgedChange, text: string): SkillRefusal | undefined {
  const parsed = parseSkill(text);
  if (!parsed.ok) return before && action === 'patch' ? undefined : refuse('invalid-skill', parsed.detail);
  const { name: written, description } = parsed.frontmatter;
  if (action !== 'patch' && String(written ?? '').trim() !== name)
    return refuse(
      'invalid-skill',
      `The front matter names ${JSON.stringify(written)}, not ${name}; make a new skill to rename one.`,
    );
  const size = [...String(description ?? '').trim()].length;
  if (action !== 'create' || size <= skillLimits.ownDescription) return undefined;
  return refuse(
    'description-too-long',
    `The description has ${size} characters; a new skill's has at most ${skillLimits.ownDescription}. Say in one short line what it does; the rest belongs into the body.`,
  );
}
