// Owns one sync (seed 004, on-demand sync): what is asked, what its answer makes of the book, and from where the next one goes on. Invariants: the
// position advances only after everything of an answer was applied, with encryption after its keys were stored; applying the same answer again
// changes nothing, and one that is malformed in parts is applied in all others; a note that cannot be read is as one that is not there, but
// for sparks, which are never lost by it; no room is filtered out, since some servers lose account data then (notes 6, B19).
import { randomHex } from '#base/ids.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { EncryptedRoom, KeyChanges, RoomCrypto } from '../crypto/room-crypto.ts';
import { holdsSparks, mergeSparks } from '../introductions.ts';
import { PeerError } from '../peer.ts';
import { objectAt, objectsAt, type RoomEvent, readEvent, readStripped, textAt, textsAt } from './events.ts';
import type { MatrixGround } from './matrix-ground.ts';
import { NOTE_KEYS, type NoteKind, readNote, readSparks, SPARKS_KEY } from './notes.ts';
import {
  addSeen,
  applyState,
  EMPTY_BOOK,
  type Invite,
  isFurther,
  isRoomId,
  MAX_SEEN,
  newRoom,
  type RoomBook,
  type RoomNotes,
  type RoomRecord,
  withEncryptions,
} from './room-book.ts';

type Ground = Pick<MatrixGround, 'selfId' | 'data'>;

/** @param isWhole the answer holds everything: what the book says and it does not is over. Sparks stay, and so does encryption */
export function applySync(before: RoomBook, answer: SyncAnswer, ground: Ground, isWhole: boolean): RoomBook {
  const base = isWhole ? { ...EMPTY_BOOK, sparks: before.sparks, encrypted: before.encrypted } : before;
  const sparks = applySparks(base.sparks, answer.accountData, ground);
  const isQuiet = answer.joined.length + answer.invited.length + answer.left.length === 0;
  if (!isWhole && isQuiet) return sparks === before.sparks ? before : { ...before, sparks };
  const rooms = new Map(base.rooms);
  const invites = new Map(base.invites);
  for (const [id] of answer.left) {
    rooms.delete(id);
    invites.delete(id);
  }
  for (const [id, room] of answer.invited) {
    rooms.delete(id);
    invites.set(id, readInvite(id, room, ground.selfId));
  }
  for (const [id, room] of answer.joined) {
    invites.delete(id);
    rooms.set(id, applyRoom(rooms.get(id) ?? newRoom(id, before.encrypted), room, ground));
  }
  const spoken = answer.joined.flatMap(([id]) => rooms.get(id) ?? []);
  return { rooms, invites, sparks, encrypted: withEncryptions(before.encrypted, spoken) };
}

function applyRoom(before: RoomRecord, room: JsonObject, ground: Ground): RoomRecord {
  const { state, timeline, isLimited } = readRoomNews(room);
  const known = applyState(before, state);
  const seen = { ...known, ...addSeen(known, timeline, isLimited) };
  const events = objectsAt(objectAt(room, 'account_data'), 'events');
  return { ...seen, notes: events.reduce((notes, event) => withNote({ ...seen, notes }, event, ground), seen.notes) };
}

function readInvite(roomId: string, room: JsonObject, selfId: string): Invite {
  const events = eventsOf(room, 'invite_state', readStripped);
  const inviter = events.findLast(
    ({ type, stateKey, content }) =>
      type === 'm.room.member' && stateKey === selfId && textAt(content, 'membership') === 'invite',
  )?.sender;
  const creator = events.find(({ type, stateKey }) => type === 'm.room.create' && stateKey === '')?.sender;
  return {
    roomId,
    ...(inviter === undefined || inviter === '' ? {} : { inviter }),
    ...(creator === undefined ? {} : { creator }),
  };
}

const KINDS = Object.entries(NOTE_KEYS) as readonly [NoteKind, string][];

function withNote({ id, notes, seen }: RoomRecord, event: JsonObject, { data }: Ground): RoomNotes {
  const [kind, key] = KINDS.find(([, one]) => one === event.type) ?? [];
  if (kind === undefined || key === undefined) return notes;
  const { value, isAsWanted } = data.open(objectAt(event, 'content'), key, id);
  const note = value && readNote[kind](value, id);
  if (note === undefined) return notes;
  // Another process may know of less: the further mark stays.
  const ours = kind === 'read' ? notes.read : undefined;
  const isLess = ours !== undefined && 'eventId' in note && isFurther(seen, ours, note);
  const behind = notes.behind.filter((other) => other !== kind);
  return {
    ...notes,
    ...(isLess ? {} : { [kind]: note }),
    behind: isAsWanted && !isLess ? behind : [...behind, kind],
  };
}

