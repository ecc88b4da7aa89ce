// Owns what leaves this machine as a message: size, encryption where the room has it, and the transaction id by which a server knows a repeated
// request again (R4.36, R4.74). Knows no peer. Invariant: into a room that ever was encrypted nothing goes but what RoomCrypto made.
import { newId } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import { PeerError } from '../../peers/peer-error.ts';
import { textAt } from '../events/json-access.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import { presentMembers, type RoomRecord } from '../rooms/room-book.ts';

/** One message, ready to go; sending it twice is sending it once. */
export interface Parcel {
  readonly roomId: string;
  readonly type: string;
  readonly content: JsonObject;
  readonly txn: string;
}

/** Bytes of a whole event that servers take, less what they add to it. */
const MAX_CONTENT = 65_536 - 5_536;
/** Encrypted text grows by a third and a frame. */
const MAX_BEFORE_ENCRYPTION = 43_000;

export function textContent(text: string): JsonObject {
  return { msgtype: 'm.text', body: text.toWellFormed() };
}

/** Throws `peers-too-large`, and `peers-encryption` when it has to be encrypted and cannot be; nothing was sent then. */
export async function packParcels(
  ground: MatrixGround,
  { room, contents }: { readonly room: RoomRecord; readonly contents: readonly JsonObject[] },
  signal: AbortSignal,
): Promise<readonly Parcel[]> {
  const settings = await settingsOf(ground, room);
  for (const content of contents) refuseLarge(content, settings === undefined ? MAX_CONTENT : MAX_BEFORE_ENCRYPTION);
  const parcel = (type: string, content: JsonObject): Parcel => ({ roomId: room.id, type, content, txn: newId('txn') });
  if (settings === undefined) return contents.map((content) => parcel('m.room.message', content));
  const crypto = await ground.crypto.open();
  const target = { roomId: room.id, members: presentMembers(room), settings };
  const events = contents.map((content) => ({ type: 'm.room.message', content }));
  const encrypted = await crypto.encrypt(target, events, signal);
  return encrypted.map((content) => parcel('m.room.encrypted', content));
}

/** Where encryption is on, its memory has to be asked, and without it nothing is sent: a server may keep quiet about a room's encryption. */
async function settingsOf({ crypto, shelf }: MatrixGround, room: RoomRecord): Promise<RoomRecord['encryption']> {
  const known = room.encryption ?? shelf.book().encrypted.get(room.id);
  if (known !== undefined || !crypto.isOn) return known;
  return (await crypto.open()).encryptedRooms().find(({ roomId }) => roomId === room.id)?.settings;
}

/** Gives the id of the message. */
export async function sendParcel(ground: MatrixGround, parcel: Parcel, signal: AbortSignal): Promise<string> {
  const { roomId, type, txn, content } = parcel;
  const path = ['v3', 'rooms', roomId, 'send', type, txn];
  const answer = await ground.http({ method: 'PUT', path, body: content }, signal);
  const id = textAt(answer, 'event_id');
  if (id !== undefined) return id;
  throw new PeerError('the server did not say whether the message was taken', {
    code: 'peers-bad-response',
    retryable: true,
    fix: 'Send it again: the same message is not taken twice.',
  });
}

function refuseLarge(content: JsonObject, max: number): void {
  const size = Buffer.byteLength(JSON.stringify(content));
  if (size <= max) return;
  throw new PeerError(`a message of ${size} bytes is too large; at most ${max} are taken`, {
    code: 'peers-too-large',
    forModel: `this is too large to send: about ${Math.floor(max / 1_000)},000 characters are the most`,
    fix: 'Send it in parts.',
  });
}
