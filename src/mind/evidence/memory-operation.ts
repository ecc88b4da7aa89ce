// Owns reading what a memory change asks for, once for all: the tool, the gate and the door see the same operations. Knows no file.
// Invariant: lenient as the tool is; what is missing is said in one sentence; an empty batch is no batch.
import { isJsonObject, type JsonObject } from '#base/json.ts';

export type MemoryOperation =
  | { readonly action: 'add'; readonly content: string }
  | { readonly action: 'replace'; readonly oldText: string; readonly content: string }
  | { readonly action: 'remove'; readonly oldText: string };

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
