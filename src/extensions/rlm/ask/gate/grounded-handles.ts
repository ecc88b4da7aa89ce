// Owns which handles rest on the context: a span does, the whole context does, a child does when its piece does, something computed when
// it has inputs and all of them do. Knows no text. Invariant: total, also for handles that name each other in a circle; more handles never
// ground less; what stands on more than forty others, one on the other, rests on nothing: reading it goes down the whole way.
import type { Handle } from '../ask-outcome.ts';

/** Stands for the context as a whole. */
export const WHOLE_CONTEXT = 'context';

const DEEPEST = 40;

/** Ids. Of two handles with one id the first counts. */
export function groundedHandles(handles: readonly Handle[]): ReadonlySet<string> {
  const depths = new Map([[WHOLE_CONTEXT, 0]]);
  const waiting = new Map<string, Handle>();
  for (const handle of handles) if (!waiting.has(handle.id)) waiting.set(handle.id, handle);
  for (let before = -1; before !== depths.size; ) {
    before = depths.size;
    for (const handle of waiting.values()) {
      const depth = depthOf(handle, depths);
      if (depth > DEEPEST) continue;
      depths.set(handle.id, depth);
      waiting.delete(handle.id);
    }
  }
  return new Set(depths.keys());
}

/** Infinite: it rests on nothing, as far as is known. */
function depthOf(handle: Handle, depths: ReadonlyMap<string, number>): number {
  const under = (id: string): number => 1 + (depths.get(id) ?? Number.POSITIVE_INFINITY);
  switch (handle.kind) {
    case 'span':
      return 1;
    case 'child':
      return under(handle.over);
    case 'computed':
      return handle.inputs.reduce(
        (deepest, id) => Math.max(deepest, under(id)),
        handle.inputs.length === 0 ? Number.POSITIVE_INFINITY : 1,
      );
  }
}
