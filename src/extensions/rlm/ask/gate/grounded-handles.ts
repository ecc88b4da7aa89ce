// Owns which handles rest on the context: a span does, the whole context does, a child does when its piece does, something computed when
// it has inputs and all of them do. Knows no text. Invariant: total, also for handles that name each other in a circle; more handles never
// ground less.
import type { Handle } from '../ask-outcome.ts';

/** Stands for the context as a whole. */
export const WHOLE_CONTEXT = 'context';

/** Ids. Of two handles with one id the first counts. */
export function groundedHandles(handles: readonly Handle[]): ReadonlySet<string> {
  const grounded = new Set([WHOLE_CONTEXT]);
  const waiting = new Map<string, Handle>();
  for (const handle of handles) if (!waiting.has(handle.id)) waiting.set(handle.id, handle);
  for (let before = -1; before !== grounded.size; ) {
    before = grounded.size;
    for (const handle of waiting.values()) {
      if (!restsOn(handle, grounded)) continue;
      grounded.add(handle.id);
      waiting.delete(handle.id);
    }
  }
  return grounded;
}

function restsOn(handle: Handle, grounded: ReadonlySet<string>): boolean {
  switch (handle.kind) {
    case 'span':
      return true;
    case 'child':
      return grounded.has(handle.over);
    case 'computed':
      return handle.inputs.length > 0 && handle.inputs.every((id) => grounded.has(id));
  }
}
