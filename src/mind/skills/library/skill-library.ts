// Owns the skills that can be read: found below the local folder and the external ones, kept in a cache, read fresh when asked for.
import { statSync } from 'node:fs';
import { type Clock, systemClock } from '#base/clock.ts';
import type { Database } from '#base/database/connection.ts';
import { errorCode, errorText, ifThere } from '#base/errors.ts';
import { sha256 } from '#base/ids.ts';
import { refuse } from '#base/result.ts';
import type { Shown } from '#core/agent/room.ts';
import { isOffered, isStanding } from '../format/read-header.ts';
import { splitHeader } from '../format/skill-text.ts';
import type { Skill, SkillHeader, SkillReader, SkillRecord, SkillSource } from '../skill.ts';
import { branchStamp, type LinkedFiles, listLinkedFiles, readFolderFile, readText } from './folder-files.ts';
import { contentStamp, createJudging, judgedProblems, refusedSkills } from './judge-skills.ts';
import { refreshSkills, type SkillRefresh } from './refresh-skills.ts';
import { headerOf, openSkillsCache, type SkillJudge, type SkillProblem, type SkillRow } from './skills-cache.ts';

interface SkillLibraryOptions {
  /** The local skills folder; it may not exist yet. */
  readonly root: string;
  /** Further folders, read only. */
  readonly external?: readonly string[];
  /** File of the cache, e.g. `<home>/cache/skills-1.sqlite` (`skillsCacheName`); it may be deleted at any time. */
  readonly cacheFile: string;
  readonly records?: (name: string, folder?: string) => SkillRecord | undefined;
  /** Told once for every problem of the folders: one sentence. */
  readonly warn?: (message: string) => void;
  readonly clock?: Clock;
  /** Asked about every external skill before it is shown; without one they are shown as they are. */
  readonly judge?: SkillJudge;
}

export interface SkillLibrary extends SkillReader {
  /** For the rooms of skills alone: words, rendered indexes, vectors. */
  readonly cache: Database;
  /** Awaited before the first look: returns at once unless a skill came or went since the last refresh. */
  ready(signal?: AbortSignal): Promise<void>;
  /** Looks at every folder and reads what changed, then has external skills judged, for a bounded time; the rest follows by itself. */
  refresh(signal?: AbortSignal): Promise<SkillRefresh>;
  /** Headers that fit these surroundings, drafts and retired ones left out; by name. */
  offered(conditions: Shown): readonly SkillHeader[];
  /** What could not be read, and what is not shown: refused ones, and those that no judge has seen yet. */
  problems(): readonly SkillProblem[];
  /** What the judge found in a skill that is shown all the same. */
  note(name: string): string | undefined;
  /** Category → what its DESCRIPTION.md says. */
  categories(): ReadonlyMap<string, string>;
  linkedFiles(name: string): LinkedFiles | undefined;
  close(): void;
}

/** Without the cache: what tools and surfaces hold. */
export type OpenLibrary = Omit<SkillLibrary, 'cache'>;

export function createSkillLibrary(options: SkillLibraryOptions): SkillLibrary {
  const clock = options.clock ?? systemClock;
  const cache = openSkillsCache(options.cacheFile, clock);
  const records = options.records ?? (() => undefined);
  const headers = createHeaders(cache);
  const { judge } = options;
  const { find, doubt } = createFinder(cache, judge);
  const looking = createLooking(options, { cache, clock }, headers, doubt);
  return {
    cache,
    refresh: looking.refresh,
    ready: looking.ready,
    list: () => allRows(cache).map((row) => toSkill(row, records)),
    get: (name) => {
      const row = find(name);
      return row && toSkill(row, records);
    },
    record: (name) => records(name, find(name)?.folder),
    file: (name, path) => {
      const row = find(name);
      return row
        ? readFolderFile(row.folder, path)
        : refuse('no-such-skill', `There is no skill ${JSON.stringify(name)}.`);
    },
    offered: (conditions) =>
      headers.all().filter((header) => isOffered(header, conditions) && isStanding(records(header.name))),
    problems: () => [
      ...cache.all<SkillProblem>('SELECT path, reason, detail FROM problems'),
      ...(judge ? judgedProblems(cache) : []),
    ],
    note: (name) => {
      const row = find(name);
      return row?.word === 'ask' ? row.finding : undefined;
    },
    categories: () => {
      const rows = cache.all<{ name: string; description: string }>('SELECT name, description FROM categories');
      return new Map(rows.map(({ name, description }) => [name, description]));
    },
    linkedFiles: (name) => {
      const row = find(name);
      return row && listLinkedFiles(row.folder);
    },
    close: () => {
      looking.stop();
      cache.close();
    },
  };
}

/** `doubt.changed`: an external skill was met whose files are not those that were judged. */
function createFinder(cache: Database, judge: SkillJudge | undefined) {
  const doubt = { changed: false };
  const find = (name: string): SkillRow | undefined => {
    const row = findRow(cache, name);
    if (row === undefined || !statSync(row.file, { throwIfNoEntry: false })?.isFile()) return undefined;
    const isJudged = judge === undefined || row.root === 0 || contentStamp(row.folder, judge) === row.content;
    if (!isJudged) doubt.changed = true;
    return isJudged ? row : undefined;
  };
  return { find, doubt };
}

