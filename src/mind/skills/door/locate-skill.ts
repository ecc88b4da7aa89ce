// Owns finding the folder of a skill as the disk has it at this moment: the reader may be a moment behind what was just written or
// deleted. Knows no cache. Invariant: what is given out is there; what was written here is found though the reader does not know it yet.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DoorParts, LocatedSkill } from './door-parts.ts';
import { lastVersion } from './history/version-rows.ts';

export async function locateSkill(
  { locate, database, places }: Pick<DoorParts, 'locate' | 'database' | 'places'>,
  name: string,
): Promise<LocatedSkill | undefined> {
  const found = await locate(name);
  if (found !== undefined && existsSync(found.folder)) return found;
  const row = lastVersion(database, name);
  if (row === undefined || row.new_tree === null) return undefined;
  const folder = join(places.root, row.folder);
  return existsSync(folder) ? { folder, source: 'agent', writable: true } : undefined;
}
