// Owns how a spark of two peers begins: its id, its names for showing and its ids for telling them apart (hivemind notes 3; 6, B2).
import { type Clock, isoTime } from '#base/clock.ts';
import { randomHex } from '#base/ids.ts';
import type { Peer, Spark } from './peer.ts';

type Named = Pick<Peer, 'name' | 'id'>;

export function newSpark(
  clock: Clock,
  [a, b]: readonly [Named, Named],
  about: Pick<Spark, 'reason' | 'confidence' | 'status' | 'by'>,
): Spark {
  return {
    id: randomHex(4),
    peer_a: a.name,
    peer_b: b.name,
    peer_a_id: a.id,
    peer_b_id: b.id,
    ...about,
    created_at: isoTime(clock.now()),
  };
}
