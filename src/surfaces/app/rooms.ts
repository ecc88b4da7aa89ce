// Owns the list of rooms that Talaria starts with: one line each, in the order in which they open. Knows nothing else of them.
// Removing one is deleting its folder and its line. Invariant: a line loads nothing until it is asked for.
import type { RoomSchema } from '#base/database.ts';
import type { Room, StateOpening } from '#core/agent/room.ts';
import { sealKeyPath } from '#mind/sessions/message-rows.ts';
import { dailyCopies, type Home, isReadOnlyHome } from './home/home.ts';

/** By the first word of its commands; a room may have two. */
const ROOMS: Readonly<Record<string, () => Promise<{ readonly room: Room }>>> = {
  sessions: () => import('#mind/sessions/room.ts'),
  evidence: () => import('#mind/evidence/room.ts'),
  memory: () => import('#mind/memory/room.ts'),
  skills: () => import('#mind/skills/room.ts'),
  learning: () => import('#mind/learning/room.ts'),
  curator: () => import('#extensions/curator/room.ts'),
  rlm: () => import('#extensions/rlm/room.ts'),
  peers: () => import('#extensions/hive/room.ts'),
  delegation: () => import('#extensions/delegate/room.ts'),
  mixture: () => import('#extensions/mixture/room.ts'),
  mcp: () => import('#extensions/mcp/room.ts'),
  user: () => import('#extensions/user/room.ts'),
  cron: () => import('#extensions/schedule/room.ts'),
  golem: () => import('#fleet/golem/room.ts'),
  styx: () => import('#fleet/styx/room.ts'),
  clade: () => import('#fleet/meta/room.ts'),
  library: () => import('#fleet/meta/room.ts'),
  market: () => import('#fleet/meta/trade/room.ts'),
};

let loading: Promise<readonly Room[]> | undefined;

/** All of them, in order. */
export function loadRooms(): Promise<readonly Room[]> {
  loading ??= Promise.all(Object.values(ROOMS).map(async (load) => (await load()).room)).then((all) => [
    ...new Set(all),
  ]);
  return loading;
}

/** The one whose commands begin with this word, and no other. */
export async function loadRoom(word: string): Promise<Room | undefined> {
  return Object.hasOwn(ROOMS, word) ? (await ROOMS[word]?.())?.room : undefined;
}

/** Variables of all rooms, and entries of `memory.env`, whose values are secrets. */
export async function secretNames(): Promise<readonly string[]> {
  return (await loadRooms()).flatMap(({ secrets }) => secrets ?? []);
}

/** How state.db of a home is opened: with the tables of every room, and knowing what tells of one that was there. */
export async function stateOpening(home: Home): Promise<StateOpening> {
  const rooms = await stateTables();
  return isReadOnlyHome(home)
    ? { rooms, readOnly: true }
    : { rooms, flags: home.openFlags, traces: () => stateTraces(home) };
}

/** Its key, and copies of it. */
export function stateTraces(home: Home): readonly string[] {
  return [sealKeyPath(home.stateDatabase), ...dailyCopies(home)];
}

/** Of all rooms, in state.db beside the sessions' own. */
export async function stateTables(): Promise<readonly RoomSchema[]> {
  return (await loadRooms()).flatMap((room) => room.tables ?? []);
}
