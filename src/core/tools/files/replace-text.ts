// Owns replacing one piece of a text: exact first, then forgiving about blanks, always at one place only. Pure.
// Knows no file. Invariant: every character outside of the replaced piece stays as it was; anything doubtful is a refusal.
import { ok, type Result, refuse } from '#base/result.ts';
import { lineOf } from '#base/text.ts';

export type ReplaceRefusal = 'empty' | 'same' | 'not-found' | 'not-unique';

export interface Replacement {
  readonly text: string;
  readonly places: number;
  /** Line of the first place, from 1. */
  readonly line: number;
  /** How the place was found; all but `exact` are told to the model. */
  readonly how: 'exact' | 'line-ends' | 'trailing-blanks' | 'indentation';
}

export interface ReplaceRequest {
  readonly text: string;
  readonly old: string;
  readonly new: string;
  readonly all: boolean;
}

export function replaceText(request: ReplaceRequest): Result<Replacement, ReplaceRefusal> {
  if (request.old === '') return refuse('empty', 'old_string is empty; write_file makes and replaces whole files');
  if (request.old === request.new) return refuse('same', 'old_string and new_string are the same: nothing to change');
  for (const find of [findExact, findAcrossLineEnds, findTrailingBlanks, findIndented]) {
    const found = find(request);
    if (found.length > 1 && !(request.all && find !== findIndented))
      return refuse('not-unique', notUnique(request.text, found));
    if (found.length > 0) return ok(apply(request.text, found));
  }
  return refuse('not-found', notFound(request));
}

interface Place {
  readonly start: number;
  readonly end: number;
  readonly put: string;
  readonly how: Replacement['how'];
}

function apply(text: string, places: readonly Place[]): Replacement {
  let out = '';
  let at = 0;
  for (const { start, end, put } of places) {
    out += text.slice(at, start) + put;
    at = end;
  }
  const first = places[0];
  return {
    text: out + text.slice(at),
    places: places.length,
    line: lineOf(text, first?.start ?? 0),
    how: first?.how ?? 'exact',
  };
}

function findExact({ text, old, new: put, all }: ReplaceRequest): readonly Place[] {
  return occurrences(text, old, all).map((start) => ({ start, end: start + old.length, put, how: 'exact' }));
}

const ENOUGH = 20;

/** All places that do not overlap; or, to know whether one place is the only one, overlapping ones too (at most 20). */
function occurrences(text: string, piece: string, all: boolean): readonly number[] {
  const found: number[] = [];
  const step = all ? piece.length : 1;
  for (let at = text.indexOf(piece); at >= 0 && (all || found.length < ENOUGH); at = text.indexOf(piece, at + step))
    found.push(at);
  return found;
}

/** A file with CRLF, seen by a model that writes LF. */
function findAcrossLineEnds({ text, old, new: put, all }: ReplaceRequest): readonly Place[] {
  if (!text.includes('\r\n') || !old.includes('\n')) return [];
  const lf = (piece: string) => piece.replaceAll('\r\n', '\n');
  const flat = lf(text);
  const piece = lf(old);
  return occurrences(flat, piece, all).map((start) => {
    const from = rawOffset(text, start);
    const end = rawOffset(text, start + piece.length);
    const crlf = text.slice(from, end).includes('\r\n');
    return { start: from, end, put: crlf ? lf(put).replaceAll('\n', '\r\n') : put, how: 'line-ends' };
  });
}

/** Offset in `text` of an offset in the same text with every CRLF counted as one character. */
function rawOffset(text: string, flat: number): number {
  let raw = flat;
  for (let at = text.indexOf('\r\n'); at >= 0 && at < raw; at = text.indexOf('\r\n', at + 2)) raw += 1;
  return raw;
}

interface Line {
  readonly start: number;
  /** Before the line end. */
  readonly end: number;
  readonly text: string;
}

function linesOf(text: string): readonly Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (const piece of text.split('\n')) {
    const body = piece.endsWith('\r') ? piece.slice(0, -1) : piece;
    lines.push({ start, end: start + body.length, text: body });
    start += piece.length + 1;
  }
  return lines;
}

