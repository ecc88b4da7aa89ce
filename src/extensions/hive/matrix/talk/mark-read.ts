// Owns the read mark: up to where the agent was shown what a peer said (notes 11, H4). Invariant: a mark only moves forward.
import { throwIfAborted } from '#base/abort.ts';
import { READ_KEY } from '../account-data/account-data.ts';
import { type ReadMark, writeReadMark } from '../account-data/read-mark.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import { isFurther } from '../rooms/count-traffic.ts';
import type { RoomRecord, SeenMessage } from '../rooms/room-book.ts';
import { findEntry } from './find-entry.ts';

export async function markRead(
  ground: MatrixGround,
  { id, messageId }: { readonly id: string; readonly messageId: string },
  signal: AbortSignal,
): Promise<void> {
  throwIfAborted(signal);
  const rooms = findEntry(ground, id).rooms.map(({ room }) => room);
  const message = rooms.flatMap(({ seen }) => seen).find((one) => one.id === messageId);
  // One that is not among the newest is older than all of them.
  if (message === undefined) return;
  for (const room of rooms) {
    const last = lastUpTo(room, message);
    if (last !== undefined && isNews(room, last)) await keepMark(ground, { room, mark: last }, signal);
  }
}

/** The message itself where it was said; in the peer's other rooms what was said before it. */
function lastUpTo({ seen }: RoomRecord, message: SeenMessage): ReadMark | undefined {
  const same = seen.find(({ id }) => id === message.id);
  const last = same ?? seen.findLast(({ at }) => at <= message.at);
  return last === undefined ? undefined : { eventId: last.id, at: last.at };
}

function isNews({ seen, notes: { read } }: RoomRecord, mark: ReadMark): boolean {
  return read === undefined || (read.eventId !== mark.eventId && isFurther(seen, mark, read));
}

async function keepMark(
  ground: MatrixGround,
  { room, mark }: { readonly room: RoomRecord; readonly mark: ReadMark },
  signal: AbortSignal,
): Promise<void> {
  await ground.data.put({ key: READ_KEY, room: room.id, value: writeReadMark(mark) }, signal);
  ground.shelf.changeRoom(room.id, ({ notes, ...now }) => ({ ...now, notes: { ...notes, read: mark } }));
}
