// Owns sending a text to a peer. Invariant: a text whose fate is unknown keeps its transaction id, so that sending it again cannot make two;
// who is in the room is asked right before, since a message cannot be taken back.
import { throwIfAborted } from '#base/abort.ts';
import { sha256 } from '#base/ids.ts';
import { wasRefused } from '../http/was-refused.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import type { RoomRecord } from '../rooms/room-book.ts';
import { roomToWrite } from './find-entry.ts';
import { type Parcel, packParcels, sendParcel, textContent } from './send-parcels.ts';

const MAX_REMEMBERED = 50;

/** @param look takes in who is there now */
export function createSender(ground: MatrixGround, look: (signal: AbortSignal) => Promise<void>) {
  /** By room and text: may have arrived. */
  const unsure = new Map<string, Parcel>();
  return async (id: string, text: string, signal: AbortSignal): Promise<{ readonly messageId: string }> => {
    throwIfAborted(signal);
    roomToWrite(ground, id);
    await look(signal);
    const { room } = roomToWrite(ground, id);
    const key = sha256(`${room.id}\n${text}`);
    const kept = unsure.get(key);
    const isStillRight = kept !== undefined && (kept.type === 'm.room.encrypted' || room.encryption === undefined);
    const parcel = isStillRight ? kept : await packText(ground, { room, text }, signal);
    // Two calls at the same time are two messages.
    unsure.delete(key);
    try {
      return { messageId: await sendParcel(ground, parcel, signal) };
    } catch (error) {
      if (!wasRefused(error)) unsure.set(key, parcel);
      forgetOldest(unsure);
      throw error;
    }
  };
}

interface Draft {
  readonly room: RoomRecord;
  readonly text: string;
}

async function packText(ground: MatrixGround, { room, text }: Draft, signal: AbortSignal): Promise<Parcel> {
  const [parcel] = await packParcels(ground, { room, contents: [textContent(text)] }, signal);
  if (parcel === undefined) throw new Error('encryption gave nothing for a message');
  return parcel;
}

function forgetOldest(unsure: Map<string, Parcel>): void {
  for (const key of unsure.keys()) {
    if (unsure.size <= MAX_REMEMBERED) return;
    unsure.delete(key);
  }
}
