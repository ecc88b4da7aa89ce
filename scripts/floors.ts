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

export const limits = { fileLines: 600 } as const;

/** Non-blank lines and files of each room. A higher figure needs a decision record; a room that shrank by a tenth takes its new one. */
export const budgets: Readonly<Record<string, readonly [lines: number, files: number]>> = {
  base: [4_111, 51],
  'core/model': [7_902, 84],
  'core/reflex': [1_164, 11],
  'core/agent': [3_910, 44],
  'core/tools': [10_112, 87],
  'mind/sessions': [6_087, 55],
  'mind/evidence': [5_661, 63],
  'mind/memory': [1_554, 20],
  'mind/skills': [7_409, 89],
  'mind/learning': [4_369, 61],
  'extensions/curator': [9_559, 135],
  'extensions/rlm': [26_602, 382],
  'extensions/hive': [9_312, 131],
  'surfaces/app': [12_001, 150],
  'surfaces/cli': [4_866, 49],
  public: [151, 8],
  testing: [4_166, 60],
};

/** What there is too much of, as many as there are today: the counts only fall, and a fall is written down here. */
export const ratchets = {
  /** Folders with more than 20 entries. */
  crowdedFolders: 7,
  /** Folders below a room with fewer than 5 files. */
  smallFolders: 82,
  /** Files more than 4 segments below `src`. */
  deepFiles: 493,
  /** Files under 80 lines with one reader in their room; threads, tables and what is imported later stand alone. */
  thinFiles: 238,
  /** Functions with more than 4 positional parameters. */
  longSignatures: 1,
  /** Interfaces that are named in one place beside their declaration. */
  loneInterfaces: 367,
  /** String, template and regex literals over 200 characters outside of `*.rules.ts`. */
  longLiterals: 169,
  /** Bytes of such literals in `*.rules.ts`. */
  tableBytes: 70_297,
  /** Files of `src` that a test takes beside the fronts of rooms, the doubles and what is published. */
  deepEdges: 2_219,
} as const;
