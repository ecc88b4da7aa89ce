// Owns what we ask for in a sync: only what is read, so that thousands of rooms stay small. Invariant: no room is filtered out, since some
// servers lose account data then (notes 6, B19); members are sent whole.
import { randomHex } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import { PEER_KEY, READ_KEY, SPARKS_KEY, SUMMARY_KEY } from '../account-data/account-data.ts';
import { MAX_SEEN } from '../rooms/room-book.ts';

const STATE = ['m.room.create', 'm.room.member', 'm.room.encryption'];
const NOTHING: JsonObject = { types: [] };

/** All that the peer layer reads. */
export const PEER_FILTER: JsonObject = {
  presence: NOTHING,
  account_data: { types: [SPARKS_KEY] },
  room: {
    state: { types: STATE, lazy_load_members: false },
    timeline: { types: ['m.room.message', 'm.room.encrypted', ...STATE], limit: MAX_SEEN },
    ephemeral: NOTHING,
    account_data: { types: [PEER_KEY, SUMMARY_KEY, READ_KEY] },
  },
};

/**
 * The peer filter in words that were never used before: Synapse gives the same answer again for two minutes to a first sync that looks the
 * same, so a restart would see the past.
 */
export function freshFilter(): JsonObject {
  return { ...PEER_FILTER, presence: { ...NOTHING, not_senders: [`@${randomHex(8)}:nobody.invalid`] } };
}
