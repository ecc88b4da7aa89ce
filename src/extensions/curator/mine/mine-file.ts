// Owns turning a file of evidence lines into candidates (seed 002, candidates-mine; curator notes 7). Writes nothing. Invariants: all lines
// are read before anything is handed on; a line that cannot be read ends it with file and number; what is held is bounded by candidates, not
// by the file.
import { TalariaError } from '#base/errors.ts';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import type { Candidate } from './candidate.ts';
import { classifyCandidate } from './classify-candidate.ts';
import { readLines } from './read-lines.ts';

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
