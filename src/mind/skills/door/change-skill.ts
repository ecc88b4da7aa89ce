// Owns what a change makes of a skill's folder: the state after it, or why it cannot be made. Pure; knows no disk, no lock, no guard.
// Invariant: exactly one file differs, or the whole skill comes or goes; text in doubt is a refusal (seed 001 ch 10 and 12).
import { refuse } from '#base/result.ts';
import { type ReplaceRefusal, replaceText } from '#core/tools/file/replace-text.ts';
import { SKILL_FILE, skillLimits } from '../format/skill-limits.ts';
import type { SkillChange, SkillRefusal, SkillRefusalReason } from '../skill-door.ts';
import { checkSkillPath, checkSupportPath } from './skill-paths.ts';
import { type SkillTree, textOf, treeOf, withFile } from './skill-tree.ts';

export interface ChangedSkill {
  readonly ok: true;
  /** Undefined: the skill goes. */
  readonly after: SkillTree | undefined;
  /** The file that changes. */
  readonly path: string;
}

type Patch = Extract<SkillChange, { action: 'patch' }>;
type FileWrite = Extract<SkillChange, { action: 'write_file' | 'remove_file' }>;

/** `before` is undefined for `create` only. */
export function changeSkill(before: SkillTree | undefined, change: SkillChange): ChangedSkill | SkillRefusal {
  const tree = before ?? treeOf([]);
  switch (change.action) {
    case 'create':
    case 'edit':
      return replaced(tree, SKILL_FILE, change.content);
    case 'patch':
      return patched(tree, change);
    case 'delete':
      return { ok: true, after: undefined, path: SKILL_FILE };
    case 'write_file':
    case 'remove_file':
      return supportChanged(tree, change);
  }
}

function patched(tree: SkillTree, { filePath, oldString, newString, replaceAll }: Patch): ChangedSkill | SkillRefusal {
  const path = checkSkillPath(filePath ?? SKILL_FILE);
  if (!path.ok) return path;
  const file = tree.get(path.value);
  if (file === undefined) return refuse('target-not-found', `The skill has no file ${path.value}.`);
  const text = textOf(file);
  if (text === undefined) return refuse('invalid-skill', `${path.value} is not UTF-8 text; replace it as a whole.`);
  const done = replaceText({ text, old: oldString, new: newString.toWellFormed(), all: replaceAll ?? false });
  if (!done.ok) return refuse(PATCH_REASONS[done.reason], done.detail);
  return replaced(tree, path.value, done.value.text);
}

const PATCH_REASONS: Readonly<Record<ReplaceRefusal, SkillRefusalReason>> = {
  empty: 'text-not-found',
  same: 'unchanged',
  'not-found': 'text-not-found',
  'not-unique': 'text-ambiguous',
};

function supportChanged(tree: SkillTree, change: FileWrite): ChangedSkill | SkillRefusal {
  const path = checkSupportPath(change.filePath);
  if (!path.ok) return path;
  if (change.action === 'write_file') return replaced(tree, path.value, change.content);
  if (tree.has(path.value)) return { ok: true, after: withFile(tree, path.value, undefined), path: path.value };
  return refuse('target-not-found', `The skill has no file ${path.value}.`);
}

function replaced(tree: SkillTree, path: string, text: string): ChangedSkill | SkillRefusal {
  const tooLarge = checkSize(path, text);
  if (tooLarge) return tooLarge;
  const bytes = Buffer.from(text.toWellFormed(), 'utf8');
  const old = tree.get(path);
  if (old !== undefined && Buffer.compare(old.bytes, bytes) === 0)
    return refuse('unchanged', `${path} says exactly that already.`);
  return { ok: true, after: withFile(tree, path, bytes), path };
}

function checkSize(path: string, text: string): SkillRefusal | undefined {
  if (path === SKILL_FILE) {
    if (text.length <= skillLimits.text) return undefined;
    const size = text.length.toLocaleString('en-US');
    return refuse('too-large', `SKILL.md would have ${size} characters, over 100,000. Move detail to references/.`);
  }
  const bytes = Buffer.byteLength(text);
  if (bytes <= skillLimits.supportBytes) return undefined;
  return refuse('too-large', `${path} would have ${bytes.toLocaleString('en-US')} bytes, over 1 MiB.`);
}
