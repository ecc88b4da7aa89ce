// Owns which folder the record of a skill speaks of: records go by name, and a name may come to lie in another folder than the one that
// was recorded (seed 002, provenance gate). Knows no disk. Invariant: fails closed; what somebody else put under a recorded name, beside
// it or in its place after it was deleted, has no record.
import { posix, relative, sep } from 'node:path';
import type { Database } from '#base/database/connection.ts';
import { lastVersion } from '../door/history/version-rows.ts';
import { findRecord, type RecordRow } from './record-rows.ts';

export interface RecordedPlace {
  readonly name: string;
  /** Below the skills root, parted by `/`. */
  readonly folder: string;
}

/** Where a folder lies below the skills root, as versions know it. Both absolute. */
export function folderBelow(root: string, folder: string): string {
  return relative(root, folder).split(sep).join('/');
}

/** The record, when it speaks of the skill that stands in this folder now. */
export function recordOfFolder(database: Database, place: RecordedPlace): RecordRow | undefined {
  const isDeleted = lastVersion(database, place.name)?.new_tree === null;
  return isDeleted || !isRecordedFolder(database, place) ? undefined : findRecord(database, place.name);
}

/** By the newest version, which is always one that stands; a record without versions is of the folder that bears its name. */
export function isRecordedFolder(database: Database, { name, folder }: RecordedPlace): boolean {
  const last = lastVersion(database, name);
  return last === undefined ? posix.basename(folder) === name : last.folder === folder;
}
