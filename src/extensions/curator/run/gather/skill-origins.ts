// Owns asking the disk where skills come from: manifests beside a skills folder, links resolved, records (seed 002, provenance gate;
// curator notes 9). The verdict is sources/classify-source. Invariant: fails closed; what is reached by a link or stands outside the local
// folder is never the agent's, and a manifest that is there and cannot be read makes nothing writable.
import { readFileSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { errorCode } from '#base/errors.ts';
import { folderBelow } from '#mind/skills/record/record-of-folder.ts';
import { type CuratorSource, classifySource } from '../../sources/classify-source.ts';
import { bundledNames, hubNames, type ListedNames } from '../../sources/read-manifest.ts';

export interface OriginParts {
  /** Root of Talaria's home; its `skills` is the local folder. */
  readonly home: string;
  /** The folder whose skills are asked about. */
  readonly skillsDir: string;
  /** Absolute. */
  readonly externalDirs: readonly string[];
  /** `folder`: of the skill, below the local folder, parted by `/`. */
  readonly createdBy: (name: string, folder: string) => string | undefined;
}

export interface SkillOrigins {
  readonly bundledCount: number;
  readonly hubCount: number;
  /** Paths of lists that are there and cannot be read: while one is, no skill is the agent's. */
  readonly unreadable: readonly string[];
  /** `path`: absolute, of SKILL.md as it was reached. */
  sourceOf(name: string, path: string): CuratorSource;
}

export function readOrigins({ home, skillsDir, externalDirs, createdBy }: OriginParts): SkillOrigins {
  const local = join(home, 'skills');
  const realLocal = realOf(local);
  /** Real paths, with the local folder under its own name wherever it truly lies. */
  const placeOf = (path: string): string => {
    const real = realOf(path);
    const below = relative(realLocal, real);
    return below.startsWith('..') || isAbsolute(below) ? real : join(local, below);
  };
  const bundledPath = join(skillsDir, '.bundled_manifest');
  const hubPath = join(skillsDir, '.hub', 'lock.json');
  const bundled = readText(bundledPath);
  const hub = readText(hubPath);
  const names = [bundledNames(bundled), hubNames(hub)] as const;
  const outside = externalDirs.map(placeOf);
  return {
    bundledCount: countOf(names[0]),
    hubCount: countOf(names[1]),
    unreadable: [bundledPath, hubPath].filter((_, at) => names[at] === 'unreadable'),
    sourceOf: (name, path) => {
      const place = placeOf(path);
      const isOwnWay = place === resolve(path) || place === join(local, relative(realLocal, resolve(path)));
      const known = { ...(bundled === undefined ? {} : { bundled }), ...(hub === undefined ? {} : { hub }) };
      const maker = isOwnWay ? createdBy(name, folderBelow(local, dirname(place))) : undefined;
      return classifySource({ path: place, name, home, externalDirs: outside, createdBy: maker ?? null, ...known });
    },
  };
}

function countOf(names: ListedNames): number {
  return names === 'unreadable' ? 0 : names.size;
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

/** The real path of what exists of it. */
function realOf(path: string): string {
  const full = resolve(path);
  try {
    return realpathSync(full);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    const at = full.lastIndexOf(sep);
    return at <= 0 ? full : join(realOf(full.slice(0, at)), full.slice(at + 1));
  }
}
