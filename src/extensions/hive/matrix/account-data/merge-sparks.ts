// Owns how two lists of sparks become one, when several processes of one agent keep them (notes 6, B13). Pure.
// Invariant: one spark a pair, in either order; nothing that was ever kept gets lost; what was done or dismissed is never pending again.
import type { Spark, SparkStatus } from '../../peers/peer.ts';

const WEIGHT: Readonly<Record<SparkStatus, number>> = { pending: 0, dismissed: 1, executed: 2 };

/** The same for both orders of a pair. */
export function pairKey(spark: Pick<Spark, 'peer_a_id' | 'peer_b_id'>): string {
  return [spark.peer_a_id, spark.peer_b_id].sort().join(' ');
}

/** Of two sparks of a pair the one of `first` stays, with the weightier status. Order: of `first`, then what is new. */
export function mergeSparks(first: readonly Spark[], second: readonly Spark[]): readonly Spark[] {
  const merged = new Map<string, Spark>();
  for (const spark of [...first, ...second]) {
    const key = pairKey(spark);
    const known = merged.get(key);
    if (known === undefined) merged.set(key, spark);
    else if (WEIGHT[spark.status] > WEIGHT[known.status]) merged.set(key, { ...known, status: spark.status });
  }
  return [...merged.values()];
}

/** Whether everything in `wanted` is in `kept`, at least as far along. */
export function holdsSparks(kept: readonly Spark[], wanted: readonly Spark[]): boolean {
  const statuses = new Map(kept.map((spark) => [pairKey(spark), WEIGHT[spark.status]]));
  return wanted.every((spark) => (statuses.get(pairKey(spark)) ?? -1) >= WEIGHT[spark.status]);
}
