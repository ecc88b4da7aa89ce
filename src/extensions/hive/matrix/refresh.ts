// Owns the order of a refresh: sync, then invitations, each of which becomes a peer at once, then what is to be made up for (seed 004, on-demand
// sync; R4.44 to R4.49): who may introduce, how many a turn, and what is told to the owner (R4.46; notes 6, B7, B15). Invariants: once the sync
// was taken in, a failure of what follows is no failure of the refresh; an invitation waits in the book until it is accepted or taken back;
// one that fails does not hold up the others.
import { throwIfAborted } from '#base/abort.ts';
import { plural } from '#base/text.ts';
import { isOfTheNetwork, PeerError } from '../peer.ts';
import { opaqueId } from './events.ts';
import type { MatrixGround } from './matrix-ground.ts';
import { LateDevices } from './own-rooms.ts';
import { type Invite, isMessage, type RoomRecord } from './room-book.ts';
import { attempt, Chores, enterRoom, settleRoom } from './settle-peers.ts';
import { createPuller, type Pulled, readRoomNews } from './sync.ts';

export class Refresh {
  readonly #ground: MatrixGround;
  readonly #pull: (signal: AbortSignal) => Promise<Pulled>;
  readonly #invites: InviteDesk;
  readonly #chores: Chores;
  readonly #late: LateDevices;
  readonly #toTell: string[] = [];
  readonly #heldBack = new Set<string>();
  #trouble = '';

  constructor(ground: MatrixGround) {
    this.#ground = ground;
    this.#pull = createPuller(ground);
    this.#invites = new InviteDesk(ground);
    this.#chores = new Chores(ground);
    this.#late = new LateDevices(ground);
  }

