// Owns reading SQLite's write-ahead log as a file: is a frame in the middle of it damaged, and making it readable again for a salvage.
// SQLite itself passes over everything behind the first frame that does not add up, and says nothing: what was acknowledged would be gone.
// Invariant: only a copy is ever changed; the torn end that a killed writer leaves is no damage.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import type { Database } from './connection.ts';

const HEAD = 32;
const FRAME_HEAD = 24;
/** SQLite folds a log into its file at four megabytes; a larger one had a reader that never ended. */
const LARGEST = 256 * 1024 ** 2;

/** Words of a file, and the two sums over them, in the byte order that the log's magic number names. */
interface Log {
  readonly bytes: Buffer;
  readonly isBig: boolean;
  readonly frame: number;
  readonly frames: number;
}

type Sums = readonly [number, number];

/** What is wrong with the log beside the database; undefined: nothing. */
export function logDamage(path: string): string | undefined {
  const log = readLog(path);
  if (log === undefined) return undefined;
  const whole = headSums(log);
  if (whole === undefined) return isWritten(log, 1) ? 'the head of its log' : undefined;
  let sums: Sums = whole;
  for (let at = 0; at < log.frames; at += 1) {
    const next = frameSums(log, at, sums);
    if (next === undefined) return isWritten(log, at + 1, isOfHead) ? `frame ${at + 1} of its log` : undefined;
    sums = next;
  }
  return undefined;
}

/** Makes every frame of this log add up, with what stands in it: for a copy from which is saved what can be. */
export function mendLog(path: string): void {
  const log = readLog(path);
  if (log === undefined) return;
  const { bytes, frame } = log;
  const salts = bytes.subarray(HEAD + frame + 8, HEAD + frame + 16);
  bytes.writeUInt32BE(0x377f0682 + (log.isBig ? 1 : 0), 0);
  bytes.writeUInt32BE(3_007_000, 4);
  bytes.writeUInt32BE(frame - FRAME_HEAD, 8);
  salts.copy(bytes, 16);
  let sums = sumOf(log, [0, 24], [0, 0]);
  writeSums(bytes, 24, sums);
  for (let at = 0; at < log.frames; at += 1) {
    const from = HEAD + at * frame;
    if (!hasSalts(log, at) && !isWritten(log, at + 1)) break;
    salts.copy(bytes, from + 8);
    sums = sumOf(log, [from + FRAME_HEAD, from + frame], sumOf(log, [from, from + 8], sums));
    writeSums(bytes, from + 16, sums);
  }
  writeFileSync(`${path}-wal`, bytes);
}

/** Pages of 4096 bytes, as all of ours have: a damaged head need not say so. */
function readLog(path: string): Log | undefined {
  const file = `${path}-wal`;
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LARGEST) return undefined;
  const bytes = size > 0 ? readFileSync(file) : Buffer.alloc(0);
  const frame = FRAME_HEAD + 4096;
  const frames = Math.floor((bytes.length - HEAD) / frame);
  return frames < 2 ? undefined : { bytes, isBig: (bytes[3] ?? 0) % 2 === 1, frame, frames };
}

function headSums(log: Log): Sums | undefined {
  const isMagic = log.bytes.readUInt32BE(0) >>> 1 === 0x377f0682 >>> 1;
  const sums = sumOf(log, [0, 24], [0, 0]);
  return isMagic && isSame(sums, storedSums(log.bytes, 24)) ? sums : undefined;
}

function frameSums(log: Log, at: number, before: Sums): Sums | undefined {
  if (!isOfHead(log, at)) return undefined;
  const from = HEAD + at * log.frame;
  const sums = sumOf(log, [from + FRAME_HEAD, from + log.frame], sumOf(log, [from, from + 8], before));
  return isSame(sums, storedSums(log.bytes, from + 16)) ? sums : undefined;
}

// Was any frame from this one on written after the first, in the same log? Its sums rest on those that the frame before it names. A head that
// adds up says alone which frames are of its log: a writer killed right behind the head of a new one leaves all those of the old.
function isWritten(log: Log, start: number, isOfLog = hasSalts): boolean {
  for (let at = Math.max(1, start); at < log.frames; at += 1) {
    const from = HEAD + at * log.frame;
    if (!isOfLog(log, at)) continue;
    const before = storedSums(log.bytes, from - log.frame + 16);
    const sums = sumOf(log, [from + FRAME_HEAD, from + log.frame], sumOf(log, [from, from + 8], before));
    if (isSame(sums, storedSums(log.bytes, from + 16))) return true;
  }
  return false;
}

function isOfHead({ bytes, frame }: Log, at: number): boolean {
  const from = HEAD + at * frame + 8;
  return bytes.compare(bytes, from, from + 8, 16, 24) === 0;
}

/** The salts of the log are those that two frames agree on, since the head may be what is damaged. */
function hasSalts(log: Log, at: number): boolean {
  const from = HEAD + at * log.frame + 8;
  return isOfHead(log, at) || log.bytes.compare(log.bytes, from, from + 8, HEAD + 8, HEAD + 16) === 0;
}

function sumOf({ bytes, isBig }: Log, [from, to]: readonly [number, number], [one, two]: Sums): Sums {
  let [a, b] = [one, two];
  for (let at = from; at < to; at += 8) {
    a = (a + (isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + b) >>> 0;
    b = (b + (isBig ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + a) >>> 0;
  }
  return [a, b];
}

function storedSums(bytes: Buffer, at: number): Sums {
  return [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
}

function writeSums(bytes: Buffer, at: number, [one, two]: Sums): void {
  bytes.writeUInt32BE(one, at);
  bytes.writeUInt32BE(two, at + 4);
}

function isSame(one: Sums, other: Sums): boolean {
  return one[0] === other[0] && one[1] === other[1];
}

/** Pieces in one transaction at most: other processes wait for the write lock that long. */
const LARGEST_BATCH = 512;

interface Piece {
  readonly work: () => unknown;
  readonly durable: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

export class CommitQueue {
  readonly #database: Database;
  #waiting: Piece[] = [];
  #running: Promise<void> | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Runs `work` (synchronous, repeatable until it is committed) inside a shared transaction, in the order of the calls. */
  commit<T>(work: () => T): Promise<T> {
    return this.#enqueue(work, true);
  }

  /** As `commit`, but does not wait for the disk unless it shares its transaction with work that does (`Database.lightTransaction`). */
  commitLightly<T>(work: () => T): Promise<T> {
    return this.#enqueue(work, false);
  }

  #enqueue<T>(work: () => T, durable: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, durable, resolve: resolve as (value: unknown) => void, reject });
      this.#running ??= this.#drain();
    });
  }

  /** Resolves when everything handed in so far is settled. */
  async settled(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        await new Promise<void>((resume) => setImmediate(resume)); // lets the other writers hand in theirs
        const batch = this.#waiting.splice(0, LARGEST_BATCH);
        await this.#commitBatch(batch);
      }
    } finally {
      this.#running = undefined;
    }
  }

  async #commitBatch(batch: readonly Piece[]): Promise<void> {
    try {
      const all = () => batch.map((piece) => piece.work());
      const isDurable = batch.some((piece) => piece.durable);
      const values = await (isDurable ? this.#database.transaction(all) : this.#database.lightTransaction(all));
      batch.forEach((piece, at) => {
        piece.resolve(values[at]);
      });
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error);
      else for (const piece of batch) await this.#commitBatch([piece]);
    }
  }
}
