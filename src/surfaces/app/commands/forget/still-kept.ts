// Owns finding where a forgotten text still stands, and how each place is cleared. Reads only.
// Invariant: every file of the home is looked at, byte for byte; what is named here is the owner's own to decide on.
import { join } from 'node:path';
import { variantsOf } from '#mind/sessions/forget/select-messages.ts';
import type { Home } from '../../home/home.ts';
import { filesBelow, holdsBytes } from './home-files.ts';

export interface KeptPlace {
  /** Absolute. */
  readonly path: string;
  /** What clears it, one sentence or command. */
  readonly remedy: string;
}

export function placesWith(home: Home, text: string): readonly KeptPlace[] {
  const variants = variantsOf(text);
  return [...filesBelow(home.root)]
    .filter((name) => holdsBytes(join(home.root, name), variants))
    .map((name) => ({ path: join(home.root, name), remedy: remedyOf(name) }));
}

/** Old copies of the database hold everything that was said until then. */
export function oldCopies(home: Home): readonly KeptPlace[] {
  return [...filesBelow(home.root)]
    .filter((name) => OLD_COPY.test(name))
    .map((name) => ({ path: join(home.root, name), remedy: COPY_REMEDY }));
}

export const OLD_COPY = /\.(?:before|corrupt)-[^/\\]*$/;
const COPY_REMEDY = 'an old copy of the database; delete the file if you do not need it';

const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [OLD_COPY, COPY_REMEDY],
  [/^memories[/\\](?:MEMORY|USER)\.md$/, '`talaria memory remove TEXT`, or --everywhere'],
  [/^memories[/\\]/, 'a kept copy; delete the file'],
  [/^skills[/\\]/, 'edit the skill, `talaria skills remove NAME`, or --everywhere'],
  [
    /^backups[/\\]/,
    'the earlier text of a skill; delete the file, or --everywhere (it can no longer be rolled back to)',
  ],
  [/-(?:wal|shm)$/, 'another process has the database open; it goes when that one ends'],
  [/\.(?:db|sqlite)$/, 'a name in it holds the text, or another process has it open'],
];

function remedyOf(name: string): string {
  return REMEDIES.find(([pattern]) => pattern.test(name))?.[1] ?? 'edit or delete the file';
}