/** What we have and the server has not stays, and is to be written again. */
function applySparks(before: RoomBook['sparks'], events: readonly JsonObject[], { data }: Ground): RoomBook['sparks'] {
  const event = events.findLast(({ type }) => type === SPARKS_KEY);
  if (event === undefined) return before;
  const { value, isAsWanted } = data.open(objectAt(event, 'content'), SPARKS_KEY);
  if (value === undefined) return { ...before, isLocked: true };
  const { sparks, foreign } = readSparks(value);
  const isComplete = holdsSparks(sparks, before.sparks);
  return {
    sparks: mergeSparks(sparks, before.sparks),
    foreign,
    isBehind: !isComplete || (!isAsWanted && sparks.length + foreign.length > 0),
    isLocked: false,
  };
}

interface SyncAnswer {
  /** Position for the next one. */
  readonly next: string;
  readonly joined: RoomSections;
  readonly invited: RoomSections;
  readonly left: RoomSections;
  /** Events of the user's account data. */
  readonly accountData: readonly JsonObject[];
  readonly keys: KeyChanges;
}

type RoomSections = readonly (readonly [roomId: string, room: JsonObject])[];

/** It goes into the address of the next request. */
const MAX_POSITION = 4_096;

/** Throws `peers-bad-response` when it is no answer to a sync at all. */
export function readSync(answer: JsonObject): SyncAnswer {
  const next = textAt(answer, 'next_batch');
  if (next === undefined || next === '' || next.length > MAX_POSITION)
    throw new PeerError('the server answered a sync without a position that can be used', {
      code: 'peers-bad-response',
      retryable: true,
      fix: 'Check MATRIX_HOMESERVER: it must be the address of a Matrix homeserver.',
    });
  const rooms = objectAt(answer, 'rooms');
  return {
    next,
    joined: roomsAt(rooms, 'join'),
    invited: roomsAt(rooms, 'invite'),
    left: roomsAt(rooms, 'leave'),
    accountData: objectsAt(objectAt(answer, 'account_data'), 'events'),
    keys: readKeys(answer, next),
  };
}

/** Its state, from both sections in their order, and its timeline. */
export function readRoomNews(room: JsonObject) {
  const timeline = eventsOf(room, 'timeline', readEvent);
  const changes = timeline.filter(({ stateKey }) => stateKey !== undefined);
  const state = [...eventsOf(room, 'state', readStripped), ...changes];
  return { state, timeline, isLimited: objectAt(room, 'timeline').limited === true };
}

function eventsOf(room: JsonObject, section: string, read: typeof readEvent): readonly RoomEvent[] {
  return objectsAt(objectAt(room, section), 'events').flatMap((item) => read(item) ?? []);
}

function roomsAt(rooms: JsonObject, key: string): RoomSections {
  return Object.entries(objectAt(rooms, key)).flatMap(([id, room]) =>
    isRoomId(id) && isJsonObject(room) ? [[id, room] as const] : [],
  );
}

function readKeys(answer: JsonObject, next: string): KeyChanges {
  const lists = objectAt(answer, 'device_lists');
  const counts = Object.entries(objectAt(answer, 'device_one_time_keys_count'));
  const unused = answer.device_unused_fallback_key_types;
  return {
    toDevice: objectsAt(objectAt(answer, 'to_device'), 'events'),
    changed: textsAt(lists, 'changed'),
    left: textsAt(lists, 'left'),
    oneTimeKeyCounts: Object.fromEntries(
      counts.flatMap(([name, count]) => (typeof count === 'number' ? [[name, count]] : [])),
    ),
    ...(Array.isArray(unused) ? { unusedFallbackKeyTypes: textsAt(answer, 'device_unused_fallback_key_types') } : {}),
    next,
  };
}

const STATE = ['m.room.create', 'm.room.member', 'm.room.encryption'];
const NOTHING: JsonObject = { types: [] };

/** All that the peer layer reads. */
export const PEER_FILTER: JsonObject = {
  presence: NOTHING,
  account_data: { types: [SPARKS_KEY] },
  room: {
    state: { types: STATE, lazy_load_members: false },
    timeline: { types: ['m.room.message', 'm.room.encrypted', ...STATE], limit: MAX_SEEN },
    ephemeral: NOTHING,
    account_data: { types: Object.values(NOTE_KEYS) },
  },
};

/**
 * The peer filter in words that were never used before: Synapse gives the same answer again for two minutes to a first sync that looks the
 * same, so a restart would see the past.
 */
export function freshFilter(): JsonObject {
  return { ...PEER_FILTER, presence: { ...NOTHING, not_senders: [`@${randomHex(8)}:nobody.invalid`] } };
}

export interface Pulled {
  readonly answer: SyncAnswer;
  readonly before: RoomBook;
  /** The first of this process, or as good as. */
  readonly isWhole: boolean;
  /** Why encryption cannot be used, although it is on. */
  readonly trouble?: PeerError;
}

/** Thousands of rooms take a server its time, once. */
const WHOLE_IDLE_MS = 30_000;
const MAX_BYTES = 128 * 1_048_576;
/** So many messages about keys in one answer are a queue that was not acknowledged for long; servers give a hundred at a time. */
const LONG_QUEUE = 50;
const MAX_ROUNDS = 20;

