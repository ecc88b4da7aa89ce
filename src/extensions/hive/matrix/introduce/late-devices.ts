// Owns that an introduction reaches devices which came after it: its lines are said again, encrypted for them too (R4.76). Knows no algorithm.
// Invariant: bounded in rooms a refresh; a room waits until its devices were reached.
import { throwIfAborted } from '#base/abort.ts';
import { PeerError } from '../../peers/peer-error.ts';
import type { EncryptionTarget, LateDevice } from '../crypto/room-crypto.ts';
import { isIntroductionLine } from '../events/introduction-line.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import { presentMembers, type RoomRecord } from '../rooms/room-book.ts';
import { pagesBack } from '../talk/pages-back.ts';
import { readTalk } from '../talk/read-talk.ts';
import { packParcels, sendParcel, textContent } from '../talk/send-parcels.ts';

const MAX_ROOMS = 10;
const MAX_PAGES = 5;
const PAGE = 100;
/** Failures of everything; every other one is of one room. */
const OF_THE_NETWORK: ReadonlySet<string> = new Set([
  'peers-unreachable',
  'peers-timeout',
  'peers-rate-limited',
  'peers-auth',
]);

export interface LateDevices {
  /** Devices of these users changed; undefined: it is not known whose. */
  changed(userIds: readonly string[] | undefined): void;
  run(signal: AbortSignal): Promise<void>;
}

export function createLateDevices(ground: MatrixGround): LateDevices {
  const waiting = new Set<string>();
  return {
    changed: (userIds) => {
      if (userIds?.length === 0) return;
      for (const room of ground.shelf.book().rooms.values())
        if (isOurs(room, ground.selfId) && (userIds?.some((userId) => room.members.has(userId)) ?? true))
          waiting.add(room.id);
    },
    run: async (signal) => {
      for (const roomId of [...waiting].slice(0, MAX_ROOMS)) {
        throwIfAborted(signal);
        const failure = await tryToReach(ground, roomId, signal);
        if (failure !== undefined && OF_THE_NETWORK.has(failure.code)) return;
        // What failed waits behind the others, so that it never stands in their way.
        waiting.delete(roomId);
        if (failure !== undefined) waiting.add(roomId);
      }
    },
  };
}

async function tryToReach(ground: MatrixGround, roomId: string, signal: AbortSignal): Promise<PeerError | undefined> {
  const room = ground.shelf.book().rooms.get(roomId);
  try {
    if (room !== undefined) await reachLate(ground, room, signal);
    return undefined;
  } catch (error) {
    if (!(error instanceof PeerError)) throw error;
    ground.warn(`an introduction could not be repeated for a new device yet: ${error.message}`);
    return error;
  }
}

export interface ReachedDevices {
  readonly note: () => Promise<void>;
}

/** Devices that what is encrypted from now on certainly reaches; to be noted once it was sent. */
export async function reachedDevices(
  ground: MatrixGround,
  room: RoomRecord,
  signal: AbortSignal,
): Promise<ReachedDevices> {
  if (room.encryption === undefined) return { note: async () => undefined };
  const crypto = await ground.crypto.open();
  const devices = await crypto.lateDevices(targetOf(ground, room, room.encryption), signal);
  return { note: () => crypto.noteReached(room.id, devices) };
}

/** Rooms that we made for an introduction or a contact, and that are encrypted. */
function isOurs({ creation, encryption }: RoomRecord, selfId: string): boolean {
  return creation?.sender === selfId && creation.mark !== undefined && encryption !== undefined;
}

function targetOf(
  { selfId }: MatrixGround,
  room: RoomRecord,
  settings: NonNullable<RoomRecord['encryption']>,
): EncryptionTarget {
  return { roomId: room.id, members: presentMembers(room).filter((userId) => userId !== selfId), settings };
}

async function reachLate(ground: MatrixGround, room: RoomRecord, signal: AbortSignal): Promise<void> {
  if (room.encryption === undefined) return;
  const crypto = await ground.crypto.open();
  const late: readonly LateDevice[] = await crypto.lateDevices(targetOf(ground, room, room.encryption), signal);
  if (late.length === 0) return;
  const lines = await ownLines(ground, room, signal);
  const parcels = await packParcels(ground, { room, contents: lines.map(textContent) }, signal);
  for (const parcel of parcels) await sendParcel(ground, parcel, signal);
  await crypto.noteReached(room.id, late);
}

/** What we said as an introduction, each line once, oldest first. */
async function ownLines(ground: MatrixGround, room: RoomRecord, signal: AbortSignal): Promise<readonly string[]> {
  const way = { roomId: room.id, pageSize: PAGE, maxPages: MAX_PAGES, sender: ground.selfId };
  const lines: string[] = [];
  for await (const { events } of pagesBack(ground, way, signal)) {
    for (const raw of events) {
      const { words = '', event } = (await readTalk(ground, room, raw)) ?? {};
      if (event?.sender === ground.selfId && isIntroductionLine(words)) lines.push(words);
    }
  }
  return [...new Set(lines.reverse())];
}
