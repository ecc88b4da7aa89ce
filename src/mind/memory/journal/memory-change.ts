// Owns writing memory operations as the arguments of the `memory` tool: what a proposal holds and can be applied from later.
// Knows no file and no reading. Invariant: what is written here reads back the same (`operationsOf`).
import type { JsonObject } from '#base/json.ts';
import type { MemoryOperation } from '#mind/evidence/memory-operation.ts';

/** As the tool would be called. */
export function changeOf(target: string, operations: readonly MemoryOperation[]): JsonObject {
  const [only, ...more] = operations.map(stepOf);
  return only !== undefined && more.length === 0 ? { target, ...only } : { target, operations: operations.map(stepOf) };
}

function stepOf(operation: MemoryOperation): JsonObject {
  switch (operation.action) {
    case 'add':
      return { action: 'add', content: operation.content };
    case 'replace':
      return { action: 'replace', old_text: operation.oldText, content: operation.content };
    case 'remove':
      return { action: 'remove', old_text: operation.oldText };
  }
}

/** `add`, `replace`, `remove`, or `batch` of several. */
export function actionOf(operations: readonly MemoryOperation[]): string {
  return operations.length === 1 ? (operations[0]?.action ?? 'batch') : 'batch';
}