function createLooking(
  { root, external = [], judge, warn: tell = () => undefined }: SkillLibraryOptions,
  ground: { readonly cache: Database; readonly clock: Clock },
  headers: { readonly forget: () => void },
  doubt: { changed: boolean },
) {
  const { cache } = ground;
  const roots = [root, ...external];
  const warn = warnOnce(tell);
  const look = shared(async (signal?: AbortSignal) => {
    const done = await refreshSkills({ ...ground, roots, ...(judge ? { judge } : {}) }, signal);
    headers.forget();
    warn(done.problems);
    return done;
  });
  const failed = (error: unknown) => tell(`External skills could not all be scanned: ${errorText(error)}`);
  const judging = judge && createJudging({ ...ground, judge }, headers.forget, failed);
  const refresh = async (signal?: AbortSignal) => {
    const done = await look(signal);
    await judging?.work(signal);
    if (judge) warn(refusedSkills(cache));
    return done;
  };
  const ready = async (signal?: AbortSignal) => {
    if (doubt.changed) await refresh(signal);
    else if (!isFresh(cache, roots)) await look(signal);
    doubt.changed = false;
  };
  return {
    refresh,
    ready: async (signal?: AbortSignal) => {
      // A session goes on with the skills of the last refresh when the disk is full or busy; an abort and a bug go on their way.
      await ready(signal).catch((error: unknown) => {
        if (errorCode(error) === undefined) throw error;
        tell(`Skills are those of the last time: ${errorText(error)}`);
      });
      warn(cache.all<SkillProblem>("SELECT path, reason, detail FROM problems WHERE reason = 'no-such-folder'"));
    },
    stop: () => judging?.stop(),
  };
}

const COLUMNS = 'id, folder, file, root, category, stamp, name, header, wins, word, finding, content';

function allRows(cache: Database): readonly SkillRow[] {
  return cache.all<SkillRow>(`SELECT ${COLUMNS} FROM skills WHERE wins = 1 ORDER BY root, name, folder`);
}

/** By name, else by `category/name` or the name of the folder. */
function findRow(cache: Database, name: string): SkillRow | undefined {
  const [byName] = cache.all<SkillRow>(`SELECT ${COLUMNS} FROM skills WHERE name = ? AND wins = 1`, name);
  if (byName) return byName;
  const bare = name.slice(name.lastIndexOf('/') + 1);
  const category = name.slice(0, Math.max(0, name.lastIndexOf('/')));
  if (bare === '') return undefined;
  const near = cache.all<SkillRow>(
    `SELECT ${COLUMNS} FROM skills WHERE (name = ?1 OR substr(folder, -length(?1) - 1) IN ('/' || ?1, '\\' || ?1)) AND wins = 1
     ORDER BY root, folder`,
    bare,
  );
  return near.find((row) => category === '' || row.category === category);
}

/** Are the folders that hold skills those of the last refresh? An empty cache is not. */
function isFresh(cache: Database, roots: readonly string[]): boolean {
  const branches = cache.all<{ path: string; stamp: string }>('SELECT path, stamp FROM branches');
  const paths = new Set(branches.map(({ path }) => path));
  return roots.every((root) => paths.has(root)) && branches.every(({ path, stamp }) => branchStamp(path) === stamp);
}

function toSkill(row: SkillRow, records: (name: string, folder?: string) => SkillRecord | undefined): Skill {
  const header = headerOf(row);
  const record = row.root > 0 ? undefined : records(header.name, row.folder);
  const read = once(() => textOf(row.file));
  const hash = once(() => sha256(read()));
  const body = once(() => bodyOf(read()));
  return {
    ...header,
    folder: row.folder,
    source: row.root > 0 ? 'external' : record ? SOURCES[record.createdBy] : 'owner',
    writable: row.root === 0,
    get text() {
      return read();
    },
    get body() {
      return body();
    },
    get hash() {
      return hash();
    },
  };
}

const SOURCES: Readonly<Record<SkillRecord['createdBy'], SkillSource>> = {
  agent: 'agent',
  owner: 'owner',
  import: 'owner',
  install: 'community',
};

/** Empty when the file went away since it was found. */
function textOf(file: string): string {
  const read = ifThere(() => readText(file, file));
  return read?.ok ? read.value : '';
}

function bodyOf(text: string): string {
  const split = splitHeader(text);
  return split.ok ? split.value.body : text;
}

/** All headers in memory, until this or another process changes the cache. */
function createHeaders(cache: Database): { readonly all: () => readonly SkillHeader[]; readonly forget: () => void } {
  let kept: readonly SkillHeader[] | undefined;
  let version = 0;
  return {
    all: () => {
      const now = cache.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? 0;
      if (kept === undefined || now !== version) {
        const rows = cache.all<SkillRow>('SELECT folder, header FROM skills WHERE wins = 1 ORDER BY name');
        kept = rows.map(headerOf);
        version = now;
      }
      return kept;
    },
    forget: () => {
      kept = undefined;
    },
  };
}

function warnOnce(warn: (message: string) => void): (problems: readonly SkillProblem[]) => void {
  const told = new Set<string>();
  return (problems) => {
    for (const { detail } of problems) {
      if (told.has(detail)) continue;
      told.add(detail);
      warn(detail);
    }
  };
}

/** Made when it is first asked for. */
export function once<T>(make: () => T): () => T {
  let kept: { readonly value: T } | undefined;
  return () => {
    kept ??= { value: make() };
    return kept.value;
  };
}

function shared<T>(run: (signal?: AbortSignal) => Promise<T>): (signal?: AbortSignal) => Promise<T> {
  let running: Promise<T> | undefined;
  return (signal) => {
    running ??= run(signal).finally(() => {
      running = undefined;
    });
    return running;
  };
}
