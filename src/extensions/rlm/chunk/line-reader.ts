// Owns reading single lines out of bytes for the search of boundaries: blank or not, first byte, a bounded prefix as text.
// Invariant: the cost of one question is bounded by the length of its line; a byte order mark is no part of the first line.
import { endOfText, type LineIndex, scanLines } from './scan-lines.ts';

export interface LineReader {
  readonly count: number;
  isBlank(line: number): boolean;
  /** The first bytes of the line as Latin-1, without its line end: enough for marks, which are all ASCII. */
  prefix(line: number, most: number): string;
  /** How often a byte stands in the line. */
  countOf(line: number, byte: number): number;
}

export function lineReader(bytes: Uint8Array, index: LineIndex = scanLines(bytes)): LineReader {
  const start = (line: number) => (line === 0 && hasMark(bytes) ? 3 : (index.starts[line] ?? 0));
  const end = (line: number) => endOfText(bytes, start(line), index.starts[line + 1] ?? bytes.length);
  return {
    count: index.count,
    isBlank: (line) => isBlankSpan(bytes, start(line), end(line)),
    prefix: (line, most) => latin(bytes, start(line), Math.min(end(line), start(line) + most)),
    countOf: (line, byte) => countByte(bytes.subarray(start(line), end(line)), byte),
  };
}

function hasMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

function isBlankSpan(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] !== 32 && bytes[at] !== 9) return false;
  return true;
}

function latin(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let at = start; at < end; at += 1) text += String.fromCharCode(bytes[at] ?? 0);
  return text;
}

function countByte(bytes: Uint8Array, wanted: number): number {
  let count = 0;
  for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1)) count += 1;
  return count;
}
