// Owns the states of everything in a folder at one moment, as a value: made from a look at the folder, what is known from the last look
// and the copies; and what differs between two. Invariants: bytes are read and copied only when a file is new or its stamp is; what was not
// there is said to be new only where the folder around it had been seen as a whole.
import { type Dirent, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { isJsonObject, parseJson } from '#base/json.ts';
import { type IgnoreScope, isIgnored, parseIgnoreFile } from '#base/text/glob.ts';
import { NEVER_ENTERED } from '#core/tools/files/walk-folder.ts';
import type { FileCopies } from './file-copies.ts';
import { isLink, MEGABYTE, readState } from './file-state.ts';

/** The state of one entry: its key as in `FileState`, or `closed` for a folder that is not looked into. */
export interface KeptEntry {
  readonly key: string;
  /** Why its bytes are not kept. */
  readonly why?: string;
  /** Of the look; absent when it may have changed in the same instant. */
  readonly stamp?: string;
}

/** By path relative to the folder. */
export type FolderStates = ReadonlyMap<string, KeptEntry>;

/** Of one file, and of all files of a folder. */
const MOST_KEPT_BYTES = MEGABYTE;
const MOST_FOLDER_BYTES = 64 * MEGABYTE;
const LARGE = `it was larger than ${MOST_KEPT_BYTES / MEGABYTE} MB`;
const BEYOND = `the folder holds more than the ${MOST_FOLDER_BYTES / MEGABYTE} MB that are kept`;
const CLOSED = 'it was a folder whose files are not kept one by one';
const SPECIAL = 'it was no regular file';

/** File systems tell time in steps: what changed this shortly before the look may change again under the same stamp. */
const STEP_MS = 50;
/** Files that are read and copied before others get their turn. */
const AT_ONCE = 64;

export interface FolderLook {
  readonly root: string;
  /** Absolute path of a folder that is left out: the agent's own home. */
  readonly skipped: string;
  readonly sessionId: string;
  readonly copies: FileCopies;
  /** Epoch ms. */
  readonly now: number;
  readonly last?: FolderStates | undefined;
}

export interface LookedAt {
  readonly states: FolderStates;
  readonly sight: Sight;
}

export async function lookAtFolder(look: FolderLook): Promise<LookedAt> {
  const sight = walkFolder(look.root, look.skipped);
  const hashes = look.copies.hashes(look.sessionId);
  const states = new Map<string, KeptEntry>();
  const unread: Unread[] = [];
  let bytes = 0;
  for (const [path, seen] of sight.entries) {
    const why = unkeptFor(seen, bytes);
    bytes += why === undefined ? seen.size : 0;
    const known = look.last?.get(path);
    const now = stateSeen(`${look.root}/${path}`, { seen, why, known, hashes });
    states.set(path, now);
    if (now === UNREAD.file) unread.push({ path, seen });
  }
  for (let at = 0; at < unread.length; at += AT_ONCE) await readAll(look, unread.slice(at, at + AT_ONCE), states);
  return { states: isEqual(states, look.last) ? look.last : states, sight };
}

/** So that a folder in which nothing happened is the same value. */
function isEqual(states: FolderStates, last: FolderStates | undefined): last is FolderStates {
  return states.size === last?.size && [...states].every(([path, entry]) => last.get(path) === entry);
}

interface Unread {
  readonly path: string;
  readonly seen: Seen;
}

function unkeptFor({ size }: Seen, bytes: number): string | undefined {
  if (size > MOST_KEPT_BYTES) return LARGE;
  return bytes + size > MOST_FOLDER_BYTES ? BEYOND : undefined;
}

function isThere({ key, why }: KeptEntry, hashes: ReadonlySet<string>): boolean {
  return why !== undefined || hashes.has(key.split(' ')[1] ?? '');
}

interface SeenEntry {
  readonly seen: Seen;
  readonly why: string | undefined;
  readonly known: KeptEntry | undefined;
  readonly hashes: ReadonlySet<string>;
}

function stateSeen(path: string, { seen, why, known, hashes }: SeenEntry): KeptEntry {
  const { kind, stamp } = seen;
  if (kind === 'listed' || kind === 'closed' || kind === 'special') return UNREAD[kind];
  if (why === undefined) return known?.stamp === stamp && isThere(known, hashes) ? known : UNREAD.file;
  const { key } = readState(path, -1);
  return known?.key === key && known.why === why ? known : { key, why };
}

const UNREAD = {
  listed: { key: 'folder' },
  closed: { key: 'closed', why: CLOSED },
  special: { key: 'special', why: SPECIAL },
  file: { key: 'unreadable' },
} as const satisfies Readonly<Record<string, KeptEntry>>;

async function readAll(
  { root, sessionId, copies, now }: FolderLook,
  unread: readonly Unread[],
  into: Map<string, KeptEntry>,
): Promise<void> {
  const read = unread.map(({ path, seen }) => ({ path, seen, state: readState(join(root, path), MOST_KEPT_BYTES) }));
  const reasons = await copies.keepAll(
    sessionId,
    read.map(({ state }) => state),
  );
  for (const [at, { path, seen, state }] of read.entries()) {
    const why = reasons[at];
    if (state.key === 'none') into.delete(path);
    else
      into.set(path, {
        key: state.key,
        ...(why === undefined ? {} : { why }),
        ...(seen.changedAt < now - STEP_MS ? { stamp: seen.stamp } : {}),
      });
  }
}

export interface FolderChange {
  /** Relative to the folder. */
  readonly path: string;
  readonly before: KeptEntry;
  readonly after: KeptEntry;
}

const NONE: KeptEntry = { key: 'none' };

/** What differs, upper levels first. */
export function folderChanges(root: string, before: FolderStates, after: FolderStates): readonly FolderChange[] {
  const gone = [...before].flatMap(([path, was]) => {
    const is = after.get(path) ?? (isGone(root, path, after) ? NONE : was);
    return isSame(was, is) ? [] : [{ path, before: was, after: is }];
  });
  const made = [...after].flatMap(([path, is]) =>
    before.has(path) || is.key === 'closed' || is.key === 'special' || !wasMissing(path, before)
      ? []
      : [{ path, before: NONE, after: is }],
  );
  return [...gone, ...made];
}

/** A folder may be closed by now because of what lies below it: that is no change of what it is. */
function isSame(was: KeptEntry, is: KeptEntry): boolean {
  const isFolder = ({ key }: KeptEntry) => key === 'closed' || key === 'folder';
  return was.key === is.key || (isFolder(was) && isFolder(is));
}

/** What was not looked at this time may still be there, unless something that is no folder stands on the way. */
function isGone(root: string, path: string, after: FolderStates): boolean {
  const key = after.get(nearestAbove(path, after))?.key;
  return (key !== 'folder' && key !== 'closed') || readState(join(root, path), -1).key === 'none';
}

function nearestAbove(path: string, states: FolderStates): string {
  let folder = path;
  do folder = dirname(folder) === '.' ? '' : dirname(folder);
  while (folder !== '' && !states.has(folder));
  return folder;
}

/** The nearest folder above that was there says so, when all of its names were seen. */
function wasMissing(path: string, before: FolderStates): boolean {
  const key = before.get(nearestAbove(path, before))?.key;
  return key !== undefined && key !== 'closed';
}

/** Entries that an undo could not bring back, as far as they are its business: not what is closed for what it is (.git, node_modules). */
export function unkeptCount({ states, sight }: LookedAt): { readonly files: number; readonly folders: number } {
  const isUnkept = ([path, { key, why }]: readonly [string, KeptEntry]) =>
    why !== undefined && isFileKey(key) && !sight.ignores(path);
  const files = [...states].filter(isUnkept).length;
  const folders = [...sight.entries.values()].filter(({ closed }) => closed === 'many').length;
  return { files, folders };
}

function isFileKey(key: string): boolean {
  return key.startsWith('large ') || /^[0-7]+ /.test(key) || isLink(key);
}

export interface WrittenStates {
  readonly text: string;
  readonly hash: string;
}

const written = new WeakMap<FolderStates, WrittenStates>();

/** As it lies in the copies. */
export function writtenStates(states: FolderStates): WrittenStates {
  const known = written.get(states);
  if (known) return known;
  const text = [...states].map(([path, { key, why }]) => `${JSON.stringify({ path, key, why })}\n`).join('');
  const made = { text, hash: sha256(text) };
  written.set(states, made);
  return made;
}

export function parseStates(text: string): FolderStates {
  const states = new Map<string, KeptEntry>();
  for (const line of text.split('\n')) {
    const row = parseJson(line);
    if (!row.ok || !isJsonObject(row.value)) continue;
    const { path, key, why } = row.value;
    if (typeof path !== 'string' || typeof key !== 'string') continue;
    states.set(path, { key, ...(typeof why === 'string' ? { why } : {}) });
  }
  return states;
}

// One look at everything in a folder: what stands where, by the facts of the file system alone. Reads no file but .gitignore.
// Knows no session. Invariants: bounded for any tree; every name of a folder that is `listed` is there, so what is not there was not
// there; links are never followed.

interface Seen {
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

interface Sight {
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
  const entries = new Map([['', WALK_FOLDER_CLOSED.many as Seen]]);
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
const WALK_FOLDER_CLOSED = {
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
    into.entries.set(path, WALK_FOLDER_CLOSED.kind);
    return;
  }
  const own = group ?? (isIgnored(path, true, scopes) ? { top: path, members: [], isClosed: false } : undefined);
  into.entries.set(path, WALK_FOLDER_CLOSED.many); // until its turn comes
  into.queue.push({ path, scopes, group: own });
}

function closeHeavy(group: Group | undefined, entries: Map<string, Seen>): void {
  if (!group || group.members.length <= MOST_IGNORED) return;
  group.isClosed = true;
  for (const path of group.members) entries.delete(path);
  entries.set(group.top, WALK_FOLDER_CLOSED.kind);
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
