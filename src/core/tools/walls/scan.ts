// Owns the search through folders that are shown for what must not be: files by their names, sockets and pipes. Knows no home and no list.
// Invariant: bounded work, level by level, no link followed; a few mounts are enough to hide what was found.
import type { Dirent } from 'node:fs';
import { dirname } from 'node:path';
import { kindsOf } from './mounts.ts';

export interface Scan {
  /** Folders to begin with. */
  readonly tops: readonly string[];
  readonly levels: number;
  readonly folders: number;
  /** Is it what is looked for? */
  readonly isFound: (name: string, path: string) => boolean;
  /** Neither looked into nor found. */
  readonly isSkipped: (name: string, path: string) => boolean;
}

const MOST_ENTRIES = 40_000;
/** Below one top. Every mount costs each command a fifth of a millisecond. */
const MOST_FOUND = 40;

interface Room {
  readonly top: string;
  readonly path: string;
}

/** What was found, or, where that is much below one top, the folders that hold it. */
export function scanFolders(scan: Scan): readonly string[] {
  const left = { folders: scan.folders, entries: MOST_ENTRIES };
  const found = new Map<string, string[]>(scan.tops.map((top) => [top, []]));
  let level: readonly Room[] = scan.tops.map((top) => ({ top, path: top }));
  for (let depth = 0; depth < scan.levels; depth += 1)
    level = level.flatMap((room) => {
      if (left.folders <= 0 || left.entries <= 0) return [];
      const entries = kindsOf(room.path);
      left.folders -= 1;
      left.entries -= entries.length;
      return entries.flatMap((entry) => look(entry, room, scan, found.get(room.top)));
    });
  return [...found].flatMap(([top, paths]) => fewer(paths, top));
}

/** Notes what is looked for, and gives a folder that has to be looked into. */
function look(entry: Dirent, { top, path }: Room, scan: Scan, found: string[] | undefined): readonly Room[] {
  const full = `${path}/${entry.name}`;
  if (scan.isSkipped(entry.name, full)) return [];
  const isWanted = isDoor(entry) || scan.isFound(entry.name, full);
  if (isWanted) found?.push(full);
  return !isWanted && entry.isDirectory() ? [{ top, path: full }] : [];
}

/** Another program listens there, and a read-only wall keeps nobody from speaking to it. */
function isDoor(entry: Dirent): boolean {
  return entry.isSocket() || entry.isFIFO();
}

/** The folders above, level by level, until they are few. */
function fewer(paths: readonly string[], top: string): readonly string[] {
  let cut = [...new Set(paths)];
  while (cut.length > MOST_FOUND) {
    const deepest = Math.max(...cut.map(depthOf));
    if (deepest <= depthOf(top)) break;
    cut = [...new Set(cut.map((path) => (depthOf(path) === deepest ? dirname(path) : path)))];
  }
  return cut.filter((path) => !cut.some((other) => path.startsWith(`${other}/`)));
}

export function depthOf(path: string): number {
  return path === '/' ? 0 : path.split('/').length;
}
