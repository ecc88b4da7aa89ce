// Owns the PeerTransport over the Matrix client-server API (seed 004, layer 3): puts its parts together, and what `peers doctor` looks at (for the
// owner's eyes: may name servers and room ids). Knows no tool and no model. Invariants: nothing runs between calls, and nothing is kept on this
// machine but what encryption needs; an examination changes nothing, sends nothing, and no detail of it holds the token.
import { raceAbort, throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { plural } from '#base/text.ts';
import type { RoomCrypto } from '../crypto/room-crypto.ts';
import { PeerError, type PeerTransport, type TransportReport } from '../peer.ts';
import type { HiveAccount, HiveConfig } from '../settings.ts';
import { isUserId, opaqueId, textAt, textsAt } from './events.ts';
import { changeSparks, KEY_FIX, keepSummary, markRead } from './keep-notes.ts';
import { CryptoDoor, type MatrixGround } from './matrix-ground.ts';
import { createFetchHttp, type MatrixHttp } from './matrix-http.ts';
import { AccountData, type AccountDataCipher } from './notes.ts';
import { OwnRooms } from './own-rooms.ts';
import { createJoinPolicy, createPeerViewer } from './peer-view.ts';
import { Refresh, refusalOf } from './refresh.ts';
import { BookShelf, EMPTY_BOOK, type RoomBook } from './room-book.ts';
import { applySync, freshFilter, syncFrom } from './sync.ts';
import { createSender, readMessages } from './talk.ts';

export interface MatrixParts {
  readonly account: HiveAccount;
  readonly config: HiveConfig;
  readonly clock: Clock;
  /** Default: fetch on the homeserver's address. */
  readonly http?: MatrixHttp;
  /** Present when `peers.e2ee` is on; called when first needed. */
  readonly crypto?: () => Promise<RoomCrypto>;
  /** Present when notes on the server are to be sealed. */
  readonly cipher?: AccountDataCipher;
  /** For the log, one sentence. */
  readonly warn: (text: string) => void;
}

/** Opens nothing. Throws `peers-not-configured` when address or user id have not the right form. */
export function createMatrixTransport(parts: MatrixParts): PeerTransport {
  const ground = makeGround(parts);
  const { shelf, viewer } = ground;
  const inOrder = createSerial();
  const sparksInOrder = createSerial();
  const refresh = new Refresh(ground);
  const ownRooms = new OwnRooms(ground, (signal) => refresh.look(signal));
  return {
    selfId: opaqueId(ground.selfId),
    refresh: (signal) => inOrder(() => refresh.run(signal), signal),
    peers: () => [...viewer.view(shelf.book()).values()].map(({ known }) => known),
    messages: (id, { limit }, signal) => readMessages(ground, id, limit, signal),
    send: createSender(ground, (signal) => inOrder(() => refresh.look(signal), signal)),
    introduce: (introduction, signal) => inOrder(() => ownRooms.introduce(introduction, signal), signal),
    contact: (contact, signal) => inOrder(() => ownRooms.contact(contact, signal), signal),
    keepSummary: (id, summary, signal) => keepSummary(ground, id, summary, signal),
    markRead: (id, messageId, signal) => markRead(ground, id, messageId, signal),
    sparks: () => shelf.book().sparks.sparks,
    changeSparks: (change, signal) => sparksInOrder(() => changeSparks(ground, change, signal), signal),
    examine: async (signal) => {
      throwIfAborted(signal);
      return examineMatrix(ground, signal);
    },
    close: () => ground.crypto.close(),
  };
}

function makeGround({ account, config, clock, warn, crypto, cipher, ...parts }: MatrixParts): MatrixGround {
  const selfId = account.userId;
  if (!isUserId(selfId))
    throw new PeerError('MATRIX_USER_ID is no id of a user', {
      code: 'peers-not-configured',
      fix: 'Set MATRIX_USER_ID to an id such as @hermes-of-bob:example.org.',
    });
  const http = parts.http ?? createFetchHttp(account, clock);
  const isWelcome = createJoinPolicy(config.join);
  return {
    selfId,
    http,
    clock,
    warn,
    isWelcome,
    join: config.join,
    data: new AccountData(http, selfId, cipher),
    crypto: new CryptoDoor(crypto),
    shelf: new BookShelf(),
    viewer: createPeerViewer({ selfId, isWelcome, canEncrypt: crypto !== undefined }),
  };
}

/** Does one thing after the other; a failure, or somebody who stops waiting, holds nobody up. */
function createSerial() {
  let last: Promise<unknown> = Promise.resolve();
  return async <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    throwIfAborted(signal);
    const before = last;
    const mine = (async () => {
      await before;
      throwIfAborted(signal);
      return work();
    })();
    last = mine.catch(() => undefined);
    return raceAbort(mine, signal);
  };
}

