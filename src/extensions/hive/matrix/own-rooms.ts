// Owns the rooms that we make: for the introduction of two peers (R4.41), and for first contact with somebody that nobody introduced, a room of
// two, marked as such, so that it gives a peer on both sides (decision 0023); and that an introduction reaches devices which came after it: its
// lines are said again, encrypted for them too (R4.76). Invariants: one plan makes one room, however often a step fails within this process (a
// room whose creation was not confirmed is looked for by its mark), and a message that was sent is not sent again; a room waits until its
// devices were reached.
import { throwIfAborted } from '#base/abort.ts';
import { newId } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import type { LateDevice } from '../crypto/room-crypto.ts';
import { aboutLine, introductionLines } from '../introductions.ts';
import { type Contact, type Introduction, isOfTheNetwork, PeerError } from '../peer.ts';
import { isIntroductionLine, nameOf, userIdOf } from './events.ts';
import { withContext, writeBehind } from './keep-notes.ts';
import type { MatrixGround } from './matrix-ground.ts';
import { wasRefused } from './matrix-http.ts';
import type { PeerRoom } from './peer-view.ts';
import { DIRECT_KEY, isRoomId, MARK_KEY, newRoom, presentMembers, type RoomRecord } from './room-book.ts';
import { type Parcel, packParcels, pagesBack, presentEntry, readTalk, sendParcel, textContent } from './talk.ts';

const MAX_ROOMS = 10;
const MAX_PAGES = 5;
const PAGE = 100;
export class LateDevices {
  readonly #ground: MatrixGround;
  readonly #waiting = new Set<string>();

  constructor(ground: MatrixGround) {
    this.#ground = ground;
  }

