// Owns what is noted on the server about peers and suggestions (seed 004, layer 4; R4.22, R4.38 to R4.40; notes 6, B13; 11, H4). Invariants: what
// was found is in the book before it is written, so that a failed write loses nothing and is made up for; a summary and a mark are shown
// when the server took them; a mark only moves forward; what another process wrote of sparks meanwhile is never lost, and nothing that was
// done or dismissed becomes pending again.
import { throwIfAborted } from '#base/abort.ts';
import { isoTime } from '#base/clock.ts';
import { isJsonObject } from '#base/json.ts';
import { holdsSparks, mergeSparks } from '../introductions.ts';
import { PeerError, type PeerSummary, type Spark } from '../peer.ts';
import type { MatrixGround } from './matrix-ground.ts';
import {
  NO_SPARKS,
  type NoteKind,
  type Notes,
  readSparks,
  SPARKS_KEY,
  type SparkShelf,
  storedPeer,
  writtenNotes,
} from './notes.ts';
import { noteTime, type PeerVerdict } from './peer-view.ts';
import { isFurther, type RoomNotes, type RoomRecord } from './room-book.ts';
import { findEntry } from './talk.ts';

/** With what the introducer said of the peer; what was kept before stays. */
export function withContext(
  { shelf, selfId }: MatrixGround,
  room: RoomRecord,
  { userId, introducerId, status }: Pick<PeerVerdict, 'userId' | 'introducerId' | 'status'>,
  context: string,
): RoomNotes {
  const { notes } = room;
  const known = notes.peer;
  if (known !== undefined && (known.context !== '' || context === '')) return notes;
  const introduced_at = isoTime(noteTime(shelf.book(), room, userId, selfId));
  const fresh = { peer_id: userId, introduced_by_id: introducerId, introduced_at, status, context };
  const peer = known === undefined ? storedPeer(fresh, room.id) : { ...known, context };
  return { ...notes, peer, behind: [...new Set([...notes.behind, 'peer' as const])] };
}

/** Writes the notes of these kinds as the book has them, where the server has others. */
export async function writeBehind(
  ground: MatrixGround,
  roomId: string,
  kinds: readonly NoteKind[],
  signal: AbortSignal,
): Promise<void> {
  const { behind, ...notes } = ground.shelf.book().rooms.get(roomId)?.notes ?? { behind: [] };
  const owed = kinds.filter((kind) => behind.includes(kind));
  await put(ground, roomId, Object.fromEntries(owed.map((kind) => [kind, notes[kind]])), signal);
  if (owed.length === 0) return;
  ground.shelf.changeNotes(roomId, (now) => ({
    behind: now.behind.filter((kind) => !owed.includes(kind) || now[kind] !== notes[kind]),
  }));
}

/** Writes these notes; then they are what is known. */
async function keep(ground: MatrixGround, roomId: string, notes: Notes, signal: AbortSignal): Promise<void> {
  await put(ground, roomId, notes, signal);
  ground.shelf.changeNotes(roomId, ({ behind }) => ({ ...notes, behind: behind.filter((kind) => !(kind in notes)) }));
}

async function put({ data }: MatrixGround, roomId: string, notes: Notes, signal: AbortSignal): Promise<void> {
  for (const [key, value] of writtenNotes(notes)) await data.put(key, roomId, value, signal);
}

export async function keepSummary(
  ground: MatrixGround,
  id: string,
  summary: PeerSummary,
  signal: AbortSignal,
): Promise<void> {
  throwIfAborted(signal);
  await keep(ground, findEntry(ground, id).rooms[0].room.id, { summary }, signal);
}

export async function markRead(
  ground: MatrixGround,
  id: string,
  messageId: string,
  signal: AbortSignal,
): Promise<void> {
  throwIfAborted(signal);
  const rooms = findEntry(ground, id).rooms.map(({ room }) => room);
  const message = rooms.flatMap(({ seen }) => seen).find((one) => one.id === messageId);
  // One that is not among the newest is older than all of them.
  if (message === undefined) return;
  for (const { id: roomId, seen, notes } of rooms) {
    // The message itself where it was said; in the peer's other rooms what was said before it.
    const last = seen.find((one) => one.id === message.id) ?? seen.findLast(({ at }) => at <= message.at);
    const read = last && { eventId: last.id, at: last.at };
    const known = notes.read;
    if (read && (known === undefined || (known.eventId !== read.eventId && isFurther(seen, read, known))))
      await keep(ground, roomId, { read }, signal);
  }
}

export const KEY_FIX =
  'Put the key file peers/account-data.key of this agent back, and set peers.encrypt_account_data: true.';

const ROUNDS = 3;

/** Reads the newest, merges, writes, reads back. */
export async function changeSparks(
  ground: MatrixGround,
  change: (sparks: readonly Spark[]) => readonly Spark[],
  signal: AbortSignal,
): Promise<readonly Spark[]> {
  throwIfAborted(signal);
  const { shelf, data } = ground;
  let newest = await readShelf(ground, signal);
  for (let round = 0; round < ROUNDS; round += 1) {
    const known = mergeSparks(newest.sparks, shelf.book().sparks.sparks);
    const wanted = mergeSparks(known, change(known));
    if (!isSame(newest.sparks, wanted) || newest.isOld) {
      await data.put(SPARKS_KEY, undefined, { sparks: [...wanted, ...newest.foreign] }, signal);
      newest = await readShelf(ground, signal);
    }
    if (!holdsSparks(newest.sparks, wanted)) continue;
    const sparks = mergeSparks(wanted, newest.sparks);
    shelf.put({ ...shelf.book(), sparks: { sparks, foreign: newest.foreign, isBehind: false, isLocked: false } });
    return sparks;
  }
  throw new PeerError('another process of this agent keeps changing the suggestions', {
    code: 'peers-server-error',
    retryable: true,
    fix: 'Try again when the other process is done.',
  });
}

async function readShelf(
  { data }: MatrixGround,
  signal: AbortSignal,
): Promise<SparkShelf & { readonly isOld: boolean }> {
  const stored = await data.get(SPARKS_KEY, undefined, signal);
  if (stored === undefined) return { ...NO_SPARKS, isOld: false };
  const { value, isAsWanted } = data.open(stored, SPARKS_KEY);
  // Writing over what we cannot read would bring back what was dismissed.
  if (!isJsonObject(value))
    throw new PeerError('the suggestions on the server are sealed with another key', {
      code: 'peers-encryption',
      forModel: 'the suggestions cannot be read, so nothing was changed',
      fix: KEY_FIX,
    });
  const shelf = readSparks(value);
  return { ...shelf, isOld: !isAsWanted && shelf.sparks.length + shelf.foreign.length > 0 };
}

function isSame(before: readonly Spark[], after: readonly Spark[]): boolean {
  return before.length === after.length && holdsSparks(before, after) && holdsSparks(after, before);
}
