// Owns the file of operational memory (notes 5): JSON lines, one record each, only ever appended to. Knows no run.
// Invariant: what cannot be used is counted, named and left where it stands; an append is whole lines or nothing, and a torn last line of
// an earlier write never joins them. Serves seed 003: memory is durable, schema-first and guarded.
import { isUtf8 } from 'node:buffer';
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolders } from '#base/atomic-write.ts';
import type { Clock } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { withFileLock } from '#base/platform.ts';
import { findSecrets } from '#base/secrets.ts';
import { type MemoryRecord, validateMemoryRecord } from './memory-record.ts';
import { MEMORY_FIELDS } from './memory-words.ts';
import { type RejectedLine, readMemory } from './read-memory.ts';

export interface MemoryFile {
  readonly path: string;
  readonly exists: boolean;
  /** The newest 20 000 sound ones, oldest first. */
  readonly records: readonly MemoryRecord[];
  /** The first 1 000 lines that are no records. */
  readonly rejected: readonly RejectedLine[];
  readonly rejected_count: number;
  /** Sound ones that are too old to be kept in mind. */
  readonly passed_over: number;
}

export interface AppendedMemory {
  readonly stored: readonly MemoryRecord[];
  /** Candidates that the guard refused; `line` is their place in the list, from 1. */
  readonly rejected: readonly RejectedLine[];
}

