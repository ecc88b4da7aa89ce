// Owns the skills of one run as the planner wants them, and asking the disk where they come from: manifests beside a skills folder, links resolved,
// records (seed 002, provenance gate; curator notes 8.3, 9).
import { readFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { errorCode } from '#base/errors.ts';
import type { Ground, Mind } from '#core/agent/room.ts';
import { realPath } from '#core/tools/files/file-access.ts';
import { once } from '#mind/skills/library/skill-library.ts';
import { folderBelow, recordOfFolder } from '#mind/skills/skill-records.ts';
import { bundledNames, type CuratorSource, classifySource, hubNames, parseSkillHeader } from '../block/skill-source.ts';
import { readSkillFile, type SkillPath, walkSkillFiles } from '../skill-files.ts';
import type { PlanningSkill } from './plan-entry.ts';

export async function gatherSkills(
  ground: Ground,
  mind: Mind,
  asked: { readonly skillsDir: string; readonly isLocal: boolean; readonly wanted: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<{ readonly skills: readonly PlanningSkill[]; readonly origins: SkillOrigins }> {
  const { skillsDir, isLocal, wanted } = asked;
  const origins = readOrigins(ground.places.home, skillsDir, mind.externalSkills, (name, folder) =>
    isLocal ? recordOfFolder(mind.state, { name, folder })?.createdBy : undefined,
  );
  if (!isLocal) return { skills: found(skillsDir, origins, () => true), origins };
  await mind.skills.ready(signal);
  const isPinned = (name: string) => mind.skills.record(name)?.pinned === true;
  const known = mind.skills.list().map(({ name, folder }) => {
    const path = join(folder, 'SKILL.md');
    return planningSkill(name, path, origins, { isPinned: () => isPinned(name), read: () => readSkillFile(path) });
  });
  // What the evidence names and the library does not list: behind a link, or no text any more. To be shown with its reason, not written.
  const names = new Set(known.map(({ name }) => name));
  const missing = new Set([...wanted].filter((name) => !names.has(name)));
  if (missing.size === 0) return { skills: known, origins };
  const isMeant = ({ path, linked }: SkillPath) => linked || missing.has(basename(dirname(path)));
  const unlisted = found(skillsDir, origins, isMeant).filter(({ name }) => missing.has(name));
  return { skills: [...known, ...unlisted], origins };
}

/** By the names of their headers, so each that is meant is read. */
function found(root: string, origins: SkillOrigins, isMeant: (place: SkillPath) => boolean): readonly PlanningSkill[] {
  return [...walkSkillFiles(root)].filter(isMeant).flatMap(({ path }) => {
    const read = readSkillFile(path);
    if (!read.ok && read.reason === 'skill-file-not-found') return [];
    const name = (read.ok ? parseSkillHeader(read.value)?.name : null) ?? basename(dirname(path));
    return [planningSkill(name, path, origins, { isPinned: () => false, read: () => read })];
  });
}

interface Looks {
  readonly isPinned: () => boolean;
  readonly read: () => ReturnType<typeof readSkillFile>;
}

function planningSkill(name: string, path: string, origins: SkillOrigins, looks: Looks): PlanningSkill {
  const read = once(looks.read);
  const textOrReason = () => {
    const text = read();
    return text.ok ? { text: text.value, reason: null } : { text: '', reason: text.reason };
  };
  const source = once(() => origins.sourceOf(name, path));
  const refusal = once(() => (looks.isPinned() ? 'pinned-skill' : textOrReason().reason));
  return {
    name,
    path,
    get text() {
      return textOrReason().text;
    },
    get source() {
      return source();
    },
    get refusal() {
      return refusal();
    },
  };
}

/** The same skill, not to be looked at any more in this run. */
export function refusedSkill({ name, path, source }: PlanningSkill, reason: string): PlanningSkill {
  return { name, path, source, text: '', refusal: reason };
}

type SkillOrigins = ReturnType<typeof readOrigins>;

/**
 * `home`: its `skills` is the local folder. `createdBy`: of the skill in a folder below the local one, parted by `/`. `unreadable`: paths of
 * lists that are there and cannot be read: while one is, no skill is the agent's.
 */
function readOrigins(
  home: string,
  skillsDir: string,
  externalDirs: readonly string[],
  createdBy: (name: string, folder: string) => string | undefined,
) {
  const local = join(home, 'skills');
  const realLocal = realPath(local);
  /** Real paths, with the local folder under its own name wherever it truly lies. */
  const placeOf = (path: string): string => {
    const real = realPath(resolve(path));
    const below = relative(realLocal, real);
    return below.startsWith('..') || isAbsolute(below) ? real : join(local, below);
  };
  const [bundledPath, hubPath] = [join(skillsDir, '.bundled_manifest'), join(skillsDir, '.hub', 'lock.json')];
  const [bundled, hub] = [readText(bundledPath), readText(hubPath)];
  const [bundledList, hubList] = [bundledNames(bundled), hubNames(hub)];
  const listed = { ...(bundled === undefined ? {} : { bundled }), ...(hub === undefined ? {} : { hub }) };
  const outside = externalDirs.map(placeOf);
  return {
    bundledCount: bundledList === 'unreadable' ? 0 : bundledList.size,
    hubCount: hubList === 'unreadable' ? 0 : hubList.size,
    unreadable: [
      ...(bundledList === 'unreadable' ? [bundledPath] : []),
      ...(hubList === 'unreadable' ? [hubPath] : []),
    ],
    /** `path`: absolute, of SKILL.md as it was reached. */
    sourceOf: (name: string, path: string): CuratorSource => {
      const place = placeOf(path);
      const isOwnWay = place === resolve(path) || place === join(local, relative(realLocal, resolve(path)));
      const maker = isOwnWay ? createdBy(name, folderBelow(local, dirname(place))) : undefined;
      return classifySource({ path: place, name, home, externalDirs: outside, createdBy: maker ?? null, ...listed });
    },
  };
}

/** Absent: there is none. null: it cannot be read. */
function readText(path: string): string | null | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    if (errorCode(error) === undefined && !(error instanceof TypeError)) throw error;
    return null;
  }
}
