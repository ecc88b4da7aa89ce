// Owns the talk with a peer: the way from an opaque id to a known peer, sending a text (R4.36, R4.74), and reading what was said, backwards through
// every room in which the two can talk, decrypted, newest first (R4.37). Invariants: whoever is unknown, has left or would not be alone in reading
// gets nothing, and who is in the room is asked right before; into a room that ever was encrypted nothing goes but what RoomCrypto made, and
// what came in clear into one is never taken for the words of its sender; a text whose fate is unknown keeps its transaction id; reading
// is bounded in requests.
import { throwIfAborted } from '#base/abort.ts';
import { isoTime } from '#base/clock.ts';
import { newId, sha256 } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import { leftPeer, PeerError, type PeerMessage } from '../peer.ts';
import { unknownPeer } from '../peer-names.ts';
import {
  CLEAR,
  messageText,
  nameOf,
  objectsAt,
  opaqueId,
  REMOVED,
  type ReadText,
  type RoomEvent,
  readEvent,
  textAt,
  translateLine,
  UNREADABLE,
  wordsOf,
} from './events.ts';
import type { MatrixGround } from './matrix-ground.ts';
import { wasRefused } from './matrix-http.ts';
import type { PeerEntry } from './peer-view.ts';
import { addSeen, isMessage, presentMembers, type RoomRecord } from './room-book.ts';

const MAX_REMEMBERED = 50;

