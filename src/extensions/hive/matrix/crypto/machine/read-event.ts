// Owns decrypting one event of a room and the checks that crypto-wasm leaves to its caller: with `Untrusted` it also opens a message that
// somebody copied out of another's event and sent as an own one. Knows no server. Invariant: what comes out was made by a device of the
// user who sent the event, for this room, and is not read under a second event.
import {
  DecryptionErrorCode,
  DecryptionSettings,
  MegolmDecryptionError,
  type OlmMachine,
  RoomId,
  TrustRequirement,
} from '@matrix-org/matrix-sdk-crypto-wasm';
import { isJsonObject, type JsonObject, parseJsonObject } from '#base/json.ts';
import { messagePlace } from '../foreign/message-place.ts';
import type { ClearEvent } from '../room-crypto.ts';
import type { OpenedMessages } from '../store/opened-messages.ts';
import type { LostSessions } from './lost-sessions.ts';

interface Outer {
  readonly roomId: string;
  readonly event: JsonObject;
  readonly sender: string;
  readonly content: JsonObject;
}

export interface EventReader {
  readonly olm: OlmMachine;
  readonly opened: OpenedMessages;
  readonly lost: LostSessions;
}

/** Undefined: no key, damaged, read before under another event, or not what it claims to be. What could be had later is noted in `lost`. */
export async function readEvent(
  reader: EventReader,
  { roomId, event }: { readonly roomId: string; readonly event: JsonObject },
): Promise<ClearEvent | undefined> {
  const { sender, content, event_id: eventId } = event;
  if (event.type !== 'm.room.encrypted' || typeof sender !== 'string' || !isJsonObject(content)) return undefined;
  if (event.room_id !== undefined && event.room_id !== roomId) return undefined;
  const place = messagePlace(content);
  if (place === undefined || typeof eventId !== 'string') return undefined;
  const clear = await decrypt(reader, { roomId, event, sender, content });
  return clear !== undefined && (await reader.opened.claim({ roomId, eventId, ...place })) ? clear : undefined;
}

async function decrypt({ olm, lost }: EventReader, outer: Outer): Promise<ClearEvent | undefined> {
  try {
    return await open(olm, outer, lost);
  } catch (error) {
    if (error instanceof Error && error.name === 'RuntimeError') throw error; // the machine broke; all else is the event's fault
    const { roomId, sender, event } = outer;
    const { session_id: sessionId } = outer.content;
    const isMissing = error instanceof MegolmDecryptionError && error.code === DecryptionErrorCode.MissingRoomKey;
    if (isMissing && typeof sessionId === 'string') lost.noteMissing({ roomId, sender, sessionId, event });
    return undefined;
  }
}

async function open(
  olm: OlmMachine,
  { roomId, event, sender }: Outer,
  lost: LostSessions,
): Promise<ClearEvent | undefined> {
  const settings = new DecryptionSettings(TrustRequirement.Untrusted);
  const whole = JSON.stringify({ ...event, room_id: roomId });
  const opened = await olm.decryptRoomEvent(whole, new RoomId(roomId), settings);
  // A device is named only when it is one of the sender's own: not when the message was made by somebody else's.
  if (opened.senderDevice === undefined) {
    lost.noteUnknown(sender);
    return undefined;
  }
  return opened.sender.toString() === sender ? clearEvent(opened.event, sender, roomId) : undefined;
}

function clearEvent(text: string, sender: string, roomId: string): ClearEvent | undefined {
  const parsed = parseJsonObject(text);
  if (!parsed.ok) return undefined;
  const { type, content, ...outer } = parsed.value;
  if (outer.sender !== sender || outer.room_id !== roomId || outer.state_key !== undefined) return undefined;
  if (typeof type !== 'string' || type === 'm.room.encrypted' || !isJsonObject(content)) return undefined;
  return { type, content };
}
