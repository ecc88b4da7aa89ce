// Owns the acceptance of introductions: who may introduce, how many a turn, and what is told to the owner about the others (R4.46; notes 6,
// B7, B15). Invariant: an invitation waits in the book until it is accepted or taken back; one that fails does not hold up the others.
import { plural } from '#base/text.ts';
import { PeerError } from '../../peers/peer-error.ts';
import { opaqueId } from '../events/user-id.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import type { Invite, RoomRecord } from '../rooms/room-book.ts';
import { enterRoom } from './enter-room.ts';

export interface Acceptance {
  /** Sentences for the owner. */
  readonly notices: readonly string[];
  /** The network is not to be asked for more now. */
  readonly isStopped: boolean;
}

/** Called with each room after it was entered; false: the network is not to be asked for more now. */
export type OnEntered = (room: RoomRecord) => Promise<boolean>;

export interface InviteDesk {
  accept(onEntered: OnEntered, signal: AbortSignal): Promise<Acceptance>;
}

/** Failures of one room; every other one concerns all of them. */
const OF_THE_ROOM: ReadonlySet<string> = new Set(['peers-forbidden', 'peers-server-error', 'peers-too-large']);
const MAX_TRIES = 5;

export function createInviteDesk(ground: MatrixGround, isWelcome: (userId: string) => boolean): InviteDesk {
  const tries = new Map<string, number>();
  const told = new Set<string>();
  const triesOf = ({ roomId }: Invite) => tries.get(roomId) ?? 0;
  const tell = ({ roomId }: Invite, text: string): readonly string[] => {
    if (told.has(roomId)) return [];
    told.add(roomId);
    return [text];
  };
  const failed = (invite: Invite, error: PeerError): Acceptance => {
    tries.set(invite.roomId, triesOf(invite) + 1);
    ground.warn(`joining ${invite.roomId} failed: ${error.message}`);
    const notices = tell(invite, `${subject(invite)} could not be accepted yet: ${error.message}`);
    return { notices, isStopped: !OF_THE_ROOM.has(error.code) };
  };
  return {
    accept: async (onEntered, signal) => {
      const { invites } = ground.shelf.book();
      forgetOthers(tries, invites);
      forgetOthers(told, invites);
      const refused = [...invites.values()].flatMap((invite) => {
        const why = refusalOf(invite, ground, isWelcome);
        return why === undefined ? [] : tell(invite, why);
      });
      // What failed before comes last, so that it never stands in the way.
      const waiting = [...invites.values()]
        .filter((invite) => refusalOf(invite, ground, isWelcome) === undefined && triesOf(invite) < MAX_TRIES)
        .sort((a, b) => triesOf(a) - triesOf(b));
      const now = waiting.slice(0, ground.join.per_turn);
      const done = await acceptAll(now, { ground, onEntered, failed }, signal);
      const later = waiting.length - now.length;
      const more = later > 0 ? [`${plural(later, 'more introduction')} will be accepted in the next turns.`] : [];
      return { notices: [...refused, ...done.notices, ...more], isStopped: done.isStopped };
    },
  };
}

interface Steps {
  readonly ground: MatrixGround;
  readonly onEntered: OnEntered;
  readonly failed: (invite: Invite, error: PeerError) => Acceptance;
}

async function acceptAll(
  invites: readonly Invite[],
  { ground, onEntered, failed }: Steps,
  signal: AbortSignal,
): Promise<Acceptance> {
  const notices: string[] = [];
  for (const invite of invites) {
    const outcome = await tryToEnter(ground, invite, signal);
    if (outcome instanceof PeerError) {
      const failure = failed(invite, outcome);
      notices.push(...failure.notices);
      if (failure.isStopped) return { notices, isStopped: true };
    } else if (!(await onEntered(outcome))) return { notices, isStopped: true };
  }
  return { notices, isStopped: false };
}

async function tryToEnter(ground: MatrixGround, invite: Invite, signal: AbortSignal): Promise<RoomRecord | PeerError> {
  try {
    return await enterRoom(ground, invite.roomId, signal);
  } catch (error) {
    if (error instanceof PeerError) return error;
    throw error;
  }
}

/** Why an invitation is left alone; undefined: it is to be accepted. */
export function refusalOf(
  invite: Invite,
  { join }: Pick<MatrixGround, 'join'>,
  isWelcome: (userId: string) => boolean,
): string | undefined {
  if (!join.enabled) return `${subject(invite)} waits: peers.join.enabled is off.`;
  if (invite.inviter === undefined) return `${subject(invite)} was not accepted: it does not say who sent it.`;
  const unwelcome = [invite.inviter, invite.creator].find((userId) => userId !== undefined && !isWelcome(userId));
  if (unwelcome === undefined) return undefined;
  return `${subject(invite)} was not accepted: peers.join does not let ${opaqueId(unwelcome)} introduce.`;
}

function subject({ inviter, roomId }: Invite): string {
  return inviter === undefined ? `An introduction (${roomId})` : `An introduction by ${opaqueId(inviter)}`;
}

function forgetOthers(
  of: { keys(): Iterable<string>; delete(key: string): boolean },
  invites: ReadonlyMap<string, Invite>,
) {
  for (const key of [...of.keys()]) if (!invites.has(key)) of.delete(key);
}
