// Owns the writing of memory files: the only door to MEMORY.md and USER.md below one root folder (core notes 2.2, seed 001 ch 8).
// Invariants: a reader sees the old or the new file; a write starts, under the file's lock, from what is on disk then; a batch is made whole or
// not at all; no write of ours exceeds the limit; a file that is not in our form, or no UTF-8 text of a sane size, keeps every byte.
import { readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isAborted } from '#base/abort.ts';
import { atomicWrite } from '#base/atomic-write.ts';
import { type Clock, systemClock } from '#base/clock.ts';
import { errorCode, errorText, ifThere, TalariaError } from '#base/errors.ts';
import { withFileLock } from '#base/platform.ts';
import { type Ok, ok, type Refusal, type Result, refuse } from '#base/result.ts';
import { ellipsize, wellFormed } from '#base/text.ts';
import { scanMemoryText, type ThreatReason } from '#mind/evidence/guard/scan-memory.ts';
import type { MemoryOperation } from '#mind/evidence/proposal.ts';
import { type JournalEntry, type MemoryJournal, type MemoryWriteOptions, openEntry } from './memory-journal.ts';

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

type MemoryReason =
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

export function createMemoryFiles({
  root,
  limits = DEFAULT_MEMORY_LIMITS,
  clock = systemClock,
  journal,
}: {
  /** Folder that holds both files; made when the first entry is written. */
  readonly root: string;
  readonly limits?: MemoryLimits;
  readonly clock?: Clock;
  /** Where every write is recorded before it happens. */
  readonly journal?: MemoryJournal;
}): MemoryFiles {
  const path = (target: MemoryTarget) => realPath(root, target === 'user' ? 'USER.md' : 'MEMORY.md');
  return {
    path,
    read: (target) => {
      const raw = readMemoryFile(path(target));
      return raw.ok ? ok(stateOf(target, parseEntries(raw.value).entries, limits[target])) : raw;
    },
    apply: async (target, operations, options = {}) => {
      const entry = await openEntry(journal, target, { operations, options });
      const { signal } = options;
      const file = path(target);
      const write = { file, target, limit: limits[target], now: clock.now(), entry };
      try {
        const checked = checkOperations(operations);
        const result = checked.ok
          ? await withFileLock(`${file}.lock`, () => writeLocked({ ...write, operations: checked.value }), {
              clock,
              ...(signal ? { signal } : {}),
            })
          : checked;
        if (!result.ok) await entry.refused(result.reason, result.detail);
        return result;
      } catch (error) {
        const fault = asMemoryFault(file, error, signal);
        await entry.failed(fault);
        throw fault;
      }
    },
  };
}

/** Normalises what the operations carry, and refuses what may not be stored before any lock is taken. */
function checkOperations(operations: readonly MemoryOperation[]): Ok<readonly MemoryOperation[]> | MemoryRefusal {
  if (operations.length === 0) return refuse('empty', 'No operation was given.');
  const checked = operations.map((operation): MemoryOperation => {
    if (operation.action === 'add') return { ...operation, content: normalizeEntry(operation.content) };
    const named = { ...operation, oldText: normalizeEntry(operation.oldText) };
    return named.action === 'remove' ? named : { ...named, content: normalizeEntry(named.content) };
  });
  for (const operation of checked) {
    const refusal = refuseContent(operation);
    if (refusal) return refusal;
  }
  return ok(checked);
}