/** @param look takes in who is there now */
export function createSender(ground: MatrixGround, look: (signal: AbortSignal) => Promise<void>) {
  /** By room and text: may have arrived. */
  const unsure = new Map<string, Parcel>();
  return async (id: string, text: string, signal: AbortSignal): Promise<{ readonly messageId: string }> => {
    throwIfAborted(signal);
    roomToWrite(ground, id);
    await look(signal);
    const room = roomToWrite(ground, id);
    const key = sha256(`${room.id}\n${text}`);
    const parcel = rightStill(unsure.get(key), room) ?? (await packText(ground, room, text, signal));
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

function rightStill(kept: Parcel | undefined, { encryption }: RoomRecord): Parcel | undefined {
  return kept?.type === 'm.room.encrypted' || encryption === undefined ? kept : undefined;
}

async function packText(ground: MatrixGround, room: RoomRecord, text: string, signal: AbortSignal): Promise<Parcel> {
  const [parcel] = await packParcels(ground, room, [textContent(text)], signal);
  if (parcel === undefined) throw new Error('encryption gave nothing for a message');
  return parcel;
}

function forgetOldest(unsure: Map<string, Parcel>): void {
  const [oldest] = unsure.keys();
  if (oldest !== undefined && unsure.size > MAX_REMEMBERED) unsure.delete(oldest);
}

/** Throws `peer-unknown`. */
export function findEntry({ shelf, viewer }: MatrixGround, id: string): PeerEntry {
  const entry = viewer.view(shelf.book()).get(id);
  if (entry === undefined) throw unknownPeer(id);
  return entry;
}

/** Throws `peer-unknown`, `peer-left`. */
export function presentEntry(ground: MatrixGround, id: string): PeerEntry {
  const entry = findEntry(ground, id);
  if (entry.known.peer.status === 'left') throw leftPeer(id);
  return entry;
}

/** Throws `peer-unknown`, `peer-left`, `peers-forbidden`, `peers-encryption`. */
function roomToWrite(ground: MatrixGround, id: string): RoomRecord {
  if (findEntry(ground, id).isHeldBack)
    throw new PeerError(`${id} could be written to in clear alone, and what was said before was encrypted`, {
      code: 'peers-encryption',
      fix: `Make contact with ${id} anew: talaria peers invite`,
    });
  const { room, verdict } = presentEntry(ground, id).rooms[0];
  if (!verdict.isShared) return room;
  throw new PeerError(`somebody else is in ${room.id} by now and would read what is said to ${id}`, {
    code: 'peers-forbidden',
    forModel: 'somebody else would read what is said to this peer, so nothing was sent',
    fix: `Make contact with ${id} directly: talaria peers invite`,
  });
}

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
  room: RoomRecord,
  contents: readonly JsonObject[],
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

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1_000;
const MAX_PAGE = 100;
/** Pages that hold nothing readable do not end the search at once, but soon. */
const SPARE_PAGES = 3;
const MAX_ROOMS = 3;

export async function readMessages(
  ground: MatrixGround,
  id: string,
  limit: number | undefined,
  signal: AbortSignal,
): Promise<readonly PeerMessage[]> {
  throwIfAborted(signal);
  const wanted = Math.min(MAX_LIMIT, Math.max(1, Math.floor(limit ?? DEFAULT_LIMIT)));
  const rooms = findEntry(ground, id).rooms.slice(0, MAX_ROOMS);
  const found: TalkEvent[] = [];
  for (const { room } of rooms) found.push(...(await talkIn(ground, room, wanted, signal)));
  // Within one room the order of the server stands: times may be wrong.
  const ordered = rooms.length > 1 ? found.sort((a, b) => b.event.at - a.event.at) : found;
  return ordered.slice(0, wanted).map((talk) => messageOf(talk, ground.selfId));
}

async function talkIn(
  ground: MatrixGround,
  room: RoomRecord,
  wanted: number,
  signal: AbortSignal,
): Promise<readonly TalkEvent[]> {
  const pageSize = Math.min(MAX_PAGE, wanted);
  const way = { roomId: room.id, pageSize, maxPages: Math.ceil(wanted / pageSize) + SPARE_PAGES };
  const found: TalkEvent[] = [];
  let isFirst = true;
  for await (const { events, isStart } of pagesBack(ground, way, signal)) {
    if (isFirst) noteSeen(ground, room.id, events, isStart);
    isFirst = false;
    for (const raw of events) {
      const talk = await readTalk(ground, room, raw);
      if (talk !== undefined) found.push(talk);
    }
    if (found.length >= wanted) break;
  }
  return found;
}

/** What was just read counts as known before the next refresh: so it can be marked as read. @param newest newest first */
function noteSeen({ shelf }: MatrixGround, roomId: string, newest: readonly JsonObject[], isStart: boolean): void {
  const events = newest.flatMap((raw) => readEvent(raw) ?? []).reverse();
  shelf.changeRoom(roomId, (now) => {
    const known = new Set(now.seen.map(({ id }) => id));
    return events.every(({ id }) => known.has(id)) ? now : { ...now, ...addSeen(now, events, !isStart) };
  });
}

function messageOf({ event, state, text }: TalkEvent, selfId: string): PeerMessage {
  return {
    id: event.id,
    from: nameOf(event.sender),
    fromId: opaqueId(event.sender),
    mine: event.sender === selfId,
    text: translateLine(text),
    time: isoTime(event.at),
    state,
  };
}

interface TalkEvent extends ReadText {
  readonly event: RoomEvent;
  /** What its sender wrote, whole; absent when that cannot be said. */
  readonly words?: string;
}

/** Undefined: no message. */
export async function readTalk(
  { crypto }: Pick<MatrixGround, 'crypto'>,
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

interface WayBack {
  readonly roomId: string;
  /** Events a page. */
  readonly pageSize: number;
  readonly maxPages: number;
  /** Only what that user said; not for the first page when `alsoOthers`. */
  readonly sender?: string;
  readonly alsoOthers?: boolean;
}

interface Page {
  /** Newest first, as they came. */
  readonly events: readonly JsonObject[];
  /** There is nothing before it. */
  readonly isStart: boolean;
}

const TYPES = ['m.room.message', 'm.room.encrypted'];

export async function* pagesBack(ground: MatrixGround, way: WayBack, signal: AbortSignal): AsyncGenerator<Page> {
  let from: string | undefined;
  for (let page = 0; page < way.maxPages; page += 1) {
    const limit = String(way.pageSize);
    const query = { dir: 'b', limit, filter: filterFor(way, page), ...(from === undefined ? {} : { from }) };
    const path = ['v3', 'rooms', way.roomId, 'messages'];
    const answer = await ground.http({ method: 'GET', path, query }, signal);
    const end = textAt(answer, 'end');
    const isStart = end === undefined || end === from;
    yield { events: objectsAt(answer, 'chunk'), isStart };
    if (isStart) return;
    from = end;
  }
}

function filterFor({ sender, alsoOthers }: WayBack, page: number): string {
  const isAnybody = sender === undefined || (alsoOthers === true && page === 0);
  return JSON.stringify(isAnybody ? { types: TYPES } : { types: TYPES, senders: [sender] });
}
