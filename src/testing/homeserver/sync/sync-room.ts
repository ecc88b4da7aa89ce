// Owns how one room looks in the answer of `/sync`. Knows no HTTP. Invariant: an invitation shows stripped state only.
import type { JsonObject } from '#base/json.ts';
import { strippedEvent, syncedEvent } from '../rooms/client-event.ts';
import { visibleTo } from '../rooms/visibility.ts';
import type { Account, DataItem } from '../store/account.ts';
import type { Room } from '../store/room.ts';
import { type RoomEvent, type StoredEvent, stateName } from '../store/room-event.ts';
import { streamToken } from '../store/stream-token.ts';
import type { RoomEntry } from './room-changes.ts';
import { stateDelta } from './state-delta.ts';
import type { SyncFilter } from './sync-filter.ts';
import { timelineBatch } from './timeline-batch.ts';

export interface RoomView {
  readonly account: Account;
  readonly deviceId: string;
  readonly filter: SyncFilter;
  readonly since: number | undefined;
}

export interface SyncedRoom {
  readonly body: JsonObject;
  /** Events of membership that the answer shows. */
  readonly memberEvents: readonly RoomEvent[];
}

/** Undefined: nothing to tell. */
export function syncedRoom(view: RoomView, entry: RoomEntry): SyncedRoom | undefined {
  const { account, deviceId, filter } = view;
  const { room, until, newlyJoined } = entry;
  // Synapse forgets the earlier place of a room in `join` that was joined again, and keeps it for one in `leave`.
  const since = newlyJoined && entry.section === 'join' ? undefined : view.since;
  const full = since === undefined || newlyJoined;
  const visible = visibleTo(room, account.userId);
  const left = entry.section === 'leave';
  const batch = timelineBatch({ room, filter, visible, until, since, newlyJoined, left });
  const data = dataEvents(account.roomData.get(room.id), view.since, filter);
  if (!full && batch.events.length === 0 && data.length === 0) return undefined;
  const state = stateDelta({ room, batch, filter, userId: account.userId, until, since: full ? undefined : since });
  const shown = [...state, ...batch.events].map(({ event }) => event);
  const body: JsonObject = {
    timeline: {
      events: batch.events.map((stored) => syncedEvent(stored, deviceId)),
      prev_batch: streamToken(batch.before),
      limited: batch.limited,
    },
    state: { events: state.map((stored) => syncedEvent(stored, deviceId)) },
    account_data: { events: data },
    ...(!left && { ephemeral: { events: [] }, unread_notifications: NOTHING_UNREAD, summary: {} }),
  };
  return { body, memberEvents: shown.filter((event) => event.type === 'm.room.member') };
}

const NOTHING_UNREAD = { notification_count: 0, highlight_count: 0 };

export function dataEvents(
  data: ReadonlyMap<string, DataItem> | undefined,
  since: number | undefined,
  filter: Pick<SyncFilter, 'roomData'>,
): readonly JsonObject[] {
  const events: JsonObject[] = [];
  for (const [type, { content, position }] of data ?? []) {
    if (position > (since ?? 0) && filter.roomData.allows({ type })) events.push({ type, content });
  }
  return events;
}

const PREVIEW = [
  'm.room.create',
  'm.room.join_rules',
  'm.room.canonical_alias',
  'm.room.avatar',
  'm.room.encryption',
  'm.room.name',
  'm.room.topic',
];

export function syncedInvite(room: Room, invite: StoredEvent): JsonObject {
  const state = room.stateAt(invite.position);
  const names = [...PREVIEW.map((type) => stateName(type, '')), stateName('m.room.member', invite.event.sender)];
  const shown = names.map((name) => state.get(name)?.event).filter((event) => event !== undefined);
  return { invite_state: { events: [...shown, invite.event].map(strippedEvent) } };
}
