// Owns the library of skills as the app sees it before there are any: most starts have none, and reading them takes modules and a cache.
// Knows no folder's content. Invariant: until it is loaded it answers as an empty library does; `ready` and `refresh` load it, `ready`
// only where a folder could hold a skill.
import { existsSync } from 'node:fs';
import { refuse } from '#base/result.ts';
import type { OpenLibrary } from '#mind/skills/library/skill-library.ts';
import type { SkillIndex } from '#mind/skills/offer/skill-index.ts';
import type { SkillRecords } from '#mind/skills/record/skill-records.ts';
import type { SkillReading } from './skill-reading.ts';

export interface LazyReading {
  readonly library: OpenLibrary;
  /** Empty text while nothing is loaded. */
  readonly index: SkillIndex;
  /** Undefined while nothing is loaded: then there is no skill. */
  readonly loaded: () => SkillReading | undefined;
}

export interface ReadingPlaces {
  /** The local folder; it may not exist yet. */
  readonly root: string;
  readonly external: readonly string[];
  readonly records: Pick<SkillRecords, 'get'>;
}

export function createLazyReading(places: ReadingPlaces, make: () => Promise<SkillReading>): LazyReading {
  const { root, external, records } = places;
  let current: SkillReading | undefined;
  let loading: Promise<SkillReading> | undefined;
  const load = (): Promise<SkillReading> => {
    loading ??= make().then(
      (reading) => {
        current = reading;
        return reading;
      },
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    );
    return loading;
  };
  const isPossible = () => current !== undefined || external.length > 0 || existsSync(root);
  const library: OpenLibrary = {
    ready: async (signal) => (isPossible() ? (await load()).library.ready(signal) : undefined),
    refresh: async (signal) => (await load()).library.refresh(signal),
    list: () => current?.library.list() ?? [],
    get: (name) => current?.library.get(name),
    record: records.get,
    file: (name, path) =>
      current?.library.file(name, path) ?? refuse('no-such-skill', `There is no skill ${JSON.stringify(name)}.`),
    offered: (conditions) => current?.library.offered(conditions) ?? [],
    problems: () => current?.library.problems() ?? [],
    note: (name) => current?.library.note(name),
    categories: () => current?.library.categories() ?? new Map(),
    linkedFiles: (name) => current?.library.linkedFiles(name),
    close: () => current?.library.close(),
  };
  return { library, index: lazyIndex(() => current), loaded: () => current };
}

function lazyIndex(loaded: () => SkillReading | undefined): SkillIndex {
  return {
    render: (request) => loaded()?.index.render(request) ?? { text: '', names: [], total: 0 },
    renew: () => loaded()?.index.renew(),
  };
}
