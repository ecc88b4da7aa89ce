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
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolders } from '#base/atomic-write.ts';
import type { Clock } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { parseJson } from '#base/json.ts';
import { withFileLock } from '#base/platform.ts';
import { type Result, refuse } from '#base/result.ts';
import {
  judgeRecords,
  MEMORY_FIELDS,
  type MemoryRecord,
  type ReadMemory,
  type RejectedLine,
  validateMemoryRecord,
} from './memory-record.ts';

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

const MOST_RECORDS = 20_000;
const MOST_NAMED = 1000;
/** Bytes; a sound record is far shorter. */
const LONGEST_LINE = 8192;
const LINE_END = 0x0a;

export function defaultMemoryPath(home: string): string {
  return join(home, 'rlm', 'memory.jsonl');
}

/** A missing file is an empty memory. Throws TalariaError `memory-unreadable`. */
export function readMemoryFile(path: string): MemoryFile {
  let bytes: Buffer;
  try {
    refuseDevice(path);
    bytes = readFileSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw unusable('read', path, error);
    return { path, exists: false, records: [], rejected: [], rejected_count: 0, passed_over: 0 };
  }
  const { records, rejected } = judgedLines(bytes);
  return {
    path,
    exists: true,
    records: records.slice(-MOST_RECORDS),
    rejected: rejected.slice(0, MOST_NAMED),
    rejected_count: rejected.length,
    passed_over: Math.max(0, records.length - MOST_RECORDS),
  };
}

/** Blank lines count, and are neither. */
function judgedLines(bytes: Buffer): ReadMemory {
  const records: MemoryRecord[] = [];
  const rejected: RejectedLine[] = [];
  for (let start = 0, line = 1; start < bytes.length; line += 1) {
    const end = bytes.indexOf(LINE_END, start);
    const stop = end === -1 ? bytes.length : end;
    const read = readLine(bytes.subarray(start, stop));
    start = stop + 1;
    if (read?.ok) records.push(read.value);
    else if (read !== null) rejected.push({ line, reason: read.reason, detail: read.detail });
  }
  return { records, rejected };
}

function readLine(bytes: Buffer): Result<MemoryRecord, RejectedLine['reason']> | null {
  if (bytes.length > LONGEST_LINE) return refuse('invalid_json', `the line is longer than ${LONGEST_LINE} bytes`);
  if (!isUtf8(bytes)) return refuse('invalid_json', 'the line is not UTF-8');
  const text = bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim();
  if (text === '') return null;
  const parsed = parseJson(text);
  return parsed.ok ? validateMemoryRecord(parsed.value) : refuse('invalid_json', 'the line is not JSON');
}

/**
 * Adds records, each judged again; with none that pass the file is not touched. `rejected`: candidates that the guard refused, `line` their place in
 * the list. Throws TalariaError `memory-unwritable` | `locked`; the file is then as it was.
 */
export async function appendMemory(
  path: string,
  candidates: readonly unknown[],
  options: { readonly clock?: Clock; readonly signal?: AbortSignal } = {},
): Promise<{ readonly stored: readonly MemoryRecord[]; readonly rejected: readonly RejectedLine[] }> {
  const { records: stored, rejected } = judgeRecords(candidates);
  if (stored.length === 0) return { stored, rejected };
  const text = stored.map((record) => `${JSON.stringify(record, [...MEMORY_FIELDS])}\n`).join('');
  await withFileLock(`${path}.lock`, () => appendLines(path, text), options);
  return { stored, rejected };
}

function appendLines(path: string, text: string): void {
  let file: number | undefined;
  try {
    makeFolders(dirname(path));
    if (existsSync(path)) refuseDevice(path);
    file = openSync(path, 'a+', 0o600);
    const { size } = fstatSync(file);
    writeWhole(file, Buffer.from(endsInLine(file, size) ? text : `\n${text}`, 'utf8'), size);
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
  const last = Buffer.alloc(1, LINE_END);
  if (size > 0) readSync(file, last, 0, 1, size - 1);
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

function unusable(done: 'read' | 'written', path: string, error: unknown): TalariaError {
  return new TalariaError(`the memory file ${path} cannot be ${done} (${errorText(error)})`, {
    code: done === 'read' ? 'memory-unreadable' : 'memory-unwritable',
    cause: error,
    fix: 'Name another file with --memory-store, or leave memory off.',
  });
}
