// Owns reading what a successful `memory` call wrote, for providers that mirror it. Knows no file. Pure.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { MemoryWriteNotice } from '#mind/memory/memory-provider.ts';

/** One notice for each operation; a removal names the text by which the entry was found. */
export function writtenNotices(sessionId: string, change: JsonObject): readonly MemoryWriteNotice[] {
  const target = change.target === 'user' ? ('user' as const) : ('memory' as const);
  const steps = Array.isArray(change.operations) && change.operations.length > 0 ? change.operations : [change];
  return steps.flatMap((step) => {
    if (!isJsonObject(step)) return [];
    const { action } = step;
    if (action !== 'add' && action !== 'replace' && action !== 'remove') return [];
    const content = action === 'remove' ? step.old_text : (step.content ?? step.new_text);
    return typeof content === 'string' ? [{ sessionId, action, target, content }] : [];
  });
}
