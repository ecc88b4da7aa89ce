// Owns one look at everything in a folder: what stands where, by the facts of the file system alone. Reads no file but .gitignore.
// Knows no session. Invariants: bounded for any tree; every name of a folder that is `listed` is there, so what is not there was not
// there; links are never followed.
import { type Dirent, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '#base/errors.ts';
import { type IgnoreScope, isIgnored, NEVER_ENTERED, parseIgnoreFile } from '#core/tools/search/ignore-rules.ts';

export interface Seen {
  /** `closed`: a folder whose content is not looked at. */
  readonly kind: 'file' | 'link' | 'listed' | 'closed' | 'special';
  /** Changes with every change of the file, also of one that sets its times back. */
  readonly stamp: string;
  readonly size: number;
  /** Epoch ms of its last change. */
  readonly changedAt: number;
  /** `many`: closed because there is too much below; the rest is closed because of what it is. */
  readonly closed?: 'many' | 'kind';
}

export interface Sight {
  /** By path relative to the folder, which itself is ''. Upper levels first. */
  readonly entries: ReadonlyMap<string, Seen>;
  /** Does a .gitignore name it? */
  readonly ignores: (path: string) => boolean;
}

/** Entries that one look takes in, and files below a folder that .gitignore names: beyond, folders are closed. */
const MOST_ENTRIES = 5_000;
const MOST_IGNORED = 500;
const MOST_RULE_BYTES = 256 * 1024;

/** A folder that .gitignore names, with what was seen in it so far. */
interface Group {
  readonly top: string;
  readonly members: string[];
  isClosed: boolean;
}

interface Level {
  readonly path: string;
  readonly scopes: readonly IgnoreScope[];
  readonly group?: Group | undefined;
}

/** `skipped`: absolute path of a folder that is left out as if it were not there. */
export function walkFolder(root: string, skipped?: string): Sight {
  const entries = new Map([['', CLOSED.many as Seen]]);
  const walk: Walk = { root, skipped, entries, levels: new Map(), queue: [{ path: '', scopes: [] }] };
  for (let at = 0; at < walk.queue.length; at += 1) {
    const level = walk.queue[at];
    if (level && !level.group?.isClosed) readLevel(walk, level);
  }
  return { entries, ignores: (path) => isNamed(path, walk.levels) };
}

interface Walk {
  readonly root: string;
  readonly skipped: string | undefined;
  readonly entries: Map<string, Seen>;
  readonly levels: Map<string, Level>;
  readonly queue: Level[];
}

function readLevel(walk: Walk, level: Level): void {
  const { root, skipped, entries } = walk;
  const names = entries.size > MOST_ENTRIES ? undefined : namesIn(join(root, level.path));
  if (names === undefined) return;
  entries.set(level.path, LISTED);
  const here = { ...level, scopes: scopesIn(root, level, names) };
  walk.levels.set(level.path, here);
  for (const entry of names) {
    const path = level.path === '' ? entry.name : `${level.path}/${entry.name}`;
    const full = `${root}/${path}`; // for thousands, so not by join
    if (full === skipped) continue;
    if (entry.isDirectory()) enter(path, here, walk);
    else entries.set(path, seenAt(full));
    level.group?.members.push(path);
  }
  closeHeavy(level.group, entries);
}

const PLAIN = { stamp: '', size: 0, changedAt: 0 };
const LISTED: Seen = { ...PLAIN, kind: 'listed' };
const CLOSED = {
  many: { ...PLAIN, kind: 'closed', closed: 'many' },
  kind: { ...PLAIN, kind: 'closed', closed: 'kind' },
} as const satisfies Readonly<Record<string, Seen>>;

/** Sorted, so that the same tree gives the same order; undefined when it cannot be listed as a whole. */
function namesIn(folder: string): readonly Dirent[] | undefined {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.length > MOST_ENTRIES ? undefined : entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (!isPlain(error)) throw error;
    return undefined;
  }
}

/** Not to be read, or gone meanwhile: a fact of the folder. Anything else is the disk's, and what was seen is not known then. */
function isPlain(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(error) ?? '');
}

function enter(path: string, { scopes, group }: Level, into: Walk): void {
  if (NEVER_ENTERED.has(path.slice(path.lastIndexOf('/') + 1))) {
    into.entries.set(path, CLOSED.kind);
    return;
  }
  const own = group ?? (isIgnored(path, true, scopes) ? { top: path, members: [], isClosed: false } : undefined);
  into.entries.set(path, CLOSED.many); // until its turn comes
  into.queue.push({ path, scopes, group: own });
}

function closeHeavy(group: Group | undefined, entries: Map<string, Seen>): void {
  if (!group || group.members.length <= MOST_IGNORED) return;
  group.isClosed = true;
  for (const path of group.members) entries.delete(path);
  entries.set(group.top, CLOSED.kind);
}

/** What is gone by now, or has a name that is no text, counts as something that nobody keeps. */
function seenAt(path: string): Seen {
  try {
    const facts = lstatSync(path);
    const kind = facts.isFile() ? 'file' : facts.isSymbolicLink() ? 'link' : 'special';
    const stamp = `${facts.size} ${facts.ctimeMs} ${facts.ino} ${facts.mode}`;
    return { kind, stamp, size: facts.size, changedAt: facts.ctimeMs };
  } catch (error) {
    if (!isPlain(error)) throw error;
    return { ...PLAIN, kind: 'special' };
  }
}

function scopesIn(root: string, { path, scopes }: Level, names: readonly Dirent[]): readonly IgnoreScope[] {
  if (!names.some((entry) => entry.name === '.gitignore' && entry.isFile())) return scopes;
  const file = join(root, path, '.gitignore');
  try {
    if (seenAt(file).size > MOST_RULE_BYTES) return scopes;
    const rules = parseIgnoreFile(readFileSync(file, 'utf8'));
    return [...scopes, { prefix: path === '' ? '' : `${path}/`, above: '', rules }];
  } catch (error) {
    if (!isPlain(error)) throw error;
    return scopes;
  }
}

/** By the rules of the nearest folder that was there. */
function isNamed(path: string, levels: ReadonlyMap<string, Level>): boolean {
  let folder = path;
  do folder = folder.includes('/') ? folder.slice(0, folder.lastIndexOf('/')) : '';
  while (folder !== '' && !levels.has(folder));
  const level = levels.get(folder);
  return level !== undefined && (level.group !== undefined || isIgnored(path, false, level.scopes));
}
