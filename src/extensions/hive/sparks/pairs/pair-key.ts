// Owns when two pairs are the same: by ids, in either order (seed 004; notes 6, B2). Knows no peer.

/** Equal for both orders, different for any other two ids. */
export function pairKey(a: string, b: string): string {
  return JSON.stringify(a < b ? [a, b] : [b, a]);
}

/** Key of the two peers that a spark is about. */
export function sparkKey(spark: { readonly peer_a_id: string; readonly peer_b_id: string }): string {
  return pairKey(spark.peer_a_id, spark.peer_b_id);
}