function refuseContent(operation: MemoryOperation): MemoryRefusal | undefined {
  if (operation.action !== 'add' && operation.oldText === '')
    return refuse('empty', `${operation.action} needs old_text, a piece of the entry that is meant.`);
  if (operation.action === 'remove') return undefined;
  if (operation.content === '')
    return refuse('empty', `${operation.action} needs content; use remove to delete an entry.`);
  if (holdsDelimiter(operation.content))
    return refuse('delimiter', 'A line with only § separates entries; write one entry at a time.');
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
  const { file, entry } = write;
  if (next === raw.value) await entry.unchanged();
  else {
    const planned = { path: file, text: next, before: entries, after: after.entries };
    await entry.run(planned, () => replaceMemoryFile(file, next));
  }
  const { proposalId } = entry;
  return ok({ ...after, messages: applied.value.messages, ...(proposalId === undefined ? {} : { proposalId }) });
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

interface AppliedOperations {
  readonly entries: readonly string[];
  /** One sentence for each operation, in order. */
  readonly messages: readonly string[];
}

/** `matches`: the entries that hold the text, or, when none does, those that come nearest to it. */
interface TargetRefusal extends Refusal<'ambiguous' | 'not_found'> {
  readonly matches: readonly string[];
}

/** Applies the operations in order to entries that are already normalised. An added entry is always in the result. */
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
  if (operation.action === 'add') {
    if (entries.includes(operation.content)) return ok({ entries, messages: ['Already there; nothing changed.'] });
    return ok({ entries: [...entries, operation.content], messages: ['Entry added.'] });
  }
  const found = findEntry(entries, operation.oldText);
  if (!found.ok) return found;
  const isReplaced = operation.action === 'replace';
  const next = entries.with(found.value, isReplaced ? operation.content : '').filter((entry) => entry !== '');
  return ok({ entries: withoutDuplicates(next), messages: [isReplaced ? 'Entry replaced.' : 'Entry removed.'] });
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

/** The three that may have been meant by a text that none contains: those that share words with it, best first. */
function nearestEntries(entries: readonly string[], text: string): readonly string[] {
  const words = (one: string) => new Set(one.toLowerCase().match(/[\p{L}\p{N}]{2,}/gu) ?? []);
  const wanted = words(text);
  return entries
    .map((entry) => ({ entry, score: likeness(wanted, words(entry)) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map(({ entry }) => entry);
}

/** Shared words over the geometric mean of both sizes: a long entry does not win by its length. */
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  return a.intersection(b).size / Math.sqrt(Math.max(1, a.size * b.size));
}

const SECTION_SIGN = '§';
const JOINT = `\n${SECTION_SIGN}\n`;
/** A line with only the sign; blanks beside it, as editors leave them, are read and then count as another form. */
const SEPARATOR = /(?:^|\n)[ \t]{0,80}§[ \t]{0,80}(?=\n|$)/;

/** Reads a file's text; a byte order mark and blanks at both ends do not count. */
export function parseEntries(raw: string): {
  readonly entries: readonly string[];
  /** False when writing the entries back would change more than blank edges: the text was brought into another form by hand. */
  readonly canonical: boolean;
} {
  const text = raw.replace(/^\uFEFF/, '').trim();
  const entries = text
    .replace(/\r\n?/g, '\n')
    .split(SEPARATOR)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return { entries, canonical: joinEntries(entries) === text && !entries.some(holdsDelimiter) };
}

/** No trailing newline; no entries give the empty text. */
export function joinEntries(entries: readonly string[]): string {
  return entries.join(JOINT);
}

/** An entry as it is stored: LF line ends, no blank edges, nothing that UTF-8 cannot carry. */
export function normalizeEntry(text: string): string {
  return wellFormed(text)
    .replace(/\r\n?|[\u2028\u2029\u0085]/g, '\n')
    .trim();
}

/** Would this entry be read back as several? */
function holdsDelimiter(entry: string): boolean {
  return entry.split('\n').some((line) => line.trim() === SECTION_SIGN);
}

/** Each entry once, at its first place. */
function withoutDuplicates(entries: readonly string[]): readonly string[] {
  return [...new Set(entries)];
}

/** Characters as the limits count them: Unicode code points, so that files of existing users keep their size. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** `45% — 990/2,200 chars`. */
function usageText(characters: number, limit: number): string {
  const percent = limit > 0 ? Math.floor((characters / limit) * 100) : 100;
  return `${percent}% — ${grouped(characters)}/${grouped(limit)} chars`;
}

function grouped(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

const TEMP_PREFIX = '.mem_';
/** Far above any limit: what is larger is no memory file, and reading it would only cost memory. */
const MAX_BYTES = 1_000_000;

/** The file behind `<root>/<name>`: a link (kept by people who version their notes) stays a link. */
function realPath(root: string, name: string): string {
  const path = join(root, name);
  try {
    return realpathSync(path);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return path;
  }
}

/** The whole text, byte order mark included; a missing file is empty. */
function readMemoryFile(path: string): Result<string, 'unreadable'> {
  try {
    const { size } = statSync(path);
    if (size > MAX_BYTES)
      return refuse('unreadable', `${path} has ${size} bytes; that is no memory file. It was left alone.`);
    return ok(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path)));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return ok('');
    if (errorCode(error) === undefined) throw error;
    return refuse('unreadable', `${path} cannot be read as UTF-8 text (${errorText(error)}). It was left alone.`);
  }
}

/** Replaces the file by rename, after clearing what a killed writer left; the caller holds the lock, so no live one is hit. */
function replaceMemoryFile(path: string, text: string): void {
  const folder = dirname(path);
  for (const name of listed(folder)) {
    if (name.startsWith(`${TEMP_PREFIX}${basename(path)}`)) rmSync(join(folder, name), { force: true });
  }
  atomicWrite(path, text, { prefix: TEMP_PREFIX });
}

/** Writes `<file>.bak.<unix seconds>` unless the newest copy already says the same; returns its path. */
function keepCopy(path: string, text: string, epochMs: number): string {
  const folder = dirname(path);
  const copies = listed(folder).filter((name) => name.startsWith(`${basename(path)}.bak.`));
  const unixOf = (name: string) => Number(name.slice(name.lastIndexOf('.') + 1)) || 0;
  const newest = copies.sort((a, b) => unixOf(b) - unixOf(a))[0];
  const known = newest === undefined ? undefined : readMemoryFile(join(folder, newest));
  if (newest !== undefined && known?.ok && known.value === text) return join(folder, newest);
  const copy = join(folder, `${basename(path)}.bak.${Math.floor(epochMs / 1000)}`);
  atomicWrite(copy, text, { prefix: TEMP_PREFIX });
  return copy;
}

function listed(folder: string): readonly string[] {
  return ifThere(() => readdirSync(folder)) ?? [];
}

/** The entry, or `[BLOCKED: <handle> …]` when it may not be shown; `handle` such as `user:2`. */
export function showEntry(
  entry: string,
  handle: string,
): {
  readonly text: string;
  readonly blocked: boolean;
} {
  const scan = scanMemoryText(entry);
  if (scan.ok) return { text: entry, blocked: false };
  const reason = scan.reason.replaceAll('_', ' ');
  return {
    text: `[BLOCKED: ${handle} holds ${reason} (${scan.rule}); only the owner can read or remove it]`,
    blocked: true,
  };
}

/** 1-based, as people count lines: `memory:1` is the first entry of MEMORY.md. */
export function entryHandle(target: string, index: number): string {
  return `${target}:${index + 1}`;
}
