// Owns the making of a room with its first messages, for an introduction or a contact (R4.41). Knows no peer.
// Invariant: one plan makes one room, however often a step fails within this process: a room whose creation was not confirmed is looked for by
// its mark, and a message that was sent is not sent again.
import { newId } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import { PeerError } from '../../peers/peer-error.ts';
import { wasRefused } from '../http/was-refused.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import { DIRECT_KEY, MARK_KEY } from '../rooms/apply-state.ts';
import { emptyRoom, isRoomId, type RoomRecord } from '../rooms/room-book.ts';
import { type Parcel, packParcels, sendParcel, textContent } from '../talk/send-parcels.ts';
import { type ReachedDevices, reachedDevices } from './late-devices.ts';

export interface RoomPlan {
  /** The same for the same room. */
  readonly key: string;
  readonly name?: string;
  /** User ids. */
  readonly invite: readonly string[];
  readonly isDirect: boolean;
  /** Sent in this order. */
  readonly lines: readonly string[];
  /** Runs before the messages are sent, again after a failure. */
  readonly onMade?: (room: RoomRecord) => Promise<void>;
}

export interface OwnRooms {
  carryOut(plan: RoomPlan, signal: AbortSignal): Promise<void>;
  /** Begun within this process and not carried out to its end. */
  isUnfinished(key: string): boolean;
  /** The next plan of this key makes another room. */
  forget(key: string): void;
}

interface Progress {
  readonly mark: string;
  mayExist: boolean;
  /** The server may still be at it. */
  isUnderWay: boolean;
  room?: RoomRecord;
  /** What is still to be sent, in order; undefined until it was packed. */
  parcels?: readonly Parcel[];
  /** Devices that can read the parcels. */
  reached?: ReachedDevices;
}

/** @param look takes in what is new, so that a room made by us is found */
export function createOwnRooms(ground: MatrixGround, look: (signal: AbortSignal) => Promise<void>): OwnRooms {
  const plans = new Map<string, Progress>();
  return {
    carryOut: async (plan, signal) => {
      const progress = plans.get(plan.key) ?? { mark: newId('intro'), mayExist: false, isUnderWay: false };
      plans.set(plan.key, progress);
      if (progress.parcels?.length === 0) return;
      progress.room ??= await makeRoom({ ground, plan, progress, look }, signal);
      await plan.onMade?.(progress.room);
      await sendLines(ground, { plan, progress, room: progress.room }, signal);
    },
    isUnfinished: (key) => plans.has(key) && plans.get(key)?.parcels?.length !== 0,
    forget: (key) => {
      plans.delete(key);
    },
  };
}

interface Making {
  readonly ground: MatrixGround;
  readonly plan: RoomPlan;
  readonly progress: Progress;
  readonly look: (signal: AbortSignal) => Promise<void>;
}

async function makeRoom({ ground, plan, progress, look }: Making, signal: AbortSignal): Promise<RoomRecord> {
  const found = await findMade(ground, { progress, look }, signal);
  if (found !== undefined) return inviteRest(ground, { plan, room: found }, signal);
  // Nobody is invited to what could not be told.
  if (ground.crypto.isOn) await ground.crypto.open();
  const answer = await askForRoom(ground, { plan, progress }, signal);
  const roomId = answer.room_id;
  if (!isRoomId(roomId))
    throw new PeerError('the server did not say which room it made', {
      code: 'peers-bad-response',
      retryable: true,
      fix: 'Try again: no second room is made.',
    });
  const room = ground.shelf.book().rooms.get(roomId) ?? madeRoom(ground, { plan, mark: progress.mark, roomId });
  ground.shelf.putRoom(room);
  return room;
}

/** Waits before each further look for a room that the server may still be making. */
const LOOK_AGAIN_MS = [1_000, 3_000];

