// Owns the commands of other surfaces: by their words, a lazy line each. Knows no command's work.
// Invariant: a line loads nothing until one of its words is typed, or help is.
import type { AnyCommand } from '#core/agent/command-spec.ts';
import type { Ground } from '#core/agent/room.ts';
import type { App, AppOptions } from '#surfaces/app/app.ts';
import type { ServePart } from '#surfaces/app/serve-part.ts';

export interface SurfaceSeat {
  readonly ground: Ground;
  /** A person sits at a terminal, and asked for no JSON. */
  readonly isScreen: boolean;
  readonly version: string;
  /** Composes the agent, once. */
  readonly app: (means?: Pick<AppOptions, 'serves'>) => Promise<App>;
  /** What lives inside `talaria serve`. */
  readonly parts: () => Promise<readonly ServePart[]>;
}

type SurfaceCommands = (seat: SurfaceSeat) => readonly AnyCommand[] | Promise<readonly AnyCommand[]>;

/** Words that open a screen. One that a room has too is the screen's at a terminal, with nothing behind it. */
const SCREENS: readonly (readonly [words: readonly string[], load: () => Promise<SurfaceCommands>])[] = [
  [['run', 'attach', 'clade'], async () => (await import('#surfaces/tui/commands.ts')).screenCommands],
];

const SURFACES: readonly (readonly [words: readonly string[], load: () => Promise<SurfaceCommands>])[] = [
  [['acp'], async () => (await import('#surfaces/acp/commands.ts')).acpCommands],
  [['dashboard'], async () => (await import('#surfaces/web/commands.ts')).dashboardCommands(spokenCommands)],
  [['gateway'], async () => (await import('#surfaces/gateway/commands.ts')).gatewayCommands],
  [['serve', 'mcp serve'], async () => (await import('#surfaces/api/commands.ts')).serveCommands],
];

/** What lives inside `talaria serve`, beside the API. */
export async function serveParts(): Promise<readonly ServePart[]> {
  return [
    (await import('#surfaces/gateway/commands.ts')).gatewayPart,
    (await import('#surfaces/web/commands.ts')).webPart(spokenCommands),
  ];
}

/** Commands of these words, of whichever surface has them; none: it is not here. */
async function spokenCommands(words: readonly string[], seat: Pick<SurfaceSeat, 'app' | 'ground'>) {
  const none = { isScreen: false, version: '', parts: async () => [] };
  return (await spokenSurface(words)?.({ ...none, ...seat })) ?? [];
}

/** Undefined: no surface has these words. */
export function spokenSurface(words: readonly string[]): SurfaceCommands | undefined {
  const line = words.join(' ');
  const found = SURFACES.find(([all]) => all.some((own) => line === own || line.startsWith(`${own} `)));
  return found && (async (seat) => (await found[1]())(seat));
}

/** Undefined: no screen has this word. */
export function screenOf(word: string): SurfaceCommands | undefined {
  const found = SCREENS.find(([all]) => all.includes(word));
  return found && (async (seat) => (await found[1]())(seat));
}

/** All of them, for help. */
export async function surfaceCommands(seat: SurfaceSeat): Promise<readonly AnyCommand[]> {
  const all = [...SURFACES, ...SCREENS].map(async ([, load]) => (await load())({ ...seat, isScreen: false }));
  return (await Promise.all(all)).flat();
}
