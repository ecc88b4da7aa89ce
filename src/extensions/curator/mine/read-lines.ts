// Owns reading a text file line by line, however long it is (curator notes 7, input). Knows no JSON. Invariants: no more than one line and
// one chunk are in memory; a line that is too long or is no UTF-8 ends the reading with its number.
import { createReadStream } from 'node:fs';
import { TalariaError } from '#base/errors.ts';

export interface NumberedLine {
  /** From 1. */
  readonly number: number;
  /** Without its line end. */
  readonly text: string;
}

/** Bytes. */
export const LONGEST_LINE = 4 * 1024 * 1024;

const NEWLINE = 0x0a;
const STRICT = new TextDecoder('utf-8', { fatal: true });

/** @throws TalariaError `line-too-long` | `line-not-utf-8` naming the line; what the file system throws. */
export async function* readLines(path: string, signal: AbortSignal): AsyncGenerator<NumberedLine, void, undefined> {
  let number = 0;
  let begun: Buffer[] = [];
  let length = 0;
  const finish = (piece: Buffer): NumberedLine => {
    number += 1;
    const whole = begun.length === 0 ? piece : Buffer.concat([...begun, piece]);
    if (whole.length > LONGEST_LINE) throw tooLong(path, number);
    begun = [];
    length = 0;
    return { number, text: decode(whole, { path, number }) };
  };
  for await (const chunk of createReadStream(path, { signal }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      yield finish(chunk.subarray(from, end));
      from = end + 1;
    }
    if (from === chunk.length) continue;
    begun.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > LONGEST_LINE) throw tooLong(path, number + 1);
  }
  if (begun.length > 0) yield finish(Buffer.alloc(0));
}

function decode(bytes: Buffer, at: { readonly path: string; readonly number: number }): string {
  try {
    return STRICT.decode(bytes);
  } catch (error) {
    throw new TalariaError(`${at.path}:${at.number}: The line is not UTF-8.`, { code: 'line-not-utf-8', cause: error });
  }
}

function tooLong(path: string, number: number): TalariaError {
  return new TalariaError(`${path}:${number}: The line is longer than 4 MB.`, { code: 'line-too-long' });
}
