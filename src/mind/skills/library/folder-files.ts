// Owns finding skill folders below a root, SKILL.md at any depth, with or without categories (seed 001 ch 10), and reading inside one skill's folder:
// a named file, SKILL.md itself, the list of supporting files less what `.skillignore` names.
import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, posix } from 'node:path';
import { errorCode, errorText } from '#base/errors.ts';
import { isIn } from '#base/paths/typed-path.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { isLeftOut, parseIgnoreFile } from '#base/text/glob.ts';
import { utf8Text } from '../door/skill-tree.ts';
import { SKILL_FILE, SUPPORT_FOLDERS, type SupportFolder, skillLimits } from '../format/skill-text.ts';
import type { SkillProblem } from './skills-cache.ts';

export interface FoundSkill {
  readonly type: 'skill';
  readonly folder: string;
  /** SKILL.md after links were followed. */
  readonly file: string;
  readonly category: string;
  readonly stamp: string;
}

/** A folder whose change means that skills came or went. */
export interface FoundBranch {
  readonly type: 'branch';
  readonly path: string;
  readonly stamp: string;
  /** Epoch ms. */
  readonly changedAt: number;
}

export type Found =
  | FoundSkill
  | FoundBranch
  | { readonly type: 'category'; readonly name: string; readonly file: string }
  | ({ readonly type: 'problem' } & SkillProblem);

const DEEPEST = 10;
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', '__pycache__', 'venv', 'site-packages']);
const CATEGORY_FILE = 'DESCRIPTION.md';

interface Place {
  readonly realRoot: string;
  readonly path: string;
  readonly below: readonly string[];
  readonly insideSkill: boolean;
}

/** Depth first, by name. A root that does not exist has no skills. */
export function* walkSkills(root: string): Generator<Found, void, undefined> {
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) return yield branchAt(root);
  const realRoot = realpathSync(root);
  yield* walkFolder({ realRoot, path: root, below: [], insideSkill: false });
}

function branchAt(path: string): FoundBranch {
  const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return { type: 'branch', path, stamp: branchStamp(path), changedAt };
}

/** Stamp of a folder's list of entries; `absent` when there is none. */
export function branchStamp(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found ? `${found.mtimeMs}:${found.ino}` : 'absent';
}

function* walkFolder(place: Place): Generator<Found, void, undefined> {
  const { path, below, insideSkill } = place;
  // Before its entries are read: a change in between gives a stamp that is too old, never one that is too new.
  const branch = branchAt(path);
  const entries = readFolder(path);
  if ('reason' in entries) return yield { type: 'problem', ...entries };
  const skillFile = entries.find(({ name }) => name === SKILL_FILE) ?? entries.find(({ name }) => name === 'skill.md');
  if (skillFile) yield skillAt(place, skillFile);
  else if (!insideSkill) yield* describeCategory(place, entries);
  const isBranch = !insideSkill && (skillFile === undefined || below.length === 0);
  if (isBranch) yield branch;
  yield* walkBelow({ ...place, insideSkill: insideSkill || skillFile !== undefined }, entries);
}

function* walkBelow(place: Place, entries: readonly Dirent[]): Generator<Found, void, undefined> {
  const { path, below, insideSkill } = place;
  if (below.length >= DEEPEST) return;
  for (const entry of entries) {
    const { name } = entry;
    if (isSkipped(name, insideSkill)) continue;
    if (entry.isSymbolicLink()) yield* judgeLink(place, entry);
    else if (entry.isDirectory()) yield* walkFolder({ ...place, path: join(path, name), below: [...below, name] });
  }
}

function readFolder(path: string): readonly Dirent[] | SkillProblem {
  try {
    return readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    return { path, reason: 'unreadable', detail: `${path} cannot be read: ${errorText(error)}` };
  }
}

function isSkipped(name: string, insideSkill: boolean): boolean {
  if (name.startsWith('.') || SKIPPED.has(name)) return true;
  return insideSkill && SUPPORT_FOLDERS.some((folder) => folder === name);
}

function skillAt({ realRoot, path, below }: Place, entry: Dirent): Found {
  const written = join(path, entry.name);
  try {
    const file = entry.isSymbolicLink() ? realpathSync(written) : written;
    if (entry.isSymbolicLink() && !isIn(file, realRoot)) return linkOutside(written);
    // A change of the file gives another text.
    const { size, mtimeMs, ino } = statSync(file);
    const category = below.slice(0, -1).join('/');
    return { type: 'skill', folder: path, file, category, stamp: `${size}:${mtimeMs}:${ino}` };
  } catch (error) {
    return { type: 'problem', path: written, reason: 'unreadable', detail: `${written}: ${errorText(error)}` };
  }
}

