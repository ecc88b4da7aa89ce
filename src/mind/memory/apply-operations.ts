// Owns what add, replace and remove mean on a list of entries. Pure: no file, no limit, no scan.
// Invariant: a batch gives one new list or one refusal, never half of itself; an added entry is always in the result.
import { type Ok, ok, type Refusal, refuse } from '#base/result.ts';
import { ellipsize } from '#base/text.ts';
import type { MemoryOperation } from '#mind/evidence/memory-operation.ts';
import { withoutDuplicates } from './entry-format.ts';
import { nearestEntries } from './nearest-entries.ts';

export interface AppliedOperations {
  readonly entries: readonly string[];
  /** One sentence for each operation, in order. */
  readonly messages: readonly string[];
}

/** `matches`: the entries that hold the text, or, when none does, those that come nearest to it. */
export interface TargetRefusal extends Refusal<'ambiguous' | 'not_found'> {
  readonly matches: readonly string[];
}

/** Applies the operations in order to entries that are already normalised. */
export function applyOperations(
  before: readonly string[],
  operations: readonly MemoryOperation[],
): Ok<AppliedOperations> | TargetRefusal {
  let entries = withoutDuplicates(before);
  const messages: string[] = [];
  for (const operation of operations) {
    const step = applyOne(entries, operation);
    if (!step.ok) return step;
    entries = step.value.entries;
    messages.push(...step.value.messages);
  }
  return ok({ entries, messages });
}

function applyOne(entries: readonly string[], operation: MemoryOperation): Ok<AppliedOperations> | TargetRefusal {
  if (operation.action === 'add') return ok(addEntry(entries, operation.content));
  const found = findEntry(entries, operation.oldText);
  if (!found.ok) return found;
  const next = entries.with(found.value, operation.action === 'replace' ? operation.content : '');
  return ok({
    entries: withoutDuplicates(next.filter((entry) => entry !== '')),
    messages: [operation.action === 'replace' ? 'Entry replaced.' : 'Entry removed.'],
  });
}

function addEntry(entries: readonly string[], content: string): AppliedOperations {
  if (entries.includes(content)) return { entries, messages: ['Already there; nothing changed.'] };
  return { entries: [...entries, content], messages: ['Entry added.'] };
}

/** Index of the one entry meant by `text`: the entry that equals it, else the only one that contains it. */
function findEntry(entries: readonly string[], text: string): Ok<number> | TargetRefusal {
  const exact = entries.indexOf(text);
  if (exact >= 0) return ok(exact);
  const holding = holders(entries, text);
  const [only] = holding;
  if (only === undefined) {
    const detail = `No entry contains "${ellipsize(text, 80)}".`;
    return { ...refuse('not_found', detail), matches: nearestEntries(entries, text) };
  }
  if (holding.length === 1) return ok(only);
  const detail = `${holding.length} entries contain "${ellipsize(text, 80)}"; give a longer piece of the one you mean.`;
  return { ...refuse('ambiguous', detail), matches: holding.map((index) => entries[index] ?? '') };
}

/** A preview that we cut ourselves ends in an ellipsis; models hand it back with it. */
function holders(entries: readonly string[], text: string): readonly number[] {
  const direct = indexesWith(entries, text);
  const cut = text.replace(/(?:…|\.\.\.)$/, '');
  return direct.length > 0 || cut === text || cut === '' ? direct : indexesWith(entries, cut);
}

function indexesWith(entries: readonly string[], text: string): readonly number[] {
  return entries.flatMap((entry, index) => (entry.includes(text) ? [index] : []));
}
