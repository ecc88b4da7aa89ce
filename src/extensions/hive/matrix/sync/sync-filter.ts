// Owns what we ask for in a sync: only what is read, so that thousands of rooms stay small. Invariant: no room is filtered out, since some
// servers lose account data then (notes 6, B19); members are sent whole.
import type { JsonObject } from '#base/json.ts';
import { PEER_KEY, READ_KEY, SPARKS_KEY, SUMMARY_KEY } from '../account-data/account-data.ts';
import { MAX_SEEN } from '../rooms/room-book.ts';

const STATE = ['m.room.create', 'm.room.member', 'm.room.encryption'];

export const SYNC_FILTER: JsonObject = {
  presence: { types: [] },
  account_data: { types: [SPARKS_KEY] },
  room: {
    state: { types: STATE, lazy_load_members: false },
    timeline: { types: ['m.room.message', 'm.room.encrypted', ...STATE], limit: MAX_SEEN },
    ephemeral: { types: [] },
    account_data: { types: [PEER_KEY, SUMMARY_KEY, READ_KEY] },
  },
};

/** Keys alone. */
export const KEYS_FILTER: JsonObject = {
  presence: { types: [] },
  account_data: { types: [] },
  room: {
    rooms: [],
    state: { types: [] },
    timeline: { types: [] },
    ephemeral: { types: [] },
    account_data: { types: [] },
  },
};