type Check = TransportReport['checks'][number];

const MAX_NAMED = 10;

async function examineMatrix(ground: MatrixGround, signal: AbortSignal): Promise<TransportReport> {
  const server = await check('server', () => lookAtServer(ground, signal), signal);
  if (!server.ok) return { checks: [server] };
  const account = await check('account', () => lookAtAccount(ground, signal), signal);
  if (!account.ok) return { checks: [server, account] };
  let rooms: readonly Check[] = [];
  const lookAtRooms = async () => {
    const book = await wholeBook(ground, signal);
    rooms = roomChecks(ground, book);
    return `${plural(book.rooms.size, 'room')}, ${plural(ground.viewer.view(book).size, 'peer')}`;
  };
  const sync = await check('sync', lookAtRooms, signal);
  return { checks: [server, account, sync, ...rooms, await lookAtCrypto(ground, signal)] };
}

async function check(name: string, look: () => Promise<string>, signal: AbortSignal): Promise<Check> {
  try {
    return { ok: true, name, detail: await look() };
  } catch (error) {
    throwIfAborted(signal);
    if (errorCode(error) === undefined) throw error;
    const fix = error instanceof TalariaError ? error.fix : undefined;
    return { ok: false, name, detail: errorText(error), ...(fix === undefined ? {} : { fix }) };
  }
}

async function lookAtServer({ http }: MatrixGround, signal: AbortSignal): Promise<string> {
  const versions = textsAt(await http({ method: 'GET', path: ['versions'] }, signal), 'versions');
  return versions.length === 0 ? 'answers' : `speaks ${versions.at(-1)}`;
}

async function lookAtAccount(ground: MatrixGround, signal: AbortSignal): Promise<string> {
  const answer = await ground.http({ method: 'GET', path: ['v3', 'account', 'whoami'] }, signal);
  const userId = textAt(answer, 'user_id') ?? 'nobody';
  if (userId === ground.selfId) return userId;
  throw new TalariaError(`the token is ${userId}'s, MATRIX_USER_ID says ${ground.selfId}`, {
    code: 'peers-auth',
    fix: 'Sign in again: talaria peers login',
  });
}

/** A look of its own: the examination leaves what is known as it is. */
async function wholeBook(ground: MatrixGround, signal: AbortSignal): Promise<RoomBook> {
  const answer = await syncFrom(ground, freshFilter(), signal);
  return applySync({ ...EMPTY_BOOK, encrypted: ground.shelf.book().encrypted }, answer, ground, true);
}

function roomChecks(ground: MatrixGround, book: RoomBook): readonly Check[] {
  const waiting = [...book.invites.values()];
  const refused = waiting.flatMap((invite) => refusalOf(invite, ground) ?? []);
  const odd = [...book.rooms.values()].flatMap((room) => {
    const verdict = ground.viewer.judge(room);
    if (verdict.kind === 'none') return verdict.isOdd ? [`${room.id}: ${verdict.why}`] : [];
    return verdict.isShared ? [`${room.id}: others can read what is said to ${opaqueId(verdict.userId)}`] : [];
  });
  const sealed: readonly Check[] = book.sparks.isLocked
    ? [{ ok: false, name: 'notes', detail: 'the suggestions are sealed with a key that we lack', fix: KEY_FIX }]
    : [];
  return [
    {
      ok: true,
      name: 'invitations',
      detail: [`${waiting.length - refused.length} to be accepted at the next turn`, ...named(refused)].join('; '),
    },
    { ok: true, name: 'rooms without a peer', detail: named(odd).join('; ') || 'none' },
    ...sealed,
  ];
}

function named(list: readonly string[]): readonly string[] {
  const rest = list.length - MAX_NAMED;
  return [...list.slice(0, MAX_NAMED), ...(rest > 0 ? [`and ${rest} more`] : [])];
}

async function lookAtCrypto(ground: MatrixGround, signal: AbortSignal): Promise<Check> {
  if (!ground.crypto.isOn) return { ok: true, name: 'encryption', detail: 'off (peers.e2ee)' };
  return check(
    'encryption',
    async () => {
      const { deviceId } = await ground.crypto.open();
      const answer = await ground.http({ method: 'GET', path: ['v3', 'account', 'whoami'] }, signal);
      const present = textAt(answer, 'device_id');
      if (present === undefined || present === deviceId) return `on, device ${deviceId}`;
      throw new TalariaError(`the key store is of device ${deviceId}, the token of device ${present}`, {
        code: 'peers-encryption',
        fix: 'Sign in again: talaria peers login',
      });
    },
    signal,
  );
}
