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
    rooms: [
      ...['extensions/curator', 'extensions/rlm', 'extensions/hive', 'extensions/mcp', 'extensions/delegate'],
      ...['extensions/schedule', 'extensions/mixture', 'extensions/user'],
    ],
  },
  { name: 'fleet', rooms: ['fleet/styx', 'fleet/golem', 'fleet/market', 'fleet/meta'] },
  {
    name: 'surfaces',
    rooms: [
      ...['surfaces/app', 'surfaces/cli', 'surfaces/tui', 'surfaces/web', 'surfaces/gateway', 'surfaces/api'],
      'surfaces/acp',
    ],
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
  'surfaces/cli': [
    ...['surfaces/app', 'surfaces/tui', 'surfaces/api', 'surfaces/acp', 'surfaces/gateway', 'surfaces/web'],
  ],
  'surfaces/tui': ['surfaces/app', 'surfaces/cli'],
  'surfaces/web': ['surfaces/app'],
  'surfaces/gateway': ['surfaces/app'],
  'surfaces/api': ['surfaces/app'],
  'surfaces/acp': ['surfaces/app'],
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
  base: [5_589, 46],
  'core/model': [7_204, 31],
  'core/reflex': [1_162, 8],
  'core/agent': [4_412, 25],
  'core/tools': [9_647, 52],
  'mind/sessions': [6_335, 38],
  'mind/evidence': [5_578, 39],
  'mind/memory': [1_542, 10],
  'mind/skills': [7_459, 39],
  'mind/learning': [3_975, 20],
  'extensions/curator': [6_702, 42],
  'extensions/rlm': [15_414, 103],
  'extensions/hive': [8_128, 45],
  'extensions/delegate': [300, 3],
  'extensions/mcp': [1_172, 7],
  'extensions/mixture': [130, 1],
  'extensions/schedule': [1_085, 5],
  'extensions/user': [408, 3],
  'fleet/styx': [2_000, 12],
  'fleet/golem': [7_215, 38],
  'fleet/market': [2_803, 12],
  'fleet/meta': [6_468, 33],
  'surfaces/app': [10_121, 58],
  'surfaces/cli': [4_920, 20],
  'surfaces/tui': [1_763, 7],
  'surfaces/api': [1_073, 5],
  'surfaces/acp': [400, 3],
  'surfaces/gateway': [2_287, 11],
  'surfaces/web': [850, 6],
  public: [160, 8],
  testing: [3_666, 16],
};

/** Files of a room that its tests take, beside `room.ts`; those of a room of the fleet take no other of it. At most eight. */
export const fronts: Readonly<Record<string, readonly string[]>> = {
  base: ['ethereum.ts'],
  'core/model': [
    ...['message.ts', 'model-client.ts', 'model-table.ts', 'pictures.ts', 'text-tools.ts'],
    ...['providers/openai-client.ts', 'providers/anthropic-client.ts'],
  ],
  'fleet/styx': [
    ...['home-log.ts', 'clade.ts', 'parcels.ts', 'owner-key.ts', 'words.ts', 'link.ts', 'link-state.ts'],
    'kit.ts',
  ],
  'fleet/market': [
    ...['listing.ts', 'seal.ts', 'chain.ts', 'payment.ts', 'shop.ts', 'catalogue.ts', 'purchase.ts'],
    'market-rows.ts',
  ],
  'mind/skills': ['format/testament.ts'],
  'fleet/meta': [
    ...['library/worth.ts', 'library/library-home.ts', 'library/reception.ts', 'library/curation.ts'],
    ...['library/loadout.ts', 'conversation.ts', 'listening.ts', 'trade/room.ts'],
  ],
  'surfaces/api': ['commands.ts'],
  'surfaces/web': ['commands.ts'],
  'surfaces/gateway': [
    ...['commands.ts', 'desk.ts', 'mailbox.ts', 'people.ts', 'telegram.ts', 'telegram-text.ts', 'webhook.ts'],
  ],
  'surfaces/tui': [
    ...['commands.ts', 'board.ts', 'event-table.ts', 'feed.ts', 'windows.ts', 'drawing.ts', 'screen.ts'],
  ],
  'fleet/golem': [
    ...['life.ts', 'vitals.ts', 'births.ts', 'domains/sim-world.ts', 'domains/watch.ts'],
    ...['domains/coding.ts', 'domains/enclosed.ts'],
  ],
  'surfaces/acp': ['commands.ts'],
  'surfaces/app': ['models/local-advice.ts', 'models/own-models.ts', 'commands/own-models.ts'],
};

/** What there is too much of, as many as there are today: the counts only fall, and a fall is written down here. */
export const ratchets = {
  /** Folders with more than 20 entries. */
  crowdedFolders: 2,
  /** Folders below a room with fewer than 5 files. */
  smallFolders: 1,
  /** Files more than 4 segments below `src`. */
  deepFiles: 0,
  /** Files under 80 lines with one reader in their room; threads, tables and what is imported later stand alone. */
  thinFiles: 2,
  /** Functions with more than 4 positional parameters. */
  longSignatures: 0,
  /** Interfaces that are named in one place beside their declaration. */
  loneInterfaces: 168,
  /** String, template and regex literals over 200 characters outside of `*.rules.ts`. */
  longLiterals: 130,
  /** Bytes of such literals in `*.rules.ts`. */
  tableBytes: 113_216,
  /** Files of `src` that a test takes beside the fronts of rooms, the doubles and what is published. */
  deepEdges: 1_400,
} as const;
