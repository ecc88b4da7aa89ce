// Owns whether the text of a skill may be written: its form, its name, the length of its description, no keys in it. Loads the YAML
// reader when first asked. Knows no guard and no disk. Invariant: what was wrong before a small change does not forbid the change, and
// what we write new is right (core notes 2.6, 2.7).

import { refuse } from '#base/result.ts';
import { findSecrets } from '#base/secrets.ts';
import { SKILL_FILE, skillLimits } from '../format/skill-limits.ts';
import type { SkillChange, SkillRefusal } from '../skill-door.ts';
import { type SkillTree, textOf } from './skill-tree.ts';

export interface Judged {
  readonly ok: true;
  /** What other tools might find fault with; it is written all the same. */
  readonly warnings: readonly string[];
}

export interface JudgedChange {
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

export async function judgeSkill(change: JudgedChange): Promise<Judged | SkillRefusal> {
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
export function judgeSecrets(change: JudgedChange): SkillRefusal | undefined {
  for (const path of change.paths) {
    const refusal = judgeFile(change, path);
    if (refusal) return refusal;
  }
  return undefined;
}

function judgeFile({ before, after }: JudgedChange, path: string): SkillRefusal | undefined {
  const secret = newSecret({ before, after }, path);
  if (secret !== undefined)
    return refuse('secret', `${path} holds a key-shaped string (${secret}). Name an environment variable instead.`);
  const mark = TAKEN_OUT.exec(textOf(after.get(path)) ?? '')?.[0];
  if (mark === undefined || TAKEN_OUT.test(textOf(before?.get(path)) ?? '')) return undefined;
  return refuse('secret', `A secret was taken out of ${path} (${mark}). Name an environment variable in its place.`);
}

async function judgeText(change: JudgedChange, text: string): Promise<Judged | SkillRefusal> {
  const { validateSkillText } = await import('../format/validate-skill.ts');
  const known = change.action === 'patch' ? await rulesBroken(change) : [];
  const findings = validateSkillText(text, change.folder).filter(({ rule }) => !known.includes(rule));
  const hard = findings.find(({ rule }) => !SOFT.includes(rule) && !isOwnName(rule, change));
  if (hard?.rule === 'description-too-long') return refuse('description-too-long', `${hard.message} ${hard.fix}`);
  if (hard !== undefined) return refuse('invalid-skill', `${hard.message} ${hard.fix}`);
  const misnamed = await checkName(change, text);
  if (misnamed) return misnamed;
  return { ok: true, warnings: findings.map(({ message, fix }) => `${message} ${fix}`) };
}

/** A skill that was found under a name that is not its folder's keeps both. */
function isOwnName(rule: string, { name, folder }: JudgedChange): boolean {
  return rule === 'name-folder' && name !== folder;
}

async function rulesBroken({ before, folder }: JudgedChange): Promise<readonly string[]> {
  const text = textOf(before?.get(SKILL_FILE));
  if (text === undefined) return [];
  const { validateSkillText } = await import('../format/validate-skill.ts');
  return validateSkillText(text, folder).map(({ rule }) => rule);
}

/** The name stays what it is called by; what the tool makes new has a description that the index shows whole. */
async function checkName({ name, action, before }: JudgedChange, text: string): Promise<SkillRefusal | undefined> {
  const { parseSkill } = await import('../format/parse-skill.ts');
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

/** The kind of a key-shaped string that was not there before. */
function newSecret({ before, after }: Pick<JudgedChange, 'before' | 'after'>, path: string): string | undefined {
  const old = before?.get(path);
  const known = new Set(old === undefined ? [] : secretsIn(textOf(old) ?? ''));
  const text = textOf(after.get(path)) ?? '';
  return findSecrets(text).find(({ start, end }) => !known.has(text.slice(start, end)))?.kind;
}

function secretsIn(text: string): readonly string[] {
  return findSecrets(text).map(({ start, end }) => text.slice(start, end));
}
