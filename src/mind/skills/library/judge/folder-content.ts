// Owns telling whether the files of a skill's folder are those that were judged: cheaply by a stamp, certainly by a hash.
// Invariants: no link is followed; both cover the same files, and at least those that a judge reads.
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '#base/ids.ts';

const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules', '__pycache__', '.venv', '.DS_Store']);
/** What is above these limits is stamped by size and time alone. */
const MOST_ENTRIES = 2_000;
const MOST_BYTES = 64 * 1_048_576;

interface Entry {
  readonly path: string;
  readonly stamp: string;
  /** Of a plain file. */
  readonly size?: number | undefined;
  /** Where a link leads. */
  readonly content?: string;
}

/** Changes when a file comes, goes or is written. Throws what the file system throws. */
export function folderStamp(folder: string): string {
  return sha256(
    entriesBelow(folder)
      .map(({ path, stamp }) => `${path}\0${stamp}`)
      .join('\n'),
  );
}

/** The same for the same files, wherever they lie. Throws what the file system throws. */
export function folderHash(folder: string): string {
  const hash = createHash('sha256');
  let room = MOST_BYTES;
  for (const { path, size, content, stamp } of entriesBelow(folder)) {
    room -= size ?? 0;
    hash.update(`${path}\0${size ?? ''}\0`);
    if (size === undefined) hash.update(content ?? stamp);
    else hash.update(room >= 0 ? readFileSync(join(folder, path)) : stamp);
  }
  return hash.digest('hex');
}

function entriesBelow(folder: string): readonly Entry[] {
  const found: Entry[] = [];
  visit(folder, '', found);
  return found;
}

function visit(root: string, below: string, found: Entry[]): void {
  const entries = readdirSync(join(root, below), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (found.length >= MOST_ENTRIES) return;
    if (SKIPPED.has(entry.name)) continue;
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) visit(root, path, found);
    else found.push(entryOf(join(root, path), path));
  }
}

function entryOf(full: string, path: string): Entry {
  const facts = lstatSync(full);
  const { size, mtimeMs, ctimeMs, ino } = facts;
  const stamp = `${size}:${mtimeMs}:${ctimeMs}:${ino}`;
  if (facts.isSymbolicLink()) return { path, stamp, content: `link ${readlinkSync(full)}` };
  return { path, stamp, size: facts.isFile() ? size : undefined };
}
