// Owns what the `memory` command does to entries: list with handles, add, remove, where the files are. Knows no command line.
// Invariant: a handle names the entry that was listed; if the file changed since, the entry itself is looked for, never its number.
import { type Ok, ok, type Result, refuse } from '#base/result.ts';
import {
  MEMORY_TARGETS,
  type MemoryFiles,
  type MemoryRefusal,
  type MemoryState,
  type MemoryTarget,
  type MemoryWritten,
} from './memory-files.ts';
import { entryHandle, showEntry } from './memory-view.ts';

export interface MemoryEntry {
  /** `memory:1`, `user:2`; counts from 1 in file order. */
  readonly handle: string;
  readonly target: MemoryTarget;
  /** As stored: the owner may see what the model may not. */
  readonly text: string;
  /** Shown to the model as `[BLOCKED: …]`. */
  readonly blocked: boolean;
}

export interface MemoryListing {
  readonly states: readonly MemoryState[];
  readonly entries: readonly MemoryEntry[];
  /** Files that cannot be read, one sentence each. */
  readonly problems: readonly string[];
}

export function listEntries(files: MemoryFiles, targets: readonly MemoryTarget[] = MEMORY_TARGETS): MemoryListing {
  const reads = targets.map((target) => files.read(target));
  const states = reads.flatMap((read) => (read.ok ? [read.value] : []));
  return {
    states,
    entries: states.flatMap(entriesOf),
    problems: reads.flatMap((read) => (read.ok ? [] : [read.detail])),
  };
}

function entriesOf(state: MemoryState): readonly MemoryEntry[] {
  return state.entries.map((text, index) => {
    const handle = entryHandle(state.target, index);
    return { handle, target: state.target, text, blocked: showEntry(text, handle).blocked };
  });
}

export function addEntry(
  files: MemoryFiles,
  target: MemoryTarget,
  text: string,
): Promise<Ok<MemoryWritten> | MemoryRefusal> {
  return files.apply(target, [{ action: 'add', content: text }], { actor: 'owner' });
}

/** `asked` is a handle or a piece of text that only one entry of both files holds. */
export async function removeEntry(files: MemoryFiles, asked: string): Promise<Ok<MemoryEntry> | MemoryRefusal> {
  const found = findEntry(files, asked);
  if (!found.ok) return found;
  const removed = await files.apply(found.value.target, [{ action: 'remove', oldText: found.value.text }], {
    actor: 'owner',
  });
  return removed.ok ? ok(found.value) : removed;
}

export function findEntry(files: MemoryFiles, asked: string): Result<MemoryEntry, 'ambiguous' | 'empty' | 'not_found'> {
  const wanted = asked.trim();
  if (wanted === '')
    return refuse('empty', 'Name an entry by its handle (memory:1, user:2) or by a piece of its text.');
  const { entries } = listEntries(files);
  const named = entries.find(({ handle }) => handle === wanted.toLowerCase());
  if (named) return ok(named);
  const holding = entries.filter(({ text }) => text.includes(wanted));
  const exact = holding.find(({ text }) => text === wanted) ?? (holding.length === 1 ? holding[0] : undefined);
  if (exact) return ok(exact);
  if (holding.length === 0)
    return refuse('not_found', `No entry is called or contains "${wanted}". "talaria memory show" lists them.`);
  return refuse(
    'ambiguous',
    `${holding.map(({ handle }) => handle).join(', ')} contain "${wanted}"; name one by its handle.`,
  );
}

export function memoryPaths(files: MemoryFiles): readonly { readonly target: MemoryTarget; readonly path: string }[] {
  return MEMORY_TARGETS.map((target) => ({ target, path: files.path(target) }));
}
