// Owns turning a file of evidence lines into candidates (seed 002, candidates-mine; curator notes 7). Writes nothing. Invariants: all lines
// are read before anything is handed on; a line that cannot be read ends it with file and number; what is held is bounded by candidates, not
// by the file.

import { createReadStream } from 'node:fs';
import { TalariaError } from '#base/errors.ts';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import type { Candidate } from './candidate.ts';
import { classifyCandidate } from './classify-candidate.ts';

export interface MinedFile {
  /** Lines that held something. */
  readonly count: number;
  /** Each candidate once, in the order in which the lines named it first. */
  readonly candidates: readonly Candidate[];
}

/** More than anybody will review; it keeps memory bounded. */
const MOST_CANDIDATES = 250_000;

/**
 * Seed 002 §candidates-mine. JSONL, one object a line, blank lines passed over.
 * @throws TalariaError `invalid-json` | `line-too-long` | `line-not-utf-8` | `too-many-candidates`; what the file system throws.
 */
export async function mineFile(path: string, signal: AbortSignal): Promise<MinedFile> {
  const found = new Map<string, Candidate>();
  let count = 0;
  for await (const { number, text } of readLines(path, signal)) {
    if (text.trim() === '') continue;
    const candidate = classifyCandidate(evidenceIn(text, `${path}:${number}`));
    count += 1;
    if (found.has(candidate.id)) continue;
    if (found.size === MOST_CANDIDATES) throw tooMany(path, number);
    found.set(candidate.id, candidate);
  }
  return { count, candidates: [...found.values()] };
}

function evidenceIn(text: string, place: string): JsonObject {
  const read = parseJsonObject(text);
  if (read.ok) return read.value;
  const what =
    read.reason === 'not-an-object' ? 'The line is no JSON object.' : `The line is no JSON: ${firstLine(read.detail)}.`;
  throw new TalariaError(`${place}: ${what}`, {
    code: 'invalid-json',
    fix: 'Every line is one JSON object: {"text": "…", "evidence_ref": "…"}. Nothing was stored.',
  });
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').replace(/ \(line \d+ column \d+\)/, '').slice(0, 160);
}

function tooMany(path: string, number: number): TalariaError {
  return new TalariaError(`${path}:${number}: More than ${MOST_CANDIDATES} different candidates.`, {
    code: 'too-many-candidates',
    fix: 'Mine the file in parts. Nothing was stored.',
  });
}

interface NumberedLine {
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
