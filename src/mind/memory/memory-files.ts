// Owns the writing of memory files: the only door to MEMORY.md and USER.md below one root folder (core notes 2.2, seed 001 ch 8).
// Knows no home, no tool and no prompt. Invariants: a reader sees the old or the new file, never a mixture; a write holds the
// file's lock and starts from what is on disk then, so edits made by hand or by other processes are never lost; the limit is
// never exceeded by a write of ours; a file that is not in our form keeps every byte.
import { isAborted } from '#base/abort.ts';
import { type Clock, systemClock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { withFileLock } from '#base/platform.ts';
import { type Ok, ok, type Refusal, type Result, refuse } from '#base/result.ts';
import { scanMemoryText, type ThreatReason } from '#mind/evidence/guard/scan-memory.ts';
import type { MemoryOperation } from '#mind/evidence/memory-operation.ts';
import { applyOperations } from './apply-operations.ts';
import {
  countCharacters,
  holdsDelimiter,
  joinEntries,
  normalizeEntry,
  parseEntries,
  usageText,
} from './entry-format.ts';
import { type JournalEntry, type MemoryJournal, type MemoryWriteOptions, openEntry } from './journal/memory-journal.ts';
import { keepCopy, readMemoryFile, realPath, replaceMemoryFile } from './memory-disk.ts';

export type MemoryTarget = 'memory' | 'user';
export const MEMORY_TARGETS: readonly MemoryTarget[] = ['memory', 'user'];

/** Characters (code points) of the joined entries. */
export type MemoryLimits = Readonly<Record<MemoryTarget, number>>;
export const DEFAULT_MEMORY_LIMITS: MemoryLimits = { memory: 2200, user: 1375 };

/** What one file holds at one moment. */
export interface MemoryState {
  readonly target: MemoryTarget;
  readonly entries: readonly string[];
  /** `45% — 990/2,200 chars`. */
  readonly usage: string;
  readonly characters: number;
  readonly limit: number;
}

export interface MemoryWritten extends MemoryState {
  /** One sentence for each operation. */
  readonly messages: readonly string[];
  /** The write's record; absent without a journal. */
  readonly proposalId?: string;
}

export type MemoryReason =
  | 'ambiguous'
  | 'delimiter'
  | 'drift'
  | 'empty'
  | 'not_found'
  | 'over_limit'
  | 'unreadable'
  | ThreatReason;

export interface MemoryRefusal extends Refusal<MemoryReason> {
  /** What the file holds; absent when it could not be read or was not looked at. */
  readonly state?: MemoryState;
  /** `ambiguous`: the entries that match. `not_found`: the nearest ones. */
  readonly matches?: readonly string[];
  /** `drift`: where the copy of the file lies. */
  readonly copy?: string;
}

/**
 * Contract. `read` never writes and takes no lock. `apply` applies all operations or none and returns what is on disk afterwards;
 * every expected refusal is a `MemoryRefusal` with the file untouched. Throws TalariaError for broken I/O (`disk-full`,
 * `no-permission`, `write-failed`, `locked`) with the old file intact, and the signal's reason when it aborts while waiting. With a
 * journal every write, foreground or not, is a proposal first, and each entry that it brings can be asked for its evidence.
 */
export interface MemoryFiles {
  path(target: MemoryTarget): string;
  read(target: MemoryTarget): Result<MemoryState, 'unreadable'>;
  apply(
    target: MemoryTarget,
    operations: readonly MemoryOperation[],
    options?: MemoryWriteOptions,
  ): Promise<Ok<MemoryWritten> | MemoryRefusal>;
}

export interface MemoryFilesOptions {
  /** Folder that holds both files; made when the first entry is written. */
  readonly root: string;
  readonly limits?: MemoryLimits;
  readonly clock?: Clock;
  /** Where every write is recorded before it happens. */
  readonly journal?: MemoryJournal;
}

export function createMemoryFiles(options: MemoryFilesOptions): MemoryFiles {
  const limits = options.limits ?? DEFAULT_MEMORY_LIMITS;
  const clock = options.clock ?? systemClock;
  const { journal } = options;
  const path = (target: MemoryTarget) => realPath(options.root, target === 'user' ? 'USER.md' : 'MEMORY.md');
  return {
    path,
    read: (target) => {
      const raw = readMemoryFile(path(target));
      return raw.ok ? ok(stateOf(target, parseEntries(raw.value).entries, limits[target])) : raw;
    },
    apply: async (target, operations, options = {}) => {
      const entry = await openEntry(journal, target, { operations, options });
      const file = path(target);
      const write = { file, target, limit: limits[target], now: clock.now(), operations, entry };
      try {
        const result = await applyLocked(write, clock, options.signal);
        if (!result.ok) await entry.refused(result.reason, result.detail);
        return result;
      } catch (error) {
        const fault = asMemoryFault(file, error, options.signal);
        await entry.failed(fault);
        throw fault;
      }
    },
  };
}

async function applyLocked(
  write: LockedWrite,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<Ok<MemoryWritten> | MemoryRefusal> {
  const checked = checkOperations(write.operations);
  if (!checked.ok) return checked;
  const locked = { ...write, operations: checked.value };
  return withFileLock(`${write.file}.lock`, () => writeLocked(locked), { clock, ...(signal ? { signal } : {}) });
}

/** Normalises what the operations carry, and refuses what may not be stored before any lock is taken. */
function checkOperations(operations: readonly MemoryOperation[]): Ok<readonly MemoryOperation[]> | MemoryRefusal {
  if (operations.length === 0) return refuse('empty', 'No operation was given.');
  const checked: MemoryOperation[] = [];
  for (const operation of operations) {
    const next = normalizeOperation(operation);
    const refusal = refuseContent(next);
    if (refusal) return refusal;
    checked.push(next);
  }
  return ok(checked);
}

function normalizeOperation(operation: MemoryOperation): MemoryOperation {
  switch (operation.action) {
    case 'add':
      return { action: 'add', content: normalizeEntry(operation.content) };
    case 'replace':
      return {
        action: 'replace',
        oldText: normalizeEntry(operation.oldText),
        content: normalizeEntry(operation.content),
      };
    case 'remove':
      return { action: 'remove', oldText: normalizeEntry(operation.oldText) };
  }
}

function refuseContent(operation: MemoryOperation): MemoryRefusal | undefined {
  if (operation.action !== 'add' && operation.oldText === '') {
    return refuse('empty', `${operation.action} needs old_text, a piece of the entry that is meant.`);
  }
  if (operation.action === 'remove') return undefined;
  if (operation.content === '')
    return refuse('empty', `${operation.action} needs content; use remove to delete an entry.`);
  if (holdsDelimiter(operation.content)) {
    return refuse('delimiter', 'A line with only § separates entries; write one entry at a time.');
  }
  const scan = scanMemoryText(operation.content);
  return scan.ok ? undefined : scan;
}

interface LockedWrite {
  readonly file: string;
  readonly target: MemoryTarget;
  readonly limit: number;
  readonly now: number;
  readonly operations: readonly MemoryOperation[];
  readonly entry: JournalEntry;
}

async function writeLocked(write: LockedWrite): Promise<Ok<MemoryWritten> | MemoryRefusal> {
  const raw = readMemoryFile(write.file);
  if (!raw.ok) return raw;
  const { entries, canonical } = parseEntries(raw.value);
  const before = stateOf(write.target, entries, write.limit);
  const ours = canonical && entries.every((entry) => countCharacters(entry) <= write.limit);
  if (!ours && write.operations.some(({ action }) => action !== 'add')) return refuseDrift(write, raw.value, before);
  const applied = applyOperations(entries, write.operations);
  if (!applied.ok) return { ...applied, state: before };
  const next = ours ? joinEntries(applied.value.entries) : appendVerbatim(raw.value, entries, applied.value.entries);
  const after = stateOf(write.target, applied.value.entries, write.limit);
  const size = countCharacters(next);
  if (size > write.limit && size >= before.characters && next !== raw.value) return refuseOverLimit(before, size);
  await putInPlace(write, { raw: raw.value, next, before: entries, after: after.entries });
  const { proposalId } = write.entry;
  return ok({ ...after, messages: applied.value.messages, ...(proposalId === undefined ? {} : { proposalId }) });
}

async function putInPlace(
  { file, entry }: LockedWrite,
  change: {
    readonly raw: string;
    readonly next: string;
    readonly before: readonly string[];
    readonly after: readonly string[];
  },
): Promise<void> {
  const { raw, next, before, after } = change;
  if (next === raw) await entry.unchanged();
  else await entry.run({ path: file, text: next, before, after }, () => replaceMemoryFile(file, next));
}

/** A file in another form is only ever added to: each byte that somebody wrote stays as it is. */
function appendVerbatim(raw: string, before: readonly string[], after: readonly string[]): string {
  const added = after.filter((entry) => !before.includes(entry));
  return added.length === 0 ? raw : joinEntries([...(raw.trim() === '' ? [] : [raw.trimEnd()]), ...added]);
}

function refuseDrift(write: LockedWrite, raw: string, state: MemoryState): MemoryRefusal {
  const copy = keepCopy(write.file, raw, write.now);
  const detail = `${write.file} was edited into a form that cannot be rewritten without loss (entries are separated by a line with only §, none longer than ${write.limit} characters). Nothing changed; a copy is at ${copy}. Ask the owner to put the file in order; add still works.`;
  return { ...refuse('drift', detail), state, copy };
}

function refuseOverLimit(state: MemoryState, size: number): MemoryRefusal {
  const detail = `This would make ${size} characters, over the limit of ${state.limit}. Nothing changed. Merge, shorten or remove entries (one batch of operations can do both), then add again.`;
  return { ...refuse('over_limit', detail), state };
}

function stateOf(target: MemoryTarget, entries: readonly string[], limit: number): MemoryState {
  const characters = countCharacters(joinEntries(entries));
  return { target, entries, characters, limit, usage: usageText(characters, limit) };
}

function asMemoryFault(file: string, error: unknown, signal: AbortSignal | undefined): unknown {
  if (error instanceof TalariaError || isAborted(error) || signal?.aborted) return error;
  return new TalariaError(`cannot write ${file}: ${errorText(error)}`, { code: 'write-failed', cause: error });
}
