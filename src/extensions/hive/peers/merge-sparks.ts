// Owns how sparks kept by several processes become one list (hivemind notes 6, B13; R4.28, R4.30). Pure.
// Invariants: a pair has one spark for ever, the one that was kept first; nothing that was kept gets lost; a status only goes
// forward: pending, dismissed, executed.
import { pairOf } from './pair-key.ts';
import type { Spark, SparkStatus } from './peer.ts';

const RANK: Readonly<Record<SparkStatus, number>> = { pending: 0, dismissed: 1, executed: 2 };

/** `kept` is what everybody sees already; of `changed` new pairs and later statuses count. */
export function mergeSparks(kept: readonly Spark[], changed: readonly Spark[]): readonly Spark[] {
  const byPair = new Map<string, Spark>();
  for (const spark of [...kept, ...changed]) {
    const key = pairOf(spark);
    const known = byPair.get(key);
    if (known === undefined) byPair.set(key, spark);
    else if (RANK[spark.status] > RANK[known.status]) byPair.set(key, { ...known, status: spark.status });
  }
  return [...byPair.values()];
}

/** Whether everything in `wanted` is in `kept`, at least as far along. */
export function holdsSparks(kept: readonly Spark[], wanted: readonly Spark[]): boolean {
  const ranks = new Map(kept.map((spark) => [pairOf(spark), RANK[spark.status]]));
  return wanted.every((spark) => (ranks.get(pairOf(spark)) ?? -1) >= RANK[spark.status]);
}
