// Owns how the helper that starts commands and the process it works for talk: frames on one socket, each a length, a kind, the number of
// a command and a body. Knows no command. Invariant: frames arrive whole and in order, whatever pieces the bytes come in.
import { TalariaError } from '../errors.ts';

export const FRAME = {
  /** From the helper: it can be used. */
  ready: 1,
  /** To the helper: a request. */
  start: 2,
  /** From the helper: it has the request and starts it next. Without it nothing was started. */
  taken: 3,
  started: 4,
  failed: 5,
  out: 6,
  err: 7,
  exit: 8,
  closed: 9,
  /** To the helper: nobody listens to this command any more. */
  release: 10,
} as const;

export interface Frame {
  readonly kind: number;
  /** Which command. */
  readonly id: number;
  readonly body: Buffer;
}

const HEAD = 4;
const KIND_AND_ID = 5;

export function frameOf(kind: number, id: number, body: Buffer | string = ''): Buffer {
  const size = Buffer.byteLength(body);
  const frame = Buffer.allocUnsafe(HEAD + KIND_AND_ID + size);
  frame.writeUInt32LE(KIND_AND_ID + size, 0);
  frame.writeUInt8(kind, HEAD);
  frame.writeUInt32LE(id, HEAD + 1);
  if (typeof body === 'string') frame.write(body, HEAD + KIND_AND_ID);
  else body.copy(frame, HEAD + KIND_AND_ID);
  return frame;
}

/** Takes bytes as they come; throws TalariaError `bad-frame` on what is no frame. */
export function frameReader(hear: (frame: Frame) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let have = 0;
  let need = HEAD;
  return (chunk) => {
    parts.push(chunk);
    have += chunk.length;
    if (have < need) return;
    let bytes = parts.length === 1 ? chunk : Buffer.concat(parts);
    for (need = lengthOf(bytes); bytes.length >= need; need = lengthOf(bytes)) {
      const frame = bytes.subarray(HEAD, need);
      bytes = bytes.subarray(need);
      hear({ kind: frame.readUInt8(0), id: frame.readUInt32LE(1), body: frame.subarray(KIND_AND_ID) });
    }
    parts = bytes.length > 0 ? [bytes] : [];
    have = bytes.length;
  };
}

/** Of the frame that begins here, as far as that is known. */
function lengthOf(bytes: Buffer): number {
  if (bytes.length < HEAD) return HEAD;
  const length = bytes.readUInt32LE(0);
  if (length < KIND_AND_ID) throw badFrame(`it is of ${length} bytes`);
  return HEAD + length;
}

export function badFrame(why: string): TalariaError {
  return new TalariaError(`this is no frame: ${why}`, { code: 'bad-frame' });
}
