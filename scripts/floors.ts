/**
 * Owns the table of floors and arrows: which room may import which. It is an allow-list; what is not
 * here is forbidden. `scripts/graph.ts` enforces it and draws ARCHITECTURE.md from it.
 * It does not know which rooms exist yet: a floor may name rooms that come later.
 */

export interface Floor {
  readonly name: string;
  readonly rooms: readonly string[];
}

/** From the lowest to the highest. A room may import every room on a lower floor. */
export const floors: readonly Floor[] = [
  { name: 'base', rooms: ['base'] },
  { name: 'core', rooms: ['core/model', 'core/reflex', 'core/agent', 'core/tools'] },
  { name: 'mind', rooms: ['mind/sessions', 'mind/evidence', 'mind/memory', 'mind/skills', 'mind/learning'] },
  {
    name: 'extensions',
    rooms: ['extensions/curator', 'extensions/rlm', 'extensions/hive', 'extensions/mcp', 'extensions/schedule'],
  },
  { name: 'fleet', rooms: ['fleet/styx', 'fleet/golem', 'fleet/market', 'fleet/meta'] },
  {
    name: 'surfaces',
    rooms: ['surfaces/app', 'surfaces/cli', 'surfaces/tui', 'surfaces/web', 'surfaces/gateway', 'surfaces/api'],
  },
];

/** Arrows inside one floor. */
export const sameFloor: Readonly<Record<string, readonly string[]>> = {
  'core/agent': ['core/model'],
  'core/reflex': ['core/model', 'core/agent'],
  'core/tools': ['core/agent', 'core/model'],
  'mind/evidence': ['mind/sessions'],
  'mind/memory': ['mind/sessions', 'mind/evidence'],
  'mind/skills': ['mind/evidence'],
  'mind/learning': ['mind/sessions', 'mind/evidence', 'mind/memory', 'mind/skills'],
  'fleet/golem': ['fleet/styx'],
  'fleet/meta': ['fleet/styx', 'fleet/golem', 'fleet/market'],
  'surfaces/cli': ['surfaces/app'],
  'surfaces/tui': ['surfaces/app'],
  'surfaces/web': ['surfaces/app'],
  'surfaces/gateway': ['surfaces/app'],
  'surfaces/api': ['surfaces/app'],
};

/** Arrows on which only types may travel. */
export const typesOnly: readonly (readonly [from: string, to: string])[] = [['fleet/meta', 'fleet/golem']];

/** Floors that a single room alone may import; everybody else above them may not. */
export const onlyImportedBy: Readonly<Record<string, readonly string[]>> = { extensions: ['surfaces/app'] };

/** Rooms that may not reach others, directly or through what they load: no inference on the market. */
export const unreachable: Readonly<Record<string, readonly string[]>> = {
  'fleet/market': ['core/model', 'core/agent'],
};

/** `src/public` re-exports and nothing else; `src/testing` is published and imported by no floor. */
export const besideTheFloors: Readonly<Record<string, readonly string[]>> = {
  public: ['base', 'core', 'mind', 'extensions', 'fleet', 'surfaces', 'testing'],
  testing: ['base', 'core', 'mind'],
};

export const forbiddenNames: readonly string[] = ['utils', 'helpers', 'common', 'misc', 'manager', 'index', 'types'];

export const limits = { fileLines: 600, filesInFolder: 20 } as const;
