// Owns the order of a refresh: sync, then invitations, each of which becomes a peer at once, then what is to be made up for (seed 004,
// on-demand sync; R4.44 to R4.49). Invariant: once the sync was taken in, a failure of what follows is no failure of the refresh.
import { throwIfAborted } from '#base/abort.ts';
import { opaqueId } from '../events/user-id.ts';
import type { LateDevices } from '../introduce/late-devices.ts';
import type { MatrixGround } from '../matrix-ground.ts';
import type { RoomRecord } from '../rooms/room-book.ts';
import { isMessage } from '../rooms/seen-messages.ts';
import type { InviteDesk } from './accept-invites.ts';
import { attempt, type Chores } from './chores.ts';
import { settleRoom } from './enter-room.ts';
import type { Pulled } from './pull-sync.ts';
import { readRoomNews } from './read-sync.ts';

export interface RefreshParts {
  readonly pull: (signal: AbortSignal) => Promise<Pulled>;
  readonly invites: InviteDesk;
  readonly chores: Chores;
  readonly late: LateDevices;
}

export interface Refresh {
  /** Gives sentences for the owner. */
  run(signal: AbortSignal): Promise<readonly string[]>;
  /** Takes in what is new; what follows from it is done by the next run. */
  look(signal: AbortSignal): Promise<void>;
}

export function createRefresh(ground: MatrixGround, { pull, invites, chores, late }: RefreshParts): Refresh {
  const toTell: string[] = [];
  const heldBack = new Set<string>();
  let toldTrouble = '';
  const look = async (signal: AbortSignal): Promise<void> => {
    const pulled = await pull(signal);
    const trouble = pulled.trouble?.message ?? '';
    if (trouble !== toldTrouble && trouble !== '') toTell.push(`Messages cannot be decrypted now: ${trouble}`);
    toldTrouble = trouble;
    toTell.push(...goneNotices(ground, pulled));
    chores.lookAgain(lateContexts(ground, pulled));
    late.changed(pulled.isWhole ? undefined : pulled.answer.keys.changed);
  };
  const run = async (signal: AbortSignal): Promise<readonly string[]> => {
    throwIfAborted(signal);
    await look(signal);
    const notices = toTell.splice(0);
    const accepted = await invites.accept((room) => settleEntered(ground, { room, notices }, signal), signal);
    notices.push(...accepted.notices, ...heldBackNotices(ground, heldBack));
    if (accepted.isStopped) return notices;
    await chores.run(signal);
    if (toldTrouble === '') await late.run(signal);
    return notices;
  };
  return { run, look };
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
  { room, notices }: { readonly room: RoomRecord; readonly notices: string[] },
  signal: AbortSignal,
): Promise<boolean> {
  const verdict = ground.viewer.judge(room);
  if (verdict.kind === 'peer') return attempt(ground, () => settleRoom(ground, { room, verdict }, signal), signal);
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
