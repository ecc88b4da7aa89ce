// Owns what one raw event of a room says, decrypted where need be (R4.37). Knows no peer.
// Invariant: what came in clear into an encrypted room is never taken for the words of its sender.
import type { JsonObject } from '#base/json.ts';
import { CLEAR, messageText, REMOVED, type ReadText, UNREADABLE, wordsOf } from '../events/message-text.ts';
import { type RoomEvent, readEvent } from '../events/room-event.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import type { RoomRecord } from '../rooms/room-book.ts';
import { isMessage } from '../rooms/seen-messages.ts';

export interface TalkEvent extends ReadText {
  readonly event: RoomEvent;
  /** What its sender wrote, whole; absent when that cannot be said. */
  readonly words?: string;
}

type Ground = Pick<MatrixGround, 'crypto'>;

/** Undefined: no message. */
export async function readTalk(
  { crypto }: Ground,
  room: Pick<RoomRecord, 'id' | 'encryption'>,
  raw: JsonObject,
): Promise<TalkEvent | undefined> {
  const event = readEvent(raw);
  if (event === undefined || !isMessage(event)) return undefined;
  if (event.isRedacted || Object.keys(event.content).length === 0) return { event, ...REMOVED };
  if (event.type === 'm.room.message') {
    const said = saidIn(event, event.type, event.content);
    return said !== undefined && room.encryption !== undefined ? { event, ...CLEAR } : said;
  }
  const clear = await crypto.read(room.id, raw);
  return clear === undefined ? { event, ...UNREADABLE } : saidIn(event, clear.type, clear.content);
}

function saidIn(event: RoomEvent, type: string, content: JsonObject): TalkEvent | undefined {
  const text = type === 'm.room.message' ? messageText(content) : undefined;
  const words = wordsOf(type, content);
  return text === undefined ? undefined : { event, ...text, ...(words === undefined ? {} : { words }) };
}
