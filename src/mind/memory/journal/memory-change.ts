// Owns memory operations as the arguments of the `memory` tool, there and back: what a proposal holds and can be applied from later.
// Knows no file. Invariant: reading is lenient as the tool is; what is missing is said in one sentence.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { MemoryOperation } from '../apply-operations.ts';

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

/** The operations asked for, or what is missing. */
export function operationsOf(change: JsonObject): readonly MemoryOperation[] | string {
  const batch = Array.isArray(change.operations) ? change.operations : [];
  if (batch.length > 0 && change.action !== undefined) return 'Give either action or operations, not both.';
  const steps = batch.length > 0 ? batch : [change];
  const read: MemoryOperation[] = [];
  for (const [index, one] of steps.entries()) {
    const operation = isJsonObject(one) ? readOperation(one) : 'it is no operation.';
    if (typeof operation === 'string')
      return steps.length > 1 ? `operations[${index}]: ${operation} Nothing changed.` : operation;
    read.push(operation);
  }
  return read;
}

function readOperation(one: JsonObject): MemoryOperation | string {
  const { action, old_text: oldText } = one;
  const content = one.content ?? one.new_text;
  if (action !== 'add' && action !== 'replace' && action !== 'remove')
    return 'action is missing: add, replace or remove.';
  if (action !== 'add' && typeof oldText !== 'string') return `${action} needs old_text, a unique piece of the entry.`;
  const old = typeof oldText === 'string' ? oldText : '';
  if (action === 'remove') return { action, oldText: old };
  if (typeof content !== 'string') return `${action} needs content.`;
  return action === 'add' ? { action, content } : { action, oldText: old, content };
}
