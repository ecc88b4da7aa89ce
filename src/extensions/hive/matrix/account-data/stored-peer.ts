// Owns the form in which a peer is kept in the account data of its room: exactly the eight fields of the seed (R4.63). Pure.
import { z } from 'zod';
import { isoTime, parseTime } from '#base/clock.ts';
import type { JsonObject } from '#base/json.ts';
import type { Peer } from '../../peers/peer.ts';
import { isUserId, nameOf } from '../events/user-id.ts';

export interface StoredPeer {
  readonly peer_name: string;
  /** `@name:server` */
  readonly peer_id: string;
  readonly context: string;
  readonly introduced_by: string;
  /** `@name:server` */
  readonly introduced_by_id: string;
  /** ISO 8601 */
  readonly introduced_at: string;
  readonly status: Peer['status'];
  readonly room_id: string;
}

const userId = z.string().refine(isUserId);
const schema = z.object({
  peer_id: userId,
  context: z.string().max(20_000).catch(''),
  introduced_by_id: userId,
  introduced_at: z.string().refine((text) => parseTime(text) !== undefined),
  status: z.enum(['active', 'invited', 'left']).catch('active'),
});

/** Undefined when it is no such note. Names are taken from the ids, never from what stands beside them. */
export function readStoredPeer(value: JsonObject, roomId: string): StoredPeer | undefined {
  const read = schema.safeParse(value);
  if (!read.success) return undefined;
  const { peer_id, introduced_by_id, introduced_at, context, status } = read.data;
  return {
    peer_name: nameOf(peer_id),
    peer_id,
    context,
    introduced_by: nameOf(introduced_by_id),
    introduced_by_id,
    introduced_at: isoTime(parseTime(introduced_at) ?? 0),
    status,
    room_id: roomId,
  };
}