  /** Takes in what is new; what follows from it is done by the next run. */
  async look(signal: AbortSignal): Promise<void> {
    const pulled = await this.#pull(signal);
    const trouble = pulled.trouble?.message ?? '';
    if (trouble !== this.#trouble && trouble !== '') this.#toTell.push(`Messages cannot be decrypted now: ${trouble}`);
    this.#trouble = trouble;
    this.#toTell.push(...goneNotices(this.#ground, pulled));
    this.#chores.lookAgain(lateContexts(this.#ground, pulled));
    this.#late.changed(pulled.isWhole ? undefined : pulled.answer.keys.changed);
  }

  /** Gives sentences for the owner. */
  async run(signal: AbortSignal): Promise<readonly string[]> {
    throwIfAborted(signal);
    await this.look(signal);
    const notices = this.#toTell.splice(0);
    const settle = (room: RoomRecord) => settleEntered(this.#ground, room, notices, signal);
    const accepted = await this.#invites.accept(settle, signal);
    notices.push(...accepted.notices, ...heldBackNotices(this.#ground, this.#heldBack));
    if (accepted.isStopped) return notices;
    await this.#chores.run(signal);
    if (this.#trouble === '') await this.#late.run(signal);
    return notices;
  }
}

/** Peers that can be written to in clear alone from now on, each once. */
function heldBackNotices({ shelf, viewer }: MatrixGround, told: Set<string>): readonly string[] {
  const now = [...viewer.view(shelf.book()).values()].filter(({ isHeldBack }) => isHeldBack);
  const news = now.map(({ known }) => known.peer.id).filter((id) => !told.has(id));
  told.clear();
  for (const { known } of now) told.add(known.peer.id);
  return news.map(
    (id) =>
      `Nothing is sent to ${id} any more: what was said so far was encrypted, and the only room that is left with it is not. ` +
      'To make contact anew: talaria peers invite',
  );
}

async function settleEntered(
  ground: MatrixGround,
  room: RoomRecord,
  notices: string[],
  signal: AbortSignal,
): Promise<boolean> {
  const verdict = ground.viewer.judge(room);
  if (verdict.kind === 'peer') return attempt(ground, () => settleRoom(ground, { room, verdict }, signal));
  const by = room.creation === undefined ? '' : ` by ${opaqueId(room.creation.sender)}`;
  notices.push(`An introduction${by} gives no peer: ${verdict.why}.`);
  return true;
}

/** Peers that are lost because somebody took us out. */
function goneNotices(ground: MatrixGround, { before, answer }: Pulled): readonly string[] {
  return answer.left.flatMap(([roomId, room]) => {
    const known = before.rooms.get(roomId);
    const verdict = known === undefined ? undefined : ground.viewer.judge(known);
    const by = readRoomNews(room).state.findLast(({ stateKey }) => stateKey === ground.selfId)?.sender;
    if (verdict?.kind !== 'peer' || by === undefined || by === '' || by === ground.selfId) return [];
    return [`${opaqueId(by)} has cut our connection to ${opaqueId(verdict.userId)}.`];
  });
}

/** Rooms whose introducer said something, or whose keys may have come, while nothing is known about their peer. */
function lateContexts({ shelf, crypto }: MatrixGround, { answer, isWhole }: Pulled): readonly string[] {
  const canRead = (room: RoomRecord) => room.encryption === undefined || crypto.isOn;
  const isOpen = (room: RoomRecord) => room.notes.peer?.context === '' && canRead(room);
  const spoken = answer.joined.filter(([roomId, news]) => {
    const room = shelf.book().rooms.get(roomId);
    if (room === undefined || !isOpen(room) || (isWhole && room.encryption === undefined)) return false;
    return readRoomNews(news).timeline.some((event) => isMessage(event) && event.sender === room.creation?.sender);
  });
  const keyed = answer.keys.toDevice.length === 0 ? [] : [...shelf.book().rooms.values()];
  const opened = keyed.filter((room) => room.encryption !== undefined && isOpen(room));
  return [...spoken.map(([roomId]) => roomId), ...opened.map(({ id }) => id)];
}

const MAX_TRIES = 5;

/** Called with each room after it was entered; false: the network is not to be asked for more now. */
type OnEntered = (room: RoomRecord) => Promise<boolean>;

class InviteDesk {
  readonly #ground: MatrixGround;
  /** By room: how often it failed, and whether the owner heard of it. */
  readonly #failed = new Map<string, { readonly tries: number; readonly isTold: boolean }>();

  constructor(ground: MatrixGround) {
    this.#ground = ground;
  }

  /** Sentences for the owner, and whether the network is not to be asked for more now. */
  async accept(onEntered: OnEntered, signal: AbortSignal): Promise<{ notices: readonly string[]; isStopped: boolean }> {
    const ground = this.#ground;
    const { invites } = ground.shelf.book();
    for (const roomId of [...this.#failed.keys()]) if (!invites.has(roomId)) this.#failed.delete(roomId);
    const notices: string[] = [];
    const waiting = [...invites.values()].filter((invite) => {
      const why = refusalOf(invite, ground);
      if (why !== undefined) notices.push(...this.#note(invite, 0, why));
      return why === undefined && this.#triesOf(invite) < MAX_TRIES;
    });
    // What failed before comes last, so that it never stands in the way.
    const now = waiting.sort((a, b) => this.#triesOf(a) - this.#triesOf(b)).slice(0, ground.join.per_turn);
    for (const invite of now) {
      const isStopped = !(await this.#enter(invite, onEntered, notices, signal));
      if (isStopped) return { notices, isStopped };
    }
    const later = waiting.length - now.length;
    if (later > 0) notices.push(`${plural(later, 'more introduction')} will be accepted in the next turns.`);
    return { notices, isStopped: false };
  }

  /** False: the network is not to be asked for more now. */
  async #enter(invite: Invite, onEntered: OnEntered, notices: string[], signal: AbortSignal): Promise<boolean> {
    try {
      return await onEntered(await enterRoom(this.#ground, invite.roomId, signal));
    } catch (error) {
      if (!(error instanceof PeerError)) throw error;
      this.#ground.warn(`joining ${invite.roomId} failed: ${error.message}`);
      notices.push(...this.#note(invite, 1, `${subject(invite)} could not be accepted yet: ${error.message}`));
      return !isOfTheNetwork(error);
    }
  }

  #triesOf({ roomId }: Invite): number {
    return this.#failed.get(roomId)?.tries ?? 0;
  }

  /** What the owner is to hear, once. */
  #note(invite: Invite, tries: number, text: string): readonly string[] {
    const isTold = this.#failed.get(invite.roomId)?.isTold ?? false;
    this.#failed.set(invite.roomId, { tries: this.#triesOf(invite) + tries, isTold: true });
    return isTold ? [] : [text];
  }
}

/** Why an invitation is left alone; undefined: it is to be accepted. */
export function refusalOf(invite: Invite, { join, isWelcome }: MatrixGround): string | undefined {
  if (!join.enabled) return `${subject(invite)} waits: peers.join.enabled is off.`;
  if (invite.inviter === undefined) return `${subject(invite)} was not accepted: it does not say who sent it.`;
  const unwelcome = [invite.inviter, invite.creator].find((userId) => userId !== undefined && !isWelcome(userId));
  if (unwelcome === undefined) return undefined;
  return `${subject(invite)} was not accepted: peers.join does not let ${opaqueId(unwelcome)} introduce.`;
}

function subject({ inviter, roomId }: Invite): string {
  return inviter === undefined ? `An introduction (${roomId})` : `An introduction by ${opaqueId(inviter)}`;
}
