// Owns which reference files of a skill go when a new one comes (curator notes 10, 21.6). Knows no door. Invariant: reads one list of
// names; the new file and the two newest others stay, and none without a block that could point to it.
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '#base/errors.ts';
import { locateBlock } from '#mind/skills/format/managed-block.ts';
import type { PreparedUpdate } from '../../block/prepare-update.ts';
import { prunableReferences } from '../../block/reference-file.ts';

/** Paths below the skill's folder, oldest first; nothing when no new file comes and the block stays. */
export function staleReferences(target: string, skill: string, update: PreparedUpdate): readonly string[] {
  const [current] = update.supportFiles;
  if (current === undefined && locateBlock(update.content).state !== 'none') return [];
  return prunableReferences(referencesIn(dirname(target)), skill, current?.path);
}

function referencesIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(join(folder, 'references'), { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => `references/${name}`);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return [];
  }
}
