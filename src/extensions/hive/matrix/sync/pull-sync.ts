// Owns one sync: what is asked, what of the answer is taken in, and from where the next one goes on (seed 004, on-demand sync).
// Invariant: the position advances only after everything of an answer was applied; with encryption, after its keys were stored.
import type { JsonObject } from '#base/json.ts';
import { PeerError } from '../../peers/peer-error.ts';
import type { EncryptedRoom, RoomCrypto } from '../crypto/room-crypto.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import type { RoomBook } from '../rooms/room-book.ts';
import { applySync } from './apply-sync.ts';
import { readSync, type SyncAnswer } from './read-sync.ts';
import { freshFilter, PEER_FILTER } from './sync-filter.ts';

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

export function createPuller(ground: MatrixGround): (signal: AbortSignal) => Promise<Pulled> {
  let since: string | undefined;
  const pullOnce = async (signal: AbortSignal): Promise<Pulled> => {
    const session = await openSession(ground);
    // Without the store nothing may be acknowledged, or the server forgets keys that nobody has kept.
    const news = await ask(ground, session.trouble === undefined ? since : undefined, signal);
    const pulled = await takeIn(ground, { session, ...news }, signal);
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
  { session, answer, isWhole }: News & { readonly session: Session },
  signal: AbortSignal,
): Promise<Pulled> {
  const { shelf, selfId, data } = ground;
  const before = shelf.book();
  const isNew = isWhole || answer.joined.some(([id]) => !before.rooms.has(id));
  const remembered = isNew ? (session.crypto?.encryptedRooms() ?? []) : [];
  const apply = (book: RoomBook) =>
    applySync(withRemembered(book, remembered), answer, { selfId, open: data.open, isWhole });
  const after = apply(before);
  const keys = { ...answer.keys, encrypted: newEncryptions(before, after), ...(isWhole ? { isInitial: true } : {}) };
  await session.crypto?.receive(keys, signal);
  // What others did meanwhile stays.
  shelf.put(shelf.book() === before ? after : apply(shelf.book()));
  return { answer, before, isWhole, ...(session.trouble === undefined ? {} : { trouble: session.trouble }) };
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
    const answer = await syncFrom(ground, { since, filter: PEER_FILTER }, signal).catch(unknownPosition);
    if (answer !== undefined) return { answer, isWhole: false };
  }
  return { answer: await syncFrom(ground, { filter: freshFilter() }, signal), isWhole: true };
}

function unknownPosition(error: unknown): undefined {
  if (error instanceof PeerError && (error.status === 400 || error.status === 404) && error.errcode !== undefined)
    return;
  throw error;
}

async function syncFrom(
  { http }: MatrixGround,
  { since, filter }: { readonly since?: string; readonly filter: JsonObject },
  signal: AbortSignal,
): Promise<SyncAnswer> {
  const query = { timeout: '0', filter: JSON.stringify(filter), ...(since === undefined ? {} : { since }) };
  const idle = since === undefined ? { idleMs: WHOLE_IDLE_MS } : {};
  return readSync(await http({ method: 'GET', path: ['v3', 'sync'], query, maxBytes: MAX_BYTES, ...idle }, signal));
}
