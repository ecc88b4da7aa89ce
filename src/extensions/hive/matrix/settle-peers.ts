// Owns what makes a room that we are in a known peer: entering it, the search for its context (the earliest `About` line of the room's creator;
// R4.34, R4.47; notes 6, B3, B4), and what a refresh makes up for after the sync: rooms without a note, contexts that came late, notes that the
// server lacks (B7; R4.76). Invariants: nobody but the creator is listened to, however much others write; bounded in requests; what fails
// waits in the book for the next time.
import type { JsonObject } from '#base/json.ts';
import { contextIn } from '../introductions.ts';
import { isOfTheNetwork, PeerError } from '../peer.ts';
import { objectsAt, type RoomEvent, readEvent, readStripped } from './events.ts';
import { changeSparks, withContext, writeBehind } from './keep-notes.ts';
import type { MatrixGround } from './matrix-ground.ts';
import { compareRooms, type PeerRoom } from './peer-view.ts';
import { addSeen, applyState, newRoom, type RoomBook, type RoomRecord } from './room-book.ts';
import { pagesBack, readTalk } from './talk.ts';

const MAX_SETTLED = 10;
const MAX_SEARCHED = 5;
const MAX_WRITTEN = 20;

export class Chores {
  readonly #ground: MatrixGround;
  readonly #again = new Set<string>();
  /** Nothing is left to do for this one. */
  #done: RoomBook | undefined;

  constructor(ground: MatrixGround) {
    this.#ground = ground;
  }

  /** The context of these rooms is to be looked for again. */
  lookAgain(roomIds: readonly string[]): void {
    for (const roomId of roomIds) this.#again.add(roomId);
  }

  async run(signal: AbortSignal): Promise<void> {
    const ground = this.#ground;
    const again = this.#again;
    if (ground.shelf.book() === this.#done && again.size === 0) return;
    const rooms = peerRooms(ground);
    // In the order in which they are to count.
    const unsettled = rooms.filter(({ room }) => room.notes.peer === undefined).sort(compareRooms(ground.selfId));
    const searched = rooms.filter(({ room }) => again.has(room.id) && room.notes.peer?.context === '');
    const behind = rooms.filter((one) => one.room.notes.peer !== undefined && isBehind(one));
    if (searched.length === 0) again.clear();
    for (const one of [...unsettled.slice(0, MAX_SETTLED), ...searched.slice(0, MAX_SEARCHED)]) {
      again.delete(one.room.id);
      if (!(await attempt(ground, () => settleRoom(ground, one, signal)))) return;
    }
    for (const one of behind.slice(0, MAX_WRITTEN))
      if (!(await attempt(ground, () => catchUp(ground, one, signal)))) return;
    if (!(await attempt(ground, () => healSparks(ground, signal)))) return;
    if (unsettled.length > MAX_SETTLED || behind.length > MAX_WRITTEN) return;
    this.#done = ground.shelf.book();
    ground.data.settled();
  }
}

function peerRooms({ shelf, viewer }: MatrixGround): readonly PeerRoom[] {
  return [...shelf.book().rooms.values()].flatMap((room) => {
    const verdict = viewer.judge(room);
    return verdict.kind === 'peer' ? [{ room, verdict }] : [];
  });
}

function isBehind({ room: { notes }, verdict }: PeerRoom): boolean {
  return notes.behind.length > 0 || notes.peer?.status !== verdict.status;
}

async function catchUp(ground: MatrixGround, { room, verdict }: PeerRoom, signal: AbortSignal): Promise<void> {
  ground.shelf.changeNotes(room.id, ({ peer, behind }) => ({
    ...(peer === undefined ? {} : { peer: { ...peer, status: verdict.status } }),
    behind: [...new Set([...behind, 'peer' as const])],
  }));
  await writeBehind(ground, room.id, ['peer', 'summary', 'read'], signal);
}

async function healSparks(ground: MatrixGround, signal: AbortSignal): Promise<void> {
  if (ground.shelf.book().sparks.isBehind) await changeSparks(ground, (sparks) => sparks, signal);
}

/** False: the network is not to be asked for more now. */
export async function attempt(ground: MatrixGround, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof PeerError)) throw error;
    ground.warn(`what is known of a peer could not be completed yet: ${error.message}`);
    return !isOfTheNetwork(error);
  }
}

