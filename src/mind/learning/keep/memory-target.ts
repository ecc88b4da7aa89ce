// Owns which memory file the arguments of a `memory` call mean. The notes are meant when nothing is said.
import type { JsonObject } from '#base/json.ts';
import type { MemoryTarget } from '#mind/memory/memory-files.ts';

export function memoryTarget(change: JsonObject): MemoryTarget {
  return change.target === 'user' ? 'user' : 'memory';
}