/** One sync, and more of them while many messages about keys wait. */
export function createPuller(ground: MatrixGround): (signal: AbortSignal) => Promise<Pulled> {
  let since: string | undefined;
  const pullOnce = async (signal: AbortSignal): Promise<Pulled> => {
    const session = await openSession(ground);
    // Without the store nothing may be acknowledged, or the server forgets keys that nobody has kept.
    const news = await ask(ground, session.trouble === undefined ? since : undefined, signal);
    const pulled = await takeIn(ground, session, news, signal);
    since = session.trouble === undefined ? news.answer.next : undefined;
    return pulled;
  };
  return async (signal) => {
    const first = await pullOnce(signal);
    if (!ground.crypto.isOn || first.trouble !== undefined) return first;
    let last = first.answer;
    const answers = [last];
    for (let round = 0; last.keys.toDevice.length >= LONG_QUEUE && round < MAX_ROUNDS; round += 1) {
      last = (await pullOnce(signal)).answer;
      answers.push(last);
    }
    return answers.length === 1 ? first : { ...first, answer: joinAnswers(answers, last) };
  };
}

function joinAnswers(answers: readonly SyncAnswer[], last: SyncAnswer): SyncAnswer {
  const keys = answers.map((answer) => answer.keys);
  return {
    ...last,
    joined: answers.flatMap(({ joined }) => joined),
    left: answers.flatMap(({ left }) => left),
    keys: {
      ...last.keys,
      toDevice: keys.flatMap(({ toDevice }) => toDevice),
      changed: keys.flatMap(({ changed }) => changed),
    },
  };
}

interface Session {
  readonly crypto?: RoomCrypto;
  readonly trouble?: PeerError;
}

async function openSession(ground: MatrixGround): Promise<Session> {
  if (!ground.crypto.isOn) return {};
  try {
    return { crypto: await ground.crypto.open() };
  } catch (error) {
    if (error instanceof PeerError && error.code === 'peers-encryption') return { trouble: error };
    throw error;
  }
}

interface News {
  readonly answer: SyncAnswer;
  readonly isWhole: boolean;
}

async function takeIn(
  ground: MatrixGround,
  { crypto, trouble }: Session,
  { answer, isWhole }: News,
  signal: AbortSignal,
): Promise<Pulled> {
  const { shelf } = ground;
  const before = shelf.book();
  const isNew = isWhole || answer.joined.some(([id]) => !before.rooms.has(id));
  const remembered = isNew ? (crypto?.encryptedRooms() ?? []) : [];
  const apply = (book: RoomBook) => applySync(withRemembered(book, remembered), answer, ground, isWhole);
  const after = apply(before);
  const keys = { ...answer.keys, encrypted: newEncryptions(before, after), ...(isWhole ? { isInitial: true } : {}) };
  await crypto?.receive(keys, signal);
  // What others did meanwhile stays.
  shelf.put(shelf.book() === before ? after : apply(shelf.book()));
  return { answer, before, isWhole, ...(trouble === undefined ? {} : { trouble }) };
}

/** What was encrypted once is so for this book, whatever the server says now. */
function withRemembered(book: RoomBook, rooms: readonly EncryptedRoom[]): RoomBook {
  const unknown = rooms.filter(({ roomId }) => !book.encrypted.has(roomId));
  if (unknown.length === 0) return book;
  const settings = unknown.map(({ roomId, settings }) => [roomId, settings] as const);
  return { ...book, encrypted: new Map([...book.encrypted, ...settings]) };
}

function newEncryptions(before: RoomBook, after: RoomBook): readonly EncryptedRoom[] {
  if (after.encrypted === before.encrypted) return [];
  return [...after.encrypted].flatMap(([roomId, settings]) =>
    before.encrypted.get(roomId) === settings ? [] : [{ roomId, settings }],
  );
}

/** From `since`, or everything when there is none or the server does not know it any more. */
async function ask(ground: MatrixGround, since: string | undefined, signal: AbortSignal): Promise<News> {
  if (since !== undefined) {
    const answer = await syncFrom(ground, PEER_FILTER, signal, since).catch(unknownPosition);
    if (answer !== undefined) return { answer, isWhole: false };
  }
  return { answer: await syncFrom(ground, freshFilter(), signal), isWhole: true };
}

function unknownPosition(error: unknown): undefined {
  if (error instanceof PeerError && (error.status === 400 || error.status === 404) && error.errcode !== undefined)
    return;
  throw error;
}

export async function syncFrom(
  { http }: MatrixGround,
  filter: JsonObject,
  signal: AbortSignal,
  since?: string,
): Promise<SyncAnswer> {
  const query = { timeout: '0', filter: JSON.stringify(filter), ...(since === undefined ? {} : { since }) };
  const idle = since === undefined ? { idleMs: WHOLE_IDLE_MS } : {};
  return readSync(await http({ method: 'GET', path: ['v3', 'sync'], query, maxBytes: MAX_BYTES, ...idle }, signal));
}