/** Accepts an invitation and takes in who is there. Throws what the network did; then the invitation, or the room, waits for the next time. */
export async function enterRoom(ground: MatrixGround, roomId: string, signal: AbortSignal): Promise<RoomRecord> {
  // Always a JSON body: some servers refuse to join without one (R4.66). Joining twice is joining once.
  await ground.http({ method: 'POST', path: ['v3', 'join', roomId], body: {}, repeatable: true }, signal);
  const answer = await ground.http({ method: 'GET', path: ['v3', 'rooms', roomId, 'state'] }, signal);
  const state = objectsAt(answer, 'list').flatMap((event) => readStripped(event) ?? []);
  const room = applyState(newRoom(roomId, ground.shelf.book().encrypted), state);
  ground.shelf.putRoom(room);
  return room;
}

/** Finds out what there is to know about the peer of a room and keeps it. */
export async function settleRoom(
  ground: MatrixGround,
  { room, verdict }: PeerRoom,
  signal: AbortSignal,
): Promise<void> {
  const { context, newest, isWhole } = await contextOf(ground, room, verdict.userId, signal);
  ground.shelf.changeRoom(room.id, (now) => {
    // The events just read are the newest, whatever a sync said before.
    return { ...now, ...addSeen(now, newest, !isWhole), notes: withContext(ground, now, verdict, context) };
  });
  await writeBehind(ground, room.id, ['peer'], signal);
}

interface FoundContext {
  /** Empty when nothing was said. */
  readonly context: string;
  /** The newest events of anybody, oldest first. */
  readonly newest: readonly RoomEvent[];
  /** There are none before them. */
  readonly isWhole: boolean;
}

const PAGE = 100;
const MAX_PAGES = 10;

/** Who may not read what was said before it came knows its peer all the same. */
async function contextOf(
  ground: MatrixGround,
  room: RoomRecord,
  peerId: string,
  signal: AbortSignal,
): Promise<FoundContext> {
  try {
    return await findContext(ground, room, peerId, signal);
  } catch (error) {
    if (!(error instanceof PeerError) || error.code !== 'peers-forbidden') throw error;
    ground.warn(`what was said in ${room.id} cannot be read: ${error.message}`);
    return { context: '', newest: [], isWhole: false };
  }
}

async function findContext(
  ground: MatrixGround,
  room: RoomRecord,
  peerId: string,
  signal: AbortSignal,
): Promise<FoundContext> {
  const creator = room.creation?.sender ?? ground.selfId;
  const way = { roomId: room.id, pageSize: PAGE, maxPages: MAX_PAGES, sender: creator, alsoOthers: true };
  let first: readonly JsonObject[] | undefined;
  let context = '';
  let isToTheStart = false;
  for await (const { events, isStart } of pagesBack(ground, way, signal)) {
    first ??= events;
    context = (await earliestIn(ground, room, peerId, events)) ?? context;
    isToTheStart = isStart;
  }
  // Later pages hold the creator's messages only; but behind a page that is not full there is nothing of anybody.
  const isWhole = isToTheStart && (first ?? []).length < PAGE;
  return { context, isWhole, newest: (first ?? []).toReversed().flatMap((event) => readEvent(event) ?? []) };
}

/** @param events newest first */
async function earliestIn(
  ground: MatrixGround,
  room: RoomRecord,
  peerId: string,
  events: readonly JsonObject[],
): Promise<string | undefined> {
  for (const raw of events.toReversed()) {
    if (raw.sender !== room.creation?.sender) continue;
    const talk = await readTalk(ground, room, raw);
    const context = contextIn(talk?.words ?? '', peerId);
    if (context !== undefined && context !== '') return context;
  }
  return undefined;
}
