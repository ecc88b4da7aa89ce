// Owns keeping a stream of bytes in bounded memory: the first and the last bytes stay, the whole goes to a file once it is too much.
// Knows no process. Invariant: memory never exceeds the head and tail caps by more than one chunk; the spill file gets every byte in order, as
// long as its folder may take more.
import { createSpillFile } from './spill-file.ts';

export interface CaptureLimits {
  /** Bytes kept from the start; default 24 KiB. */
  readonly headBytes?: number;
  /** Bytes kept from the end; default 24 KiB. */
  readonly tailBytes?: number;
  /** File that gets the whole output as soon as head and tail cannot hold it; without one the middle is lost. A name that is taken gets a number. */
  readonly spill?: string;
  /** Takes known secrets (4 KiB at most) out of what goes into the spill file; head and tail are the caller's to clean. */
  readonly redact?: (text: string) => string;
}

export interface CapturedOutput {
  /** The whole output, or head, a line saying how much is left out, and tail. UTF-8; stray bytes become U+FFFD. */
  readonly text: string;
  readonly totalBytes: number;
  readonly truncated: boolean;
  /** Set when the whole output is in this file, or its first `spillBytes`. */
  readonly spill?: string;
  /** Set when the folder could take no more. */
  readonly spillBytes?: number;
  /** Why the spill file is not whole, e.g. a full disk. */
  readonly spillError?: string;
}

export interface OutputCapture {
  readonly totalBytes: number;
  write(chunk: Buffer): void;
  snapshot(): CapturedOutput;
  /** Closes the spill file; later writes only count. */
  close(): void;
}

const DEFAULT_BYTES = 24 * 1024;

export function captureOutput(limits: CaptureLimits = {}): OutputCapture {
  const head = createHead(limits.headBytes ?? DEFAULT_BYTES);
  const tail = createTail(limits.tailBytes ?? DEFAULT_BYTES);
  const file = createSpillFile(limits.spill, limits.redact);
  let totalBytes = 0;
  const truncated = () => totalBytes > head.size() + tail.size();
  return {
    get totalBytes() {
      return totalBytes;
    },
    write(chunk) {
      const overflows = totalBytes + chunk.length > head.cap + tail.cap;
      if (overflows && !file.started()) file.start([head.bytes(), tail.bytes()]);
      if (file.started()) file.append(chunk);
      totalBytes += chunk.length;
      tail.add(chunk.subarray(head.add(chunk)));
    },
    snapshot: () => ({
      text: truncated()
        ? joinParts(head.bytes(), tail.bytes(), totalBytes)
        : decode(Buffer.concat([head.bytes(), tail.bytes()])),
      totalBytes,
      truncated: truncated(),
      ...file.state(),
    }),
    close: file.close,
  };
}

function createHead(cap: number) {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    cap,
    size: () => size,
    /** Takes what still fits and tells how many bytes that were. */
    add(chunk: Buffer): number {
      const taken = Math.min(cap - size, chunk.length);
      if (taken > 0) chunks.push(Buffer.from(chunk.subarray(0, taken)));
      size += taken;
      return taken;
    },
    bytes: () => Buffer.concat(chunks),
  };
}

/** A ring of the last bytes, allocated when the first byte comes. */
function createTail(cap: number) {
  let ring: Buffer | undefined;
  let total = 0;
  return {
    cap,
    size: () => Math.min(total, cap),
    add(chunk: Buffer): void {
      if (chunk.length === 0 || cap === 0) return;
      ring ??= Buffer.allocUnsafe(cap);
      const part = chunk.length > cap ? chunk.subarray(chunk.length - cap) : chunk;
      const at = (total + chunk.length - part.length) % cap;
      const first = Math.min(part.length, cap - at);
      part.copy(ring, at, 0, first);
      part.copy(ring, 0, first);
      total += chunk.length;
    },
    bytes(): Buffer {
      if (!ring) return Buffer.alloc(0);
      if (total <= cap) return Buffer.from(ring.subarray(0, total));
      const at = total % cap;
      return Buffer.concat([ring.subarray(at), ring.subarray(0, at)]);
    },
  };
}

function joinParts(head: Buffer, tail: Buffer, totalBytes: number): string {
  const start = decode(head.subarray(0, wholeCharacters(head)));
  const end = decode(tail.subarray(firstCharacter(tail)));
  const missing = totalBytes - head.length - tail.length;
  return `${start}\n[… ${missing} of ${totalBytes} bytes left out …]\n${end}`;
}

/** Index after the last complete UTF-8 character. */
function wholeCharacters(bytes: Buffer): number {
  let at = bytes.length - 1;
  while (at >= 0 && at > bytes.length - 4 && isContinuation(bytes[at])) at -= 1;
  const lead = bytes[at] ?? 0;
  const needs = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return bytes.length - at < needs ? Math.max(0, at) : bytes.length;
}

function firstCharacter(bytes: Buffer): number {
  let at = 0;
  while (at < 3 && at < bytes.length && isContinuation(bytes[at])) at += 1;
  return at;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function decode(bytes: Buffer): string {
  return bytes.toString('utf8');
}
