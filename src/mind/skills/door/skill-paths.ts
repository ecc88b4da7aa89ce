// Owns where in a skills root anybody may write: names of categories, places of files, no link on the way. Knows no change.
// Invariant: what passes stays below the skill's folder, whatever the disk holds (core notes 2.6).
import { lstatSync, realpathSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { errorCode } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { SKILL_FILE, SKILL_NAME, SUPPORT_FOLDERS, skillLimits } from '../format/skill-limits.ts';

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
export function checkSupportPath(path: string): Result<string, 'outside-folder'> {
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
export function checkSkillPath(path: string): Result<string, 'outside-folder'> {
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
  try {
    return lstatSync(path).isSymbolicLink();
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return false;
    throw error;
  }
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
