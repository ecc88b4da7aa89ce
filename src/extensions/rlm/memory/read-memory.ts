// Owns reading a memory file: JSON lines, each judged by itself, a bad one named with its line and reason and left out (notes 5).
// Knows no files, only their text. Invariant: records + rejected = the lines that are not blank.
import { parseJson } from '#base/json.ts';
import { type MemoryRecord, type MemoryRefusal, validateMemoryRecord } from './memory-record.ts';

export interface RejectedLine {
  /** 1-based; for candidates that were never in a file, their place in the list. */
  readonly line: number;
  readonly reason: MemoryRefusal | 'invalid_json';
  readonly detail: string;
}

export interface ReadMemory {
  readonly records: readonly MemoryRecord[];
  readonly rejected: readonly RejectedLine[];
}

export function readMemory(text: string): ReadMemory {
  const records: MemoryRecord[] = [];
  const rejected: RejectedLine[] = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    if (line.trim() === '') continue;
    const checked = readLine(line);
    if (checked.ok) records.push(checked.record);
    else rejected.push({ line: index + 1, reason: checked.reason, detail: checked.detail });
  }
  return { records, rejected };
}

function readLine(line: string) {
  const parsed = parseJson(line);
  if (parsed.ok) return validateMemoryRecord(parsed.value);
  return { ok: false, reason: 'invalid_json', detail: 'the line is not JSON' } as const;
}