  /** Devices of these users changed; undefined: it is not known whose. */
  changed(userIds: readonly string[] | undefined): void {
    if (userIds?.length === 0) return;
    const { shelf, selfId } = this.#ground;
    for (const { id, creation, encryption, members } of shelf.book().rooms.values()) {
      // Rooms that we made for an introduction or a contact, and that are encrypted.
      const isOurs = creation?.sender === selfId && creation.mark !== undefined && encryption !== undefined;
      if (isOurs && (userIds?.some((userId) => members.has(userId)) ?? true)) this.#waiting.add(id);
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    for (const roomId of [...this.#waiting].slice(0, MAX_ROOMS)) {
      throwIfAborted(signal);
      const failure = await this.#tryToReach(roomId, signal);
      if (failure !== undefined && isOfTheNetwork(failure)) return;
      // What failed waits behind the others, so that it never stands in their way.
      this.#waiting.delete(roomId);
      if (failure !== undefined) this.#waiting.add(roomId);
    }
  }

  async #tryToReach(roomId: string, signal: AbortSignal): Promise<PeerError | undefined> {
    const room = this.#ground.shelf.book().rooms.get(roomId);
    try {
      if (room !== undefined) await reachLate(this.#ground, room, signal);
      return undefined;
    } catch (error) {
      if (!(error instanceof PeerError)) throw error;
      this.#ground.warn(`an introduction could not be repeated for a new device yet: ${error.message}`);
      return error;
    }
  }
}

interface ReachedDevices {
  readonly devices: readonly LateDevice[];
  readonly note: () => Promise<void>;
}

/** Devices that what is encrypted from now on certainly reaches; to be noted once it was sent. */
async function reachedDevices(
  { selfId, crypto: door }: MatrixGround,
  room: RoomRecord,
  signal: AbortSignal,
): Promise<ReachedDevices> {
  const { id: roomId, encryption: settings } = room;
  if (settings === undefined) return { devices: [], note: async () => undefined };
  const crypto = await door.open();
  const members = presentMembers(room).filter((userId) => userId !== selfId);
  const devices = await crypto.lateDevices({ roomId, members, settings }, signal);
  return { devices, note: () => crypto.noteReached(roomId, devices) };
}

async function reachLate(ground: MatrixGround, room: RoomRecord, signal: AbortSignal): Promise<void> {
  const late = await reachedDevices(ground, room, signal);
  if (late.devices.length === 0) return;
  const lines = await ownLines(ground, room, signal);
  for (const parcel of await packParcels(ground, room, lines.map(textContent), signal))
    await sendParcel(ground, parcel, signal);
  await late.note();
}

/** What we said as an introduction, each line once, oldest first. */
async function ownLines(ground: MatrixGround, room: RoomRecord, signal: AbortSignal): Promise<readonly string[]> {
  const way = { roomId: room.id, pageSize: PAGE, maxPages: MAX_PAGES, sender: ground.selfId };
  const lines: string[] = [];
  for await (const { events } of pagesBack(ground, way, signal)) {
    for (const raw of events) {
      const { words = '', event } = (await readTalk(ground, room, raw)) ?? {};
      if (event?.sender === ground.selfId && isIntroductionLine(words)) lines.push(words);
    }
  }
  return [...new Set(lines.reverse())];
}

interface RoomPlan {
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

const ENCRYPTION: JsonObject = { algorithm: 'm.megolm.v1.aes-sha2' };
/** Waits before each further look for a room that the server may still be making. */
const LOOK_AGAIN_MS = [1_000, 3_000];

export class OwnRooms {
  readonly #ground: MatrixGround;
  readonly #look: (signal: AbortSignal) => Promise<void>;
  readonly #plans = new Map<string, Progress>();

  /** @param look takes in what is new, so that a room made by us is found */
  constructor(ground: MatrixGround, look: (signal: AbortSignal) => Promise<void>) {
    this.#ground = ground;
    this.#look = look;
  }

  async introduce(introduction: Introduction, signal: AbortSignal): Promise<void> {
    throwIfAborted(signal);
    const [a, b] = [introduction.a, introduction.b].map((id) => presentEntry(this.#ground, id).userId) as [
      string,
      string,
    ];
    if (a === b)
      throw new PeerError(`${introduction.a} cannot be introduced to itself`, {
        code: 'peers-forbidden',
        forModel: 'a peer cannot be introduced to itself',
      });
    const key = `introduction ${[a, b].sort().join(' ')}`;
    const name = `Introduction: ${nameOf(a)} <> ${nameOf(b)}`;
    const lines = introductionLines({ ...introduction, a, b });
    await this.#carryOut({ key, name, invite: [a, b], isDirect: false, lines }, signal);
  }

  async contact({ id, context, about }: Contact, signal: AbortSignal): Promise<void> {
    throwIfAborted(signal);
    const ground = this.#ground;
    const { selfId } = ground;
    const userId = userIdOf(id);
    if (userId === undefined || userId === selfId) throw noContact(id, userId !== undefined);
    const key = `contact ${userId}`;
    const known = ground.viewer.view(ground.shelf.book()).get(id);
    const ours = known?.rooms.find((one) => one.room.creation?.sender === selfId && canTalk(one))?.room;
    const keep = async (room: RoomRecord): Promise<void> => {
      const verdict = { userId, introducerId: selfId, status: 'invited' } as const;
      ground.shelf.changeRoom(room.id, (now) => ({ ...now, notes: withContext(ground, now, verdict, context) }));
      await writeBehind(ground, room.id, ['peer'], signal);
    };
    if (ours !== undefined && !this.#isUnfinished(key)) return keep(ours);
    if (known !== undefined && ours === undefined) {
      // Known through somebody else: there is nothing to make.
      if (canTalk(known.rooms[0])) return;
      // What was begun and may have made a room goes on, unless the peer has left it.
      if (known.known.peer.status === 'left' || !this.#isUnfinished(key)) this.#plans.delete(key);
    }
    const lines = [aboutLine(selfId, about)];
    await this.#carryOut({ key, invite: [userId], isDirect: true, lines, onMade: keep }, signal);
  }

  /** Begun within this process and not carried out to its end. */
  #isUnfinished(key: string): boolean {
    return this.#plans.has(key) && this.#plans.get(key)?.parcels?.length !== 0;
  }

  async #carryOut(plan: RoomPlan, signal: AbortSignal): Promise<void> {
    const ground = this.#ground;
    const progress = this.#plans.get(plan.key) ?? { mark: newId('intro'), mayExist: false, isUnderWay: false };
    this.#plans.set(plan.key, progress);
    if (progress.parcels?.length === 0) return;
    progress.room ??= await this.#makeRoom(plan, progress, signal);
    await plan.onMade?.(progress.room);
    progress.reached ??= await reachedDevices(ground, progress.room, signal);
    progress.parcels ??= await packParcels(ground, progress.room, plan.lines.map(textContent), signal);
    for (const parcel of progress.parcels) {
      await sendParcel(ground, parcel, signal);
      progress.parcels = progress.parcels.slice(1);
    }
    await progress.reached.note();
  }

  async #makeRoom(plan: RoomPlan, progress: Progress, signal: AbortSignal): Promise<RoomRecord> {
    const { shelf, crypto } = this.#ground;
    const found = await this.#findMade(progress, signal);
    if (found !== undefined) return inviteRest(this.#ground, plan, found, signal);
    // Nobody is invited to what could not be told.
    if (crypto.isOn) await crypto.open();
    const { room_id: roomId } = await this.#askForRoom(plan, progress, signal);
    if (!isRoomId(roomId))
      throw new PeerError('the server did not say which room it made', {
        code: 'peers-bad-response',
        retryable: true,
        fix: 'Try again: no second room is made.',
      });
    const room = shelf.book().rooms.get(roomId) ?? madeRoom(this.#ground, plan, progress.mark, roomId);
    shelf.putRoom(room);
    return room;
  }

  /** The room of an earlier attempt that was not confirmed. */
  async #findMade(progress: Progress, signal: AbortSignal): Promise<RoomRecord | undefined> {
    const { shelf, clock } = this.#ground;
    if (!progress.mayExist) return undefined;
    for (const wait of [0, ...(progress.isUnderWay ? LOOK_AGAIN_MS : [])]) {
      if (wait > 0) await clock.sleep(wait, signal);
      await this.#look(signal);
      const found = [...shelf.book().rooms.values()].find(({ creation }) => creation?.mark === progress.mark);
      if (found !== undefined) return found;
    }
    progress.isUnderWay = false;
    return undefined;
  }

  async #askForRoom(plan: RoomPlan, progress: Progress, signal: AbortSignal): Promise<JsonObject> {
    const { http, crypto } = this.#ground;
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
}

function canTalk({ verdict }: PeerRoom): boolean {
  return verdict.status !== 'left' && !verdict.isShared;
}

function noContact(id: string, isSelf: boolean): PeerError {
  const text = isSelf ? 'this is the agent itself' : `${JSON.stringify(id.slice(0, 100))} is no id of an agent`;
  return new PeerError(text, { code: 'peer-unknown', forModel: text, fix: 'An id has the form NAME@SERVER.' });
}

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
  { invite, isDirect }: RoomPlan,
  mark: string,
  roomId: string,
): RoomRecord {
  return {
    ...newRoom(roomId, new Map(crypto.isOn ? [[roomId, ENCRYPTION]] : [])),
    creation: { sender: selfId, at: clock.now(), isDirect, mark },
    members: new Map([[selfId, 'join' as const], ...invitations(invite)]),
  };
}

/** A server may make the room and fail at an invitation. */
async function inviteRest(
  { http }: MatrixGround,
  { invite }: RoomPlan,
  room: RoomRecord,
  signal: AbortSignal,
): Promise<RoomRecord> {
  const missing = invite.filter((userId) => !room.members.has(userId));
  for (const userId of missing)
    await http({ method: 'POST', path: ['v3', 'rooms', room.id, 'invite'], body: { user_id: userId } }, signal);
  return { ...room, members: new Map([...room.members, ...invitations(missing)]) };
}

function invitations(userIds: readonly string[]) {
  return userIds.map((userId) => [userId, 'invite'] as const);
}