/** Lines of `old` without an empty first or last one, and whether it ended in a line end. */
function piecesOf(old: string): readonly string[] {
  const lines = old.split('\n').map((line) => line.replace(/\r$/, ''));
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function findTrailingBlanks(request: ReplaceRequest): readonly Place[] {
  return findLines(
    request,
    (line, piece) => line.trimEnd() === piece.trimEnd(),
    (put) => put,
    'trailing-blanks',
  );
}

/** Same lines, all moved by the same indentation: the new text is moved by it too. */
function findIndented(request: ReplaceRequest): readonly Place[] {
  const pieces = piecesOf(request.old);
  const same = (line: string, piece: string) => line.trim() === piece.trim();
  const candidates = windows(request, pieces, same);
  return candidates.flatMap((window) => {
    const shift = commonShift(window, pieces);
    return shift === undefined ? [] : [toPlace(request, window, { put: shift(request.new), how: 'indentation' })];
  });
}

function findLines(
  request: ReplaceRequest,
  same: (line: string, piece: string) => boolean,
  put: (text: string) => string,
  how: Replacement['how'],
): readonly Place[] {
  return windows(request, piecesOf(request.old), same).map((window) =>
    toPlace(request, window, { put: put(request.new), how }),
  );
}

/** Runs of lines that fit the pieces one by one; overlapping ones only when one is wanted. Blank lines alone fit nothing. */
function windows(
  { text, all }: ReplaceRequest,
  pieces: readonly string[],
  same: (line: string, piece: string) => boolean,
): readonly (readonly Line[])[] {
  if (pieces.every((piece) => piece.trim() === '')) return [];
  const lines = linesOf(text);
  const found: (readonly Line[])[] = [];
  for (let at = 0; at + pieces.length <= lines.length; at += 1) {
    if (!pieces.every((piece, i) => same(lines[at + i]?.text ?? '', piece))) continue;
    found.push(lines.slice(at, at + pieces.length));
    if (all) at += pieces.length - 1;
  }
  return found;
}

function toPlace(request: ReplaceRequest, window: readonly Line[], change: Pick<Place, 'put' | 'how'>): Place {
  const start = window[0]?.start ?? 0;
  const end = window.at(-1)?.end ?? start;
  const crlf = request.text.slice(start, end + 2).includes('\r\n');
  const body = /\n$/.test(request.old) ? change.put.replace(/\r?\n$/, '') : change.put;
  const put = crlf ? body.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n') : body;
  return { start, end, put, how: change.how };
}

/** How every line is indented more (or less) than its piece, as a change for new text; undefined when they differ. */
function commonShift(window: readonly Line[], pieces: readonly string[]): ((text: string) => string) | undefined {
  const pairs = pieces
    .map((piece, i) => [indentOf(piece), indentOf(window[i]?.text ?? ''), piece.trim()] as const)
    .filter(([, , body]) => body !== '');
  const [first] = pairs;
  if (!first) return undefined;
  const [from, to] = first;
  if (to.endsWith(from)) {
    const add = to.slice(0, to.length - from.length);
    return pairs.every(([old, now]) => now === add + old)
      ? (text) => mapLines(text, (line) => (line.trim() === '' ? line : add + line))
      : undefined;
  }
  if (!from.endsWith(to)) return undefined;
  const cut = from.slice(0, from.length - to.length);
  const fits = pairs.every(([old, now]) => old === cut + now);
  return fits ? (text) => mapLines(text, (line) => (line.startsWith(cut) ? line.slice(cut.length) : line)) : undefined;
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function mapLines(text: string, change: (line: string) => string): string {
  return text.split('\n').map(change).join('\n');
}

function notUnique(text: string, places: readonly Place[]): string {
  const lines = places.slice(0, 8).map(({ start }) => lineOf(text, start));
  const more = places.length > 8 ? ', …' : '';
  return `old_string occurs ${places.length} times (lines ${lines.join(', ')}${more}); give more of the lines around it, or set replace_all`;
}

const MAX_LINES = 20_000;

/** Names the lines that look most like the first telling line of `old`. */
function notFound({ text, old }: ReplaceRequest): string {
  const wanted =
    piecesOf(old)
      .find((piece) => piece.trim() !== '')
      ?.trim()
      .slice(0, 200) ?? '';
  const lines = linesOf(text).slice(0, MAX_LINES);
  const wantedPairs = pairsOf(wanted);
  let best = { score: 0.4, at: -1 };
  for (const [at, line] of lines.entries()) {
    const score = likeness(wantedPairs, line.text.trim().slice(0, 200));
    if (score > best.score) best = { score, at };
  }
  if (best.at < 0) return 'old_string is not in the file, nor anything like it; read the file first';
  const from = Math.max(0, best.at - 2);
  const near = lines.slice(from, best.at + Math.min(8, piecesOf(old).length) + 2);
  const shown = near.map((line, i) => `${from + i + 1}: ${line.text.slice(0, 200)}`).join('\n');
  return `old_string is not in the file. Nearest lines:\n${shown}`;
}

function pairsOf(text: string): ReadonlySet<string> {
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < text.length; at += 1) pairs.add(text.slice(at, at + 2));
  return pairs;
}

function likeness(wanted: ReadonlySet<string>, line: string): number {
  const pairs = pairsOf(line);
  let shared = 0;
  for (const pair of pairs) if (wanted.has(pair)) shared += 1;
  return pairs.size + wanted.size === 0 ? 0 : (2 * shared) / (pairs.size + wanted.size);
}
