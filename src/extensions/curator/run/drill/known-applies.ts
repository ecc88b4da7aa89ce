// Owns which apply counts as the last one: the state file's, or a newer one that the door knows and the file missed, because the process
// was killed in between (curator notes 12, 21.14). Knows the door by its versions. Invariant: an apply that was undone does not count;
// manifests compare by where they truly lie, a copy of a backup counts as the backup.
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isoTime, parseTime } from '#base/clock.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { SkillDoor, SkillVersion } from '#mind/skills/skill-door.ts';
import { realPath } from '../real-path.ts';

export interface ApplyQuestion {
  readonly state: JsonObject;
  readonly door: Pick<SkillDoor, 'versions'>;
  /** Names of the skills that the curator may have written. */
  readonly skills: readonly string[];
  /** Absolute folder of the door's backups. */
  readonly backups: string;
}

/** The state with its paths resolved and its last apply brought up to date. */
export function currentDrillState({ state, door, skills, backups }: ApplyQuestion): JsonObject {
  const placed = (entry: unknown): JsonObject | null => {
    if (!isJsonObject(entry)) return null;
    return { ...entry, manifest_path: manifestPlace(String(entry.manifest_path), backups) };
  };
  const told = placed(state.last_apply);
  const standing = skills.flatMap((name) => door.versions(name)).filter(isStandingApply);
  const newest = newestOf(standing);
  const known = told === null ? undefined : versionOf(door, told, backups);
  const last_drill = placed(state.last_drill);
  if (told === null || known?.rolledBackAt !== undefined)
    return { ...state, last_apply: newest ? applyOf(newest) : null, last_drill };
  const isNewer = newest !== undefined && newest.at > knownAt(told, known);
  return { ...state, last_apply: isNewer ? applyOf(newest) : told, last_drill };
}

/** Epoch ms of the newest apply that the door knows; 0: none. */
export function newestApplyAt(door: Pick<SkillDoor, 'versions'>, skills: readonly string[]): number {
  return newestOf(skills.flatMap((name) => door.versions(name)).filter(isStandingApply))?.at ?? 0;
}

/** Where a manifest truly lies; the door's own when the folder of its backup bears the same stamp. */
export function manifestPlace(path: string, backups: string): string {
  const own = join(backups, basename(dirname(resolve(path))), 'manifest.json');
  return realPath(existsSync(own) ? own : resolve(path));
}

function isStandingApply({ actor, action, rolledBackAt }: SkillVersion): boolean {
  return actor === 'curator' && action !== 'rollback' && rolledBackAt === undefined;
}

function newestOf(versions: readonly SkillVersion[]): SkillVersion | undefined {
  return versions.reduce<SkillVersion | undefined>(
    (best, next) => (best && best.at >= next.at ? best : next),
    undefined,
  );
}

function versionOf(door: Pick<SkillDoor, 'versions'>, told: JsonObject, backups: string): SkillVersion | undefined {
  const { skill_name: skill, manifest_path: path } = told;
  if (typeof skill !== 'string') return undefined;
  return door.versions(skill).find(({ manifestPath }) => manifestPlace(manifestPath, backups) === path);
}

function knownAt(told: JsonObject, known: SkillVersion | undefined): number {
  if (typeof told.known_at === 'number') return told.known_at;
  return known?.at ?? parseTime(String(told.applied_at)) ?? 0;
}

function applyOf({ manifestPath, at, skill }: SkillVersion): JsonObject {
  return { manifest_path: realPath(manifestPath), applied_at: isoTime(at), target_path: null, skill_name: skill };
}
