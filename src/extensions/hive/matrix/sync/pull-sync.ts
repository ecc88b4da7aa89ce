// Owns one sync: what is asked, what of the answer is taken in, and from where the next one goes on (seed 004, on-demand sync).
// Invariant: the position advances only after everything of an answer was applied; with encryption, after its keys were stored.
import type { JsonObject } from '#base/json.ts';
import { PeerError } from '../../peers/peer-error.ts';
import type { RoomCrypto } from '../crypto/room-crypto.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import { presentMembers, type RoomBook } from '../rooms/room-book.ts';
import { applySync } from './apply-sync.ts';
import { readSync, type SyncAnswer } from './read-sync.ts';
import { freshFilter, KEYS_FILTER, PEER_FILTER } from './sync-filter.ts';

export interface Pulled {
  readonly answer: SyncAnswer;
  readonly before: RoomBook;
  /** The first of this process, or as good as. */
  readonly isWhole: boolean;
  /** Users whose devices changed; undefined: it is not known whose. */
  readonly changedDevices: readonly string[] | undefined;
  /** Why encryption cannot be used, although it is on. */
  readonly trouble?: PeerError;
}

/** Thousands of rooms take a server its time, once. */
const WHOLE_IDLE_MS = 30_000;
const MAX_BYTES = 256 * 1_048_576;

export function createPuller(ground: MatrixGround): (signal: AbortSignal) => Promise<Pulled> {
  let since: string | undefined;
  return async (signal) => {
    const session = await openSession(ground, since, signal);
    const news = await ask(ground, session.start, signal);
    const pulled = await takeIn(ground, { session, ...news }, signal);
    since = session.trouble === undefined ? (session.keys?.next ?? news.answer.next) : undefined;
    return pulled;
  };
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
  const change = (book: RoomBook) => applySync(book, answer, { selfId, open: data.open, isWhole });
  if (session.keys === undefined)
    await session.crypto?.receive(isWhole ? withEverybody(answer, change(before)) : answer.keys, signal);
  shelf.put(change(shelf.book()));
  return {
    answer: session.keys === undefined ? answer : { ...answer, keys: session.keys.keys },
    before,
    isWhole,
    changedDevices: isWhole ? undefined : answer.keys.changed,
    ...(session.trouble === undefined ? {} : { trouble: session.trouble }),
  };
}

interface Session {
  /** From where to go on; undefined: from the beginning. */
  readonly start?: string | undefined;
  readonly crypto?: RoomCrypto;
  readonly trouble?: PeerError;
  /** Keys that came while no process was there, taken in already. */
  readonly keys?: SyncAnswer | undefined;
}

async function openSession(ground: MatrixGround, since: string | undefined, signal: AbortSignal): Promise<Session> {
  if (!ground.crypto.isOn) return { start: since };
  try {
    const crypto = await ground.crypto.open();
    return { crypto, start: since, keys: since === undefined ? await keysSince(ground, crypto, signal) : undefined };
  } catch (error) {
    // Without the store nothing may be acknowledged, or the server forgets keys that nobody has kept.
    if (error instanceof PeerError && error.code === 'peers-encryption') return { trouble: error };
    throw error;
  }
}

/** What happened to keys while this process was not there; undefined when the store is new or the server does not know its position. */
async function keysSince(
  ground: MatrixGround,
  crypto: RoomCrypto,
  signal: AbortSignal,
): Promise<SyncAnswer | undefined> {
  const position = crypto.position();
  if (position === undefined) return undefined;
  const answer = await syncFrom(ground, { since: position, filter: KEYS_FILTER }, signal).catch(unknownPosition);
  if (answer !== undefined) await crypto.receive(answer.keys, signal);
  return answer;
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

/** Without a position of before nobody says whose devices changed meanwhile: so everybody's may have. */
function withEverybody(answer: SyncAnswer, book: RoomBook): SyncAnswer['keys'] {
  const encrypted = [...book.rooms.values()].filter(({ encryption }) => encryption !== undefined);
  return { ...answer.keys, changed: [...new Set([...answer.keys.changed, ...encrypted.flatMap(presentMembers)])] };
}
