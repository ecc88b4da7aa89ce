// Owns what a client wants of `/sync`: its filter, inline or stored, taken apart. Pure.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import { type EventFilter, parseFilterText, readEventFilter } from '../rooms/event-filter.ts';
import type { Account } from '../store/account.ts';
import { badRequest } from '../wire/matrix-failure.ts';

export interface SyncFilter {
  readonly timeline: EventFilter;
  readonly timelineLimit: number;
  readonly state: EventFilter;
  readonly lazyMembers: boolean;
  readonly roomData: EventFilter;
  readonly globalData: EventFilter;
  readonly rooms: EventFilter;
  readonly includeLeave: boolean;
}

const DEFAULT_TIMELINE = 10;
const MAX_TIMELINE = 100;

/** @throws MatrixFailure 400 M_NOT_JSON, M_INVALID_PARAM */
export function readSyncFilter(account: Account, text: string | undefined): SyncFilter {
  const filter = text === undefined || text.startsWith('{') ? parseFilterText(text) : stored(account, text);
  const room = isJsonObject(filter.room) ? filter.room : {};
  const timeline = readEventFilter(room.timeline);
  return {
    timeline,
    timelineLimit: Math.min(timeline.limit ?? DEFAULT_TIMELINE, MAX_TIMELINE),
    state: readEventFilter(room.state),
    lazyMembers: isJsonObject(room.state) && room.state.lazy_load_members === true,
    roomData: readEventFilter(room.account_data),
    globalData: readEventFilter(filter.account_data),
    rooms: readEventFilter({ rooms: room.rooms, not_rooms: room.not_rooms }),
    includeLeave: room.include_leave === true,
  };
}

function stored(account: Account, id: string): JsonObject {
  const filter = /^\d+$/.test(id) ? account.filters[Number(id)] : undefined;
  if (!filter) throw badRequest('M_INVALID_PARAM', 'No such filter');
  return filter;
}
