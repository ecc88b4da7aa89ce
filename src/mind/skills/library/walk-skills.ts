// Owns finding skill folders below a root: SKILL.md at any depth, with or without categories (seed 001 ch 10). Knows no content.
// Invariants: never leaves the root, also not by a link; hidden folders, package folders and the supporting folders of a skill hold no
// skills; a folder that cannot be read is a problem, not an error.
import { type Dirent, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { errorText } from '#base/errors.ts';
import { SKILL_FILE, SUPPORT_FOLDERS } from '../format/skill-limits.ts';
import type { SkillProblem } from './cache-tables.ts';

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

/** A change of the file gives another text: size, time and identity. */
function fileStamp({ size, mtimeMs, ino }: Stats): string {
  return `${size}:${mtimeMs}:${ino}`;
}

/** Depth first, by name. A root that does not exist has no skills. */
export function* walkSkills(root: string): Generator<Found, void, undefined> {
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    yield branchAt(root);
    return;
  }
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
  if ('reason' in entries) {
    yield { type: 'problem', ...entries };
    return;
  }
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
    if (entry.isSymbolicLink() && !isInside(realRoot, file)) return linkOutside(written);
    const stamp = fileStamp(statSync(file));
    return { type: 'skill', folder: path, file, category: below.slice(0, -1).join('/'), stamp };
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
  if (target?.isDirectory() && !isInside(realRoot, realpathSync(link))) yield linkOutside(link);
}

function linkOutside(path: string): Found {
  const detail = `${path} is a link out of the skills folder and is not read. Name its target in skills.external_dirs instead.`;
  return { type: 'problem', path, reason: 'link-outside', detail };
}

export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
