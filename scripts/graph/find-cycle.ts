/**
 * Owns the search for a cycle in a graph of names. Files that nothing depends on, or that depend on
 * nothing, cannot lie on a cycle: they are peeled off until only cycles are left.
 */

export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** One cycle as a walk that ends where it began; undefined when there is none. */
export function findCycle(graph: Graph): readonly string[] | undefined {
  const left = peel(graph);
  const [start] = left.keys();
  if (start === undefined) return undefined;
  const walk = [start];
  for (;;) {
    const next =
      left
        .get(walk.at(-1) ?? start)
        ?.values()
        .next().value ?? start;
    const seen = walk.indexOf(next);
    walk.push(next);
    if (seen !== -1) return walk.slice(seen);
  }
}

function peel(graph: Graph): Map<string, Set<string>> {
  const left = new Map([...graph].map(([name, targets]) => [name, new Set(targets)]));
  for (;;) {
    const loose = [...left].filter(([, targets]) => targets.size === 0).map(([name]) => name);
    if (loose.length === 0) return left;
    for (const name of loose) left.delete(name);
    for (const targets of left.values()) for (const name of loose) targets.delete(name);
  }
}
