// Owns how sparks kept by several processes become one list (hivemind notes 6, B13; R4.28, R4.30). Pure.
// Invariants: a pair has one spark for ever, the one that was kept first; nothing that was kept gets lost; a status only goes
// forward: pending, dismissed, executed.
import { pairKey } from './pair-key.ts';
import type { Spark, SparkStatus } from './peer.ts';

const RANK: Readonly<Record<SparkStatus, number>> = { pending: 0, dismissed: 1, executed: 2 };

/** `kept` is what everybody sees already; of `changed` new pairs and later statuses count. */
export function mergeSparks(kept: readonly Spark[], changed: readonly Spark[]): readonly Spark[] {
  const byPair = new Map<string, Spark>();
  for (const spark of [...kept, ...changed]) {
    const key = pairKey(spark.peer_a_id, spark.peer_b_id);
    const known = byPair.get(key);
    if (known === undefined) byPair.set(key, spark);
    else if (RANK[spark.status] > RANK[known.status]) byPair.set(key, { ...known, status: spark.status });
  }
  return [...byPair.values()];
}

/** Whether everything in `wanted` is in `kept`, at least as far along. */
export function holdsSparks(kept: readonly Spark[], wanted: readonly Spark[]): boolean {
  const ranks = new Map(kept.map((spark) => [pairKey(spark.peer_a_id, spark.peer_b_id), RANK[spark.status]]));
  return wanted.every((spark) => (ranks.get(pairKey(spark.peer_a_id, spark.peer_b_id)) ?? -1) >= RANK[spark.status]);
}
