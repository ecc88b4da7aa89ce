// Owns completing the flags of a run with this home's places (curator notes 8.1). Reads no file, but where links lead.
// Invariant: every path is absolute afterwards, and the planner reads the same flags as the run.

import type { JsonObject } from '#base/json.ts';
import { typedPath } from '#base/paths/typed-path.ts';
import type { CuratorGround } from '../curator-ground.ts';
import { type RunFlags, readRunFlags, snakeCase } from '../plan/run-flags.ts';
import { realPath } from './real-path.ts';

export interface RunSettings {
  /** For the planner. */
  readonly given: JsonObject;
  readonly flags: RunFlags;
  /** The skills folder is the home's own. */
  readonly isLocal: boolean;
  /** Both write flags. */
  readonly writes: boolean;
}

/** `known`: what only the disk and the configuration tell, by the planner's names. */
export function runSettings({ places }: CuratorGround, flags: JsonObject, known: JsonObject = {}): RunSettings {
  const { skillBackups: backups } = places;
  const own = readRunFlags({ backup_dir: backups, ...plain(flags) }, places.home);
  const at = (path: string) => typedPath(path, { cwd: places.home, userHome: places.userHome });
  const skillsDir = at(own.places.skillsDir);
  const backupDir = at(own.places.backupDir);
  const given = {
    ...plain(flags),
    skills_dir: skillsDir,
    backup_dir: backupDir,
    hermes_home: places.home,
    local_skills_dir: places.skills,
    restore_drill_state_path: at(own.checks.drillStatePath),
    verify_cwd: at(own.checks.verifyCwd ?? skillsDir),
    ...known,
  };
  const read = readRunFlags(given, places.home);
  return {
    given,
    flags: read,
    isLocal: realPath(skillsDir) === realPath(places.skills),
    writes: read.policy.apply && read.policy.approve,
  };
}

/** Under one spelling, so that a completed flag stands for the typed one. */
function plain(flags: JsonObject): JsonObject {
  const entries = Object.entries(flags).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(entries.map(([key, value]) => [SPELLINGS[snakeCase(key)] ?? snakeCase(key), value]));
}

const SPELLINGS: Readonly<Record<string, string>> = { restore_drill_state_file: 'restore_drill_state_path' };
