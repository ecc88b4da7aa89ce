// Owns the states of everything in a folder at one moment, as a value: made from a look at the folder, what is known from the last look
// and the copies; and what differs between two. Invariants: bytes are read and copied only when a file is new or its stamp is; what was not
// there is said to be new only where the folder around it had been seen as a whole.
import { dirname, join } from 'node:path';
import { sha256 } from '#base/ids.ts';
import { isJsonObject, parseJson } from '#base/json.ts';
import type { FileCopies } from './file-copies.ts';
import { isLink, MEGABYTE, readState } from './file-state.ts';
import { type Seen, type Sight, walkFolder } from './walk-folder.ts';

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
