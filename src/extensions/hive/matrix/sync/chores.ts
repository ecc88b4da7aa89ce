// Owns what a refresh makes up for after the sync: rooms that give a peer but have no note yet, contexts that came late, notes that the server
// lacks or has in another form (notes 6, B7; R4.76). Invariant: bounded in requests; what fails waits in the book for the next time.
import { PeerError } from '../../peers/peer-error.ts';
import { READ_KEY, SUMMARY_KEY } from '../account-data/account-data.ts';
import { changeSparks } from '../account-data/change-sparks.ts';
import { writeReadMark } from '../account-data/read-mark.ts';
import { writeSummary } from '../account-data/stored-summary.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import { compareRooms, type PeerRoom } from '../rooms/order-rooms.ts';
import type { NoteKind, RoomBook } from '../rooms/room-book.ts';
import { keepPeerNote, settleRoom, withKind } from './enter-room.ts';

const MAX_SETTLED = 10;
const MAX_SEARCHED = 5;
const MAX_WRITTEN = 20;

export interface Chores {
  /** Their context is to be looked for again. */
  lookAgain(roomIds: readonly string[]): void;
  run(signal: AbortSignal): Promise<void>;
}

export function createChores(ground: MatrixGround): Chores {
  const again = new Set<string>();
  /** Nothing is left to do for this one. */
  let done: RoomBook | undefined;
  return {
    lookAgain: (roomIds) => {
      for (const roomId of roomIds) again.add(roomId);
    },
    run: async (signal) => {
      if (ground.shelf.book() === done && again.size === 0) return;
      const list = jobsOf(ground, again);
      for (const job of list.jobs) if (!(await attempt(ground, job, signal))) return;
      if (!list.isAll) return;
      done = ground.shelf.book();
      ground.data.settled();
    },
  };
}

type Job = (signal: AbortSignal) => Promise<void>;

function jobsOf(ground: MatrixGround, again: Set<string>): { readonly jobs: readonly Job[]; readonly isAll: boolean } {
  const candidates = peerRooms(ground);
  // In the order in which they are to count.
  const unsettled = candidates.filter(({ room }) => room.notes.peer === undefined).sort(compareRooms(ground.selfId));
  const searched = candidates.filter(({ room }) => again.has(room.id) && room.notes.peer?.context === '');
  const behind = candidates.filter((one) => one.room.notes.peer !== undefined && isBehind(one));
  const settle =
    (one: PeerRoom): Job =>
    (signal) =>
      settleRoom(ground, one, signal);
  const search =
    (one: PeerRoom): Job =>
    async (signal) => {
      again.delete(one.room.id);
      await settleRoom(ground, one, signal);
    };
  if (searched.length === 0) again.clear();
  const sparks: Job = (signal) => healSparks(ground, signal);
  return {
    jobs: [
      ...unsettled.slice(0, MAX_SETTLED).map(settle),
      ...searched.slice(0, MAX_SEARCHED).map(search),
      ...behind.slice(0, MAX_WRITTEN).map(
        (one): Job =>
          (signal) =>
            keepNotes(ground, one, signal),
      ),
      sparks,
    ],
    isAll: unsettled.length <= MAX_SETTLED && behind.length <= MAX_WRITTEN,
  };
}

function peerRooms({ shelf, viewer }: MatrixGround): readonly PeerRoom[] {
  return [...shelf.book().rooms.values()].flatMap((room) => {
    const verdict = viewer.judge(room);
    return verdict.kind === 'peer' ? [{ room, verdict }] : [];
  });
}

function isBehind({ room: { notes }, verdict }: PeerRoom): boolean {
  return notes.behind.length > 0 || notes.peer?.status !== verdict.status;
}

/** False: the network is not to be asked for more now. */
export async function attempt(ground: MatrixGround, job: Job, signal: AbortSignal): Promise<boolean> {
  try {
    await job(signal);
    return true;
  } catch (error) {
    if (!(error instanceof PeerError)) throw error;
    ground.warn(`what is known of a peer could not be completed yet: ${error.message}`);
    return error.code === 'peers-forbidden' || error.code === 'peers-encryption';
  }
}

async function keepNotes(ground: MatrixGround, { room, verdict }: PeerRoom, signal: AbortSignal): Promise<void> {
  ground.shelf.changeRoom(room.id, ({ notes, ...now }) => {
    const peer = notes.peer === undefined ? {} : { peer: { ...notes.peer, status: verdict.status } };
    return { ...now, notes: { ...notes, ...peer, behind: withKind(notes.behind, 'peer') } };
  });
  await keepPeerNote(ground, room.id, signal);
  const { summary, read, behind } = ground.shelf.book().rooms.get(room.id)?.notes ?? { behind: [] };
  if (summary !== undefined && behind.includes('summary'))
    await ground.data.put({ key: SUMMARY_KEY, room: room.id, value: writeSummary(summary) }, signal);
  if (read !== undefined && behind.includes('read'))
    await ground.data.put({ key: READ_KEY, room: room.id, value: writeReadMark(read) }, signal);
  clearBehind(ground, room.id, behind);
}

function clearBehind({ shelf }: MatrixGround, roomId: string, written: readonly NoteKind[]): void {
  if (written.length === 0) return;
  shelf.changeRoom(roomId, ({ notes, ...now }) => ({
    ...now,
    notes: { ...notes, behind: notes.behind.filter((kind) => !written.includes(kind)) },
  }));
}

async function healSparks(ground: MatrixGround, signal: AbortSignal): Promise<void> {
  if (ground.shelf.book().sparks.isBehind) await changeSparks(ground, (sparks) => sparks, signal);
}
