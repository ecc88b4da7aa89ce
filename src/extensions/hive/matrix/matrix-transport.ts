// Owns the PeerTransport over the Matrix client-server API (seed 004, layer 3): puts its parts together. Knows no tool and no model.
// Invariant: nothing runs between calls, and nothing is kept on this machine but what encryption needs.
import { throwIfAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import type { HiveAccount, HiveConfig } from '../hive-config.ts';
import { PeerError } from '../peers/peer-error.ts';
import type { PeerTransport } from '../peers/peer-transport.ts';
import { createAccountData } from './account-data/account-data.ts';
import type { AccountDataCipher } from './account-data/account-data-cipher.ts';
import { changeSparks } from './account-data/change-sparks.ts';
import { keepSummary } from './account-data/keep-summary.ts';
import type { RoomCrypto } from './crypto/room-crypto.ts';
import { isUserId, opaqueId } from './events/user-id.ts';
import { examineMatrix } from './examine/examine-matrix.ts';
import { createFetchHttp } from './http/fetch-http.ts';
import type { MatrixHttp } from './http/matrix-http.ts';
import { introducePeers } from './introduce/introduce-peers.ts';
import { createLateDevices } from './introduce/late-devices.ts';
import { makeContact } from './introduce/make-contact.ts';
import { createOwnRooms } from './introduce/own-rooms.ts';
import type { MatrixGround } from './matrix-ground.ts';
import { createBookShelf } from './rooms/book-shelf.ts';
import { createJoinPolicy } from './rooms/join-policy.ts';
import { createPeerViewer } from './rooms/peer-view.ts';
import { createSerial } from './serial.ts';
import { createInviteDesk } from './sync/accept-invites.ts';
import { createChores } from './sync/chores.ts';
import { createPuller } from './sync/pull-sync.ts';
import { createRefresh } from './sync/refresh.ts';
import { createCryptoDoor } from './talk/crypto-door.ts';
import { markRead } from './talk/mark-read.ts';
import { readMessages } from './talk/read-messages.ts';
import { createSender } from './talk/send-message.ts';

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
  const isWelcome = createJoinPolicy(parts.config.join);
  const ground = makeGround(parts, isWelcome);
  const { shelf, viewer } = ground;
  const inOrder = createSerial();
  const sparksInOrder = createSerial();
  const refresh = createRefresh(ground, {
    pull: createPuller(ground),
    invites: createInviteDesk(ground, isWelcome),
    chores: createChores(ground),
    late: createLateDevices(ground),
  });
  const ownRooms = createOwnRooms(ground, refresh.look);
  const send = createSender(ground, (signal) => inOrder(() => refresh.look(signal), signal));
  return {
    selfId: opaqueId(ground.selfId),
    refresh: (signal) => inOrder(() => refresh.run(signal), signal),
    peers: () => [...viewer.view(shelf.book()).values()].map(({ known }) => known),
    messages: (id, { limit }, signal) =>
      readMessages(ground, { id, ...(limit === undefined ? {} : { limit }) }, signal),
    send,
    introduce: (introduction, signal) =>
      inOrder(() => introducePeers(ground, { introduction, ownRooms }, signal), signal),
    contact: (contact, signal) => inOrder(() => makeContact(ground, { contact, ownRooms }, signal), signal),
    keepSummary: (id, summary, signal) => keepSummary(ground, { id, summary }, signal),
    markRead: (id, messageId, signal) => markRead(ground, { id, messageId }, signal),
    sparks: () => shelf.book().sparks.sparks,
    changeSparks: (change, signal) => sparksInOrder(() => changeSparks(ground, change, signal), signal),
    examine: async (signal) => {
      throwIfAborted(signal);
      return examineMatrix(ground, isWelcome, signal);
    },
    close: () => ground.crypto.close(),
  };
}

function makeGround(parts: MatrixParts, isWelcome: (userId: string) => boolean): MatrixGround {
  const { account, config, clock, warn } = parts;
  const selfId = account.userId;
  if (!isUserId(selfId))
    throw new PeerError('MATRIX_USER_ID is no id of a user', {
      code: 'peers-not-configured',
      fix: 'Set MATRIX_USER_ID to an id such as @hermes-of-bob:example.org.',
    });
  const http = parts.http ?? createFetchHttp(account, clock);
  return {
    selfId,
    http,
    clock,
    warn,
    join: config.join,
    data: createAccountData(http, selfId, parts.cipher),
    crypto: createCryptoDoor(parts.crypto),
    shelf: createBookShelf(),
    viewer: createPeerViewer({ selfId, isWelcome, canEncrypt: parts.crypto !== undefined }),
  };
}
