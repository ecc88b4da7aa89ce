// Owns what `peers doctor` looks at in the Matrix backend: address, account, what arrives, invitations, rooms without a peer, encryption.
// For the owner's eyes: may name servers and room ids. Invariant: changes nothing, sends nothing, and no detail holds the token.
import { throwIfAborted } from '#base/abort.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { plural } from '#base/text.ts';
import type { TransportReport } from '../../peers/peer-transport.ts';
import { textAt, textsAt } from '../events/json-access.ts';
import { opaqueId } from '../events/user-id.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import { EMPTY_BOOK, type RoomBook } from '../rooms/room-book.ts';
import { refusalOf } from '../sync/accept-invites.ts';
import { applySync } from '../sync/apply-sync.ts';
import { readSync } from '../sync/read-sync.ts';
import { freshFilter } from '../sync/sync-filter.ts';

type Check = TransportReport['checks'][number];
type IsWelcome = (userId: string) => boolean;

const MAX_NAMED = 10;

export async function examineMatrix(
  ground: MatrixGround,
  isWelcome: IsWelcome,
  signal: AbortSignal,
): Promise<TransportReport> {
  const server = await check('server', () => lookAtServer(ground, signal), signal);
  if (!server.ok) return { checks: [server] };
  const account = await check('account', () => lookAtAccount(ground, signal), signal);
  if (!account.ok) return { checks: [server, account] };
  const found: { book?: RoomBook } = {};
  const sync = await check(
    'sync',
    async () => {
      found.book = await wholeBook(ground, signal);
      return `${plural(found.book.rooms.size, 'room')}, ${peerCount(ground, found.book)}`;
    },
    signal,
  );
  const rooms = found.book === undefined ? [] : roomChecks(ground, found.book, isWelcome);
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
  const query = { timeout: '0', filter: JSON.stringify(freshFilter()) };
  const answer = await ground.http(
    { method: 'GET', path: ['v3', 'sync'], query, idleMs: 30_000, maxBytes: 128 * 1_048_576 },
    signal,
  );
  const before = { ...EMPTY_BOOK, encrypted: ground.shelf.book().encrypted };
  return applySync(before, readSync(answer), { selfId: ground.selfId, open: ground.data.open, isWhole: true });
}

function peerCount({ viewer }: MatrixGround, book: RoomBook): string {
  return plural(viewer.view(book).size, 'peer');
}

function roomChecks(ground: MatrixGround, book: RoomBook, isWelcome: IsWelcome): readonly Check[] {
  const waiting = [...book.invites.values()];
  const refused = waiting.flatMap((invite) => refusalOf(invite, ground, isWelcome) ?? []);
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

const KEY_FIX = 'Put the key file peers/account-data.key of this agent back, and set peers.encrypt_account_data: true.';

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