export interface AppendOptions {
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

const MOST_RECORDS = 20_000;
const MOST_NAMED = 1000;
/** Bytes; a sound record is far shorter. */
const LONGEST_LINE = 8192;
const BLOCK = 64 * 1024;
const LINE_END = 0x0a;

export function defaultMemoryPath(home: string): string {
  return join(home, 'rlm', 'memory.jsonl');
}

/** A missing file is an empty memory. Throws TalariaError `memory-unreadable`. */
export function readMemoryFile(path: string): MemoryFile {
  const gathered = new Gathered();
  let file: number;
  try {
    refuseDevice(path);
    file = openSync(path, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return gathered.toFile(path, false);
    throw unusable('read', path, error);
  }
  try {
    for (const line of linesOf(file)) gathered.take(line);
  } catch (error) {
    throw unusable('read', path, error);
  } finally {
    closeSync(file);
  }
  return gathered.toFile(path, true);
}

/**
 * Adds records, each judged again; with none that pass the file is not touched. Throws TalariaError `memory-unwritable` | `locked`;
 * the file is then as it was.
 */
export async function appendMemory(
  path: string,
  candidates: readonly unknown[],
  options: AppendOptions = {},
): Promise<AppendedMemory> {
  const stored: MemoryRecord[] = [];
  const rejected: RejectedLine[] = [];
  for (const [index, candidate] of candidates.entries()) {
    const judged = judge(candidate);
    if (judged.ok) stored.push(judged.record);
    else rejected.push({ line: index + 1, reason: judged.reason, detail: judged.detail });
  }
  if (stored.length === 0) return { stored, rejected };
  const text = stored.map((record) => `${JSON.stringify(record, [...MEMORY_FIELDS])}\n`).join('');
  await withFileLock(`${path}.lock`, () => appendLines(path, text), options);
  return { stored, rejected };
}

function judge(candidate: unknown) {
  const checked = validateMemoryRecord(candidate);
  return checked.ok ? (secretIn(checked.record) ?? checked) : checked;
}

function secretIn({ family_id, fixture_category, outcome }: MemoryRecord) {
  const isSecret = [family_id, fixture_category, outcome].some((text) => findSecrets(text ?? '').length > 0);
  if (!isSecret) return null;
  return { ok: false, reason: 'forbidden_or_injection_text', detail: 'a field holds a secret' } as const;
}

function appendLines(path: string, text: string): void {
  let file: number | undefined;
  try {
    makeFolders(dirname(path));
    if (existsSync(path)) refuseDevice(path);
    file = openSync(path, 'a+', 0o600);
    const { size } = fstatSync(file);
    const bytes = Buffer.from(endsInLine(file, size) ? text : `\n${text}`, 'utf8');
    writeWhole(file, bytes, size);
  } catch (error) {
    throw unusable('written', path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** A pipe or a device may never end. */
function refuseDevice(path: string): void {
  if (!statSync(path).isFile()) throw new TalariaError('it is no file', { code: 'not-a-file' });
}

function endsInLine(file: number, size: number): boolean {
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] === LINE_END;
}

/** What was written of a write that fails is taken back. */
function writeWhole(file: number, bytes: Buffer, size: number): void {
  try {
    let written = 0;
    while (written < bytes.length) written += writeSync(file, bytes, written);
    fsyncSync(file);
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
}

/** Lines without their end; of one that is too long only its length is held. */
function* linesOf(file: number): Generator<Buffer | 'too_long'> {
  let held: Buffer[] = [];
  let length = 0;
  for (const { bytes, endsLine } of piecesOf(file)) {
    length += bytes.length;
    if (length <= LONGEST_LINE) held.push(bytes);
    if (!endsLine) continue;
    yield length > LONGEST_LINE ? 'too_long' : Buffer.concat(held);
    held = [];
    length = 0;
  }
  if (length > 0) yield length > LONGEST_LINE ? 'too_long' : Buffer.concat(held);
}

function* piecesOf(file: number): Generator<{ readonly bytes: Buffer; readonly endsLine: boolean }> {
  const block = Buffer.alloc(BLOCK);
  for (let read = readSync(file, block); read > 0; read = readSync(file, block)) {
    const bytes = Buffer.from(block.subarray(0, read));
    let start = 0;
    for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, start)) {
      yield { bytes: bytes.subarray(start, end), endsLine: true };
      start = end + 1;
    }
    if (start < read) yield { bytes: bytes.subarray(start), endsLine: false };
  }
}

class Gathered {
  #records: MemoryRecord[] = [];
  #passedOver = 0;
  readonly #rejected: RejectedLine[] = [];
  #rejectedCount = 0;
  #line = 0;

  take(bytes: Buffer | 'too_long'): void {
    this.#line += 1;
    if (bytes === 'too_long') this.#reject({ detail: `the line is longer than ${LONGEST_LINE} bytes` });
    else if (isUtf8(bytes)) this.#read(bytes.toString('utf8'));
    else this.#reject({ detail: 'the line is not UTF-8' });
  }

  toFile(path: string, exists: boolean): MemoryFile {
    const records = this.#records.slice(-MOST_RECORDS);
    return {
      path,
      exists,
      records,
      rejected: this.#rejected,
      rejected_count: this.#rejectedCount,
      passed_over: this.#passedOver + this.#records.length - records.length,
    };
  }

  #read(line: string): void {
    const { records, rejected } = readMemory(line);
    for (const record of records) {
      const secret = secretIn(record);
      if (secret === null) this.#keep(record);
      else this.#reject(secret);
    }
    for (const one of rejected) this.#reject(one);
  }

  #keep(record: MemoryRecord): void {
    this.#records.push(record);
    if (this.#records.length < 2 * MOST_RECORDS) return;
    this.#records = this.#records.slice(MOST_RECORDS);
    this.#passedOver += MOST_RECORDS;
  }

  #reject({
    reason = 'invalid_json',
    detail,
  }: {
    readonly reason?: RejectedLine['reason'];
    readonly detail: string;
  }): void {
    this.#rejectedCount += 1;
    if (this.#rejected.length < MOST_NAMED) this.#rejected.push({ line: this.#line, reason, detail });
  }
}

function unusable(done: 'read' | 'written', path: string, error: unknown): TalariaError {
  return new TalariaError(`the memory file ${path} cannot be ${done} (${errorText(error)})`, {
    code: done === 'read' ? 'memory-unreadable' : 'memory-unwritable',
    cause: error,
    fix: 'Name another file with --memory-store, or leave memory off.',
  });
}