function* describeCategory({ path, below }: Place, entries: readonly Dirent[]): Generator<Found, void, undefined> {
  const file = entries.find((entry) => entry.name === CATEGORY_FILE && entry.isFile());
  if (file && below.length > 0) yield { type: 'category', name: below.join('/'), file: join(path, file.name) };
}

/** A link to a place inside the root says nothing new; one that leads out is refused, with what to do instead. */
function* judgeLink({ realRoot, path }: Place, entry: Dirent): Generator<Found, void, undefined> {
  const link = join(path, entry.name);
  const target = statSync(link, { throwIfNoEntry: false });
  if (target?.isDirectory() && !isIn(realpathSync(link), realRoot)) yield linkOutside(link);
}

function linkOutside(path: string): Found {
  const detail = `${path} is a link out of the skills folder and is not read. Name its target in skills.external_dirs instead.`;
  return { type: 'problem', path, reason: 'link-outside', detail };
}

/** Paths below the skill's folder, with `/`, by supporting folder. */
export type LinkedFiles = Readonly<Record<SupportFolder, readonly string[]>>;

const MOST_FILES = 500;
const DEEPEST_FILE = 6;
const IGNORE_FILES = ['.skillignore', '.clawhubignore'];

/** Text of the file at `path`, which is relative to `folder`. */
export function readFolderFile(
  folder: string,
  path: string,
): Result<string, 'no-such-file' | 'outside-folder' | 'not-text'> {
  const clean = posix.normalize(path.replaceAll('\\', '/'));
  const leaves = isAbsolute(path) || /^[A-Za-z]:/.test(path) || clean === '..' || clean.startsWith('../');
  if (leaves || path.includes('\0')) return refuse('outside-folder', `${JSON.stringify(path)} leads out of the skill.`);
  try {
    const real = realpathSync(join(folder, clean));
    if (!isIn(real, realpathSync(folder)))
      return refuse('outside-folder', `${JSON.stringify(path)} is a link that leads out of the skill.`);
    const read = readText(real, path);
    if (read.ok) return read;
    return refuse(read.reason === 'too-large' ? 'not-text' : read.reason, read.detail);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return refuse('no-such-file', `The skill has no file ${JSON.stringify(path)}.`);
  }
}

/** UTF-8 text of a file of at most 1 MiB. Throws what the file system throws. */
export function readText(path: string, shown: string): Result<string, 'no-such-file' | 'not-text' | 'too-large'> {
  const found = statSync(path);
  if (!found.isFile()) return refuse('no-such-file', `${JSON.stringify(shown)} is no file.`);
  if (found.size > skillLimits.supportBytes)
    return refuse('too-large', `${JSON.stringify(shown)} has ${found.size} bytes; at most 1 MiB is read.`);
  const bytes = readFileSync(path);
  const text = bytes.includes(0) ? undefined : utf8Text(bytes);
  return text === undefined ? refuse('not-text', `${JSON.stringify(shown)} is not UTF-8 text.`) : ok(text);
}

/** Supporting files, by name; hidden ones, links and what the ignore files name are left out. */
export function listLinkedFiles(folder: string): LinkedFiles {
  const texts = IGNORE_FILES.map((name) => readFolderFile(folder, name)).map((read) => (read.ok ? read.value : ''));
  const rules = parseIgnoreFile(texts.join('\n'));
  const list = (name: SupportFolder) => [...filesBelow(folder, name, 0)].filter((path) => !isLeftOut(path, rules));
  const entries = SUPPORT_FOLDERS.map((name) => [name, list(name).slice(0, MOST_FILES)] as const);
  return Object.fromEntries(entries) as unknown as LinkedFiles;
}

function* filesBelow(folder: string, below: string, depth: number): Generator<string, void, undefined> {
  const entries = readFolder(join(folder, below));
  for (const entry of 'reason' in entries ? [] : entries) {
    if (entry.name.startsWith('.')) continue;
    const path = `${below}/${entry.name}`;
    if (entry.isFile()) yield path;
    else if (entry.isDirectory() && depth < DEEPEST_FILE) yield* filesBelow(folder, path, depth + 1);
  }
}
