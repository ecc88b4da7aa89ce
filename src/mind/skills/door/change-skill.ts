// Owns what a change makes of a skill's folder, the state after it or why it cannot be made; and where in a skills root anybody may write:
// names of categories, places of files, no link on the way (core notes 2.6). Knows no lock and no guard.
// Invariants: exactly one file differs, or those that an edit names, or the whole skill comes or goes; something differs; text in doubt is
// a refusal (seed 001 ch 10 and 12); what passes stays below the skill's folder, whatever the disk holds.

import { lstatSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { errorCode, ifThere } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { type ReplaceRefusal, replaceText } from '#core/tools/files/replace-text.ts';
import { SKILL_FILE, SKILL_NAME, SUPPORT_FOLDERS, skillLimits } from '../format/skill-text.ts';
import type { SkillChange, SkillFileEdit, SkillRefusal, SkillRefusalReason } from '../skill.ts';
import { changesBetween, clashIn, type SkillTree, textOf, tooLarge, treeOf, withFile } from './skill-tree.ts';

export interface ChangedSkill {
  readonly ok: true;
  /** Undefined: the skill goes. */
  readonly after: SkillTree | undefined;
  /** The file that the change is about. */
  readonly path: string;
  /** Every file that comes, changes or goes; SKILL.md stands for a skill that goes. */
  readonly paths: readonly string[];
}

type Patch = Extract<SkillChange, { action: 'patch' }>;
type Edit = Extract<SkillChange, { action: 'edit' }>;
type FileWrite = Extract<SkillChange, { action: 'write_file' | 'remove_file' }>;

/** `before` is undefined for `create` only. */
export function changeSkill(before: SkillTree | undefined, change: SkillChange): ChangedSkill | SkillRefusal {
  const tree = before ?? treeOf([]);
  switch (change.action) {
    case 'create':
      return replaced(tree, SKILL_FILE, change.content);
    case 'edit':
      return edited(tree, change);
    case 'patch':
      return patched(tree, change);
    case 'delete':
      return { ok: true, after: undefined, path: SKILL_FILE, paths: [SKILL_FILE] };
    case 'write_file':
    case 'remove_file':
      return supportChanged(tree, change);
  }
}

/** SKILL.md and its support files as one change; what says the same already is no part of it. */
function edited(tree: SkillTree, { content, files = [] }: Edit): ChangedSkill | SkillRefusal {
  const put = putFile(tree, SKILL_FILE, content);
  if (!put.ok) return put;
  let after = put.after;
  const named = new Set<string>();
  for (const file of files) {
    const next = withEdit(after, file, named);
    if (!next.ok) return next;
    after = next.after;
  }
  const paths = changesBetween(tree, after).map(({ path }) => path);
  if (paths.length === 0)
    return refuse('unchanged', `${files.length === 0 ? SKILL_FILE : 'Every file'} says exactly that already.`);
  const clash = clashIn(after);
  if (clash !== undefined) return refuse('outside-folder', `${clash} would be a file and a folder at once.`);
  if (tooLarge([...after.values()])) return refuse('too-large', 'The skill would have too many or too large files.');
  return { ok: true, after, path: SKILL_FILE, paths };
}

type Edited = { readonly ok: true; readonly after: SkillTree } | SkillRefusal;

/** `named` grows by the path: one file is named once. */
function withEdit(tree: SkillTree, { path: asked, content }: SkillFileEdit, named: Set<string>): Edited {
  const path = checkSupportPath(asked);
  if (!path.ok) return path;
  if (named.has(path.value)) return refuse('text-ambiguous', `${path.value} is named twice; say once what it holds.`);
  named.add(path.value);
  if (content === null) return { ok: true, after: withFile(tree, path.value, undefined) };
  return putFile(tree, path.value, content);
}

function putFile(tree: SkillTree, path: string, text: string): Edited {
  const tooLarge = checkSize(path, text);
  if (tooLarge) return tooLarge;
  return { ok: true, after: withFile(tree, path, Buffer.from(text.toWellFormed(), 'utf8')) };
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
  if (tree.has(path.value))
    return { ok: true, after: withFile(tree, path.value, undefined), path: path.value, paths: [path.value] };
  return refuse('target-not-found', `The skill has no file ${path.value}.`);
}

function replaced(tree: SkillTree, path: string, text: string): ChangedSkill | SkillRefusal {
  const put = putFile(tree, path, text);
  if (!put.ok) return put;
  const paths = changesBetween(tree, put.after).map((change) => change.path);
  if (paths.length === 0) return refuse('unchanged', `${path} says exactly that already.`);
  return { ok: true, after: put.after, path, paths };
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

export function checkSkillName(name: string): Result<string, 'invalid-name'> {
  if (SKILL_NAME.test(name) && name.length <= skillLimits.name) return ok(name);
  return refuse(
    'invalid-name',
    `${JSON.stringify(name.slice(0, 80))} is no name of a skill: lower-case letters, digits, . _ -, at most ${skillLimits.name}, beginning with a letter or digit.`,
  );
}

/** `data` or `data/tables`; empty: none. */
export function checkCategory(category: string): Result<string, 'invalid-name'> {
  const parts = category === '' ? [] : category.split('/');
  const isPlain = parts.every((part) => SKILL_NAME.test(part) && part.length <= skillLimits.name);
  if (isPlain && parts.length <= 3) return ok(category);
  return refuse(
    'invalid-name',
    `${JSON.stringify(category.slice(0, 80))} is no category: names like those of skills, at most three parted by /.`,
  );
}

/** A supporting file's place: `references/…`, `templates/…`, `scripts/…` or `assets/…`, parted by `/`, nothing hidden. */
function checkSupportPath(path: string): Result<string, 'outside-folder'> {
  const parts = path.replace(/^\.\//, '').split('/');
  const [first = ''] = parts;
  const isPlain = parts.every((part) => /^[^\\\p{Cc}]+$/u.test(part) && !part.startsWith('.') && part.trim() === part);
  if (isPlain && parts.length > 1 && (SUPPORT_FOLDERS as readonly string[]).includes(first)) return ok(parts.join('/'));
  return refuse(
    'outside-folder',
    `${JSON.stringify(path.slice(0, 200))} is no place for a supporting file: use ${SUPPORT_FOLDERS.map((name) => `${name}/…`).join(', ')}, without .. and hidden names.`,
  );
}

/** As `checkSupportPath`, with SKILL.md itself allowed. */
function checkSkillPath(path: string): Result<string, 'outside-folder'> {
  return path === SKILL_FILE || path === `./${SKILL_FILE}` ? ok(SKILL_FILE) : checkSupportPath(path);
}

/** Is the folder truly below the root, and no step from it to `path` a link? Then a write stays where it should. */
export function checkNoLink(root: string, folder: string, path: string): Result<true, 'outside-folder'> {
  const steps = [folder, ...path.split('/').map((_, i, parts) => join(folder, ...parts.slice(0, i + 1)))];
  const link = steps.find((step) => isLink(step));
  if (link !== undefined)
    return refuse('outside-folder', `${link} is a link; the files of a skill are written in place only.`);
  if (isBelow(root, folder)) return ok(true);
  return refuse('outside-folder', `${folder} is not below ${root}.`);
}

/** As `checkNoLink`, for every path. */
export function checkNoLinks(root: string, folder: string, paths: readonly string[]): Result<true, 'outside-folder'> {
  for (const path of paths) {
    const inside = checkNoLink(root, folder, path);
    if (!inside.ok) return inside;
  }
  return ok(true);
}

function isLink(path: string): boolean {
  return ifThere(() => lstatSync(path).isSymbolicLink(), ['ENOENT', 'ENOTDIR']) ?? false;
}

function isBelow(root: string, folder: string): boolean {
  const from = realOf(root);
  return realOf(folder).startsWith(from + sep);
}

/** The real path of what exists of it. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
    return join(realOf(dirname(path)), path.slice(dirname(path).length + 1));
  }
}