/** The room of an earlier attempt that was not confirmed. */
async function findMade(
  { shelf, clock }: MatrixGround,
  { progress, look }: Pick<Making, 'progress' | 'look'>,
  signal: AbortSignal,
): Promise<RoomRecord | undefined> {
  if (!progress.mayExist) return undefined;
  for (const wait of [0, ...(progress.isUnderWay ? LOOK_AGAIN_MS : [])]) {
    if (wait > 0) await clock.sleep(wait, signal);
    await look(signal);
    const found = [...shelf.book().rooms.values()].find(({ creation }) => creation?.mark === progress.mark);
    if (found !== undefined) return found;
  }
  progress.isUnderWay = false;
  return undefined;
}

async function askForRoom(
  { http, crypto }: MatrixGround,
  { plan, progress }: Pick<Making, 'plan' | 'progress'>,
  signal: AbortSignal,
): Promise<JsonObject> {
  progress.mayExist = true;
  progress.isUnderWay = true;
  const body = creationOf(plan, progress.mark, crypto.isOn);
  try {
    return await http({ method: 'POST', path: ['v3', 'createRoom'], body }, signal);
  } catch (error) {
    if (wasRefused(error)) progress.isUnderWay = false;
    throw error;
  }
}

const ENCRYPTION: JsonObject = { algorithm: 'm.megolm.v1.aes-sha2' };

function creationOf({ name, invite, isDirect }: RoomPlan, mark: string, isEncrypted: boolean): JsonObject {
  const state = (type: string, content: JsonObject): JsonObject => ({ type, state_key: '', content });
  return {
    ...(name === undefined ? {} : { name }),
    preset: 'private_chat',
    visibility: 'private',
    invite: [...invite],
    is_direct: isDirect,
    creation_content: { [MARK_KEY]: mark, ...(isDirect ? { [DIRECT_KEY]: true } : {}) },
    // Who is invited must not bring in others: what is said there is for these people.
    power_level_content_override: { invite: 50 },
    initial_state: [
      state('m.room.history_visibility', { history_visibility: 'shared' }),
      ...(isEncrypted ? [state('m.room.encryption', ENCRYPTION)] : []),
    ],
  };
}

/** The room as it must be now; the next sync says it better. */
function madeRoom(
  { selfId, clock, crypto }: MatrixGround,
  { plan, mark, roomId }: { readonly plan: RoomPlan; readonly mark: string; readonly roomId: string },
): RoomRecord {
  const invited = plan.invite.map((userId) => [userId, 'invite'] as const);
  return {
    ...emptyRoom(roomId),
    creation: { sender: selfId, at: clock.now(), isDirect: plan.isDirect, mark },
    ...(crypto.isOn ? { encryption: ENCRYPTION } : {}),
    members: new Map([[selfId, 'join'] as const, ...invited]),
  };
}

/** A server may make the room and fail at an invitation. */
async function inviteRest(
  ground: MatrixGround,
  { plan, room }: { readonly plan: RoomPlan; readonly room: RoomRecord },
  signal: AbortSignal,
): Promise<RoomRecord> {
  for (const userId of plan.invite) {
    if (room.members.has(userId)) continue;
    await ground.http({ method: 'POST', path: ['v3', 'rooms', room.id, 'invite'], body: { user_id: userId } }, signal);
  }
  const missing = plan.invite
    .filter((userId) => !room.members.has(userId))
    .map((userId) => [userId, 'invite'] as const);
  return { ...room, members: new Map([...room.members, ...missing]) };
}

interface Sending {
  readonly plan: RoomPlan;
  readonly progress: Progress;
  readonly room: RoomRecord;
}

async function sendLines(ground: MatrixGround, { plan, progress, room }: Sending, signal: AbortSignal): Promise<void> {
  progress.reached ??= await reachedDevices(ground, room, signal);
  progress.parcels ??= await packParcels(ground, { room, contents: plan.lines.map(textContent) }, signal);
  for (const parcel of progress.parcels) {
    await sendParcel(ground, parcel, signal);
    progress.parcels = progress.parcels.slice(1);
  }
  await progress.reached.note();
}
