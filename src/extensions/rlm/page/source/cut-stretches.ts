// Owns which lines of a text are shown around what is quoted, and where in them the quotations begin and end. Pure; knows no markup.
// Invariant: every line of every mark is shown or counted as left out; what is shown stands under its own line number.
import type { Range } from './kept-chunk.ts';

export interface Mark extends Range {
  /** Of the handle: `e1`. */
  readonly anchor: string;
}

export interface LinePiece {
  readonly text: string;
  /** Characters of the piece that are left out in its middle, and where. */
  readonly cut: number;
  readonly cutAt: number;
  readonly anchors: readonly string[];
  /** Anchors of the marks that begin here and nowhere before. */
  readonly begins: readonly string[];
}

export interface ShownLine {
  readonly number: number;
  readonly pieces: readonly LinePiece[];
}

/** Lines that follow each other; before it `skipped` lines are left out. */
export interface Stretch {
  readonly skipped: number;
  readonly lines: readonly ShownLine[];
}

export interface Cutting {
  readonly text: string;
  readonly firstLine: number;
  readonly marks: readonly Mark[];
  /** Lines shown before and after a mark. */
  readonly around: number;
}

/** Lines of one mark, at most. */
const MARK_LINES = 40;

export function cutStretches({ text, firstLine, marks, around }: Cutting): readonly Stretch[] {
  const starts = lineStarts(text);
  const wanted = wantedLines(starts, marks, around);
  const begun = new Set<string>();
  const stretches: Stretch[] = [];
  let last = -1;
  for (const at of wanted) {
    const line = { number: firstLine + at, pieces: piecesOf(lineAt(text, starts, at), marks, begun) };
    const open = at === last + 1 ? stretches.pop() : undefined;
    if (open) stretches.push({ ...open, lines: [...open.lines, line] });
    else stretches.push({ skipped: at - last - 1, lines: [line] });
    last = at;
  }
  return stretches;
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0 && at + 1 < text.length; at = text.indexOf('\n', at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}

function wantedLines(starts: readonly number[], marks: readonly Mark[], around: number): readonly number[] {
  const wanted = new Set<number>();
  for (const { from, to } of marks) {
    const first = lineOf(starts, from);
    const last = Math.min(lineOf(starts, Math.max(from, to - 1)), first + MARK_LINES - 1);
    const end = Math.min(starts.length - 1, last + around);
    for (let at = Math.max(0, first - around); at <= end; at += 1) wanted.add(at);
  }
  return [...wanted].sort((one, other) => one - other);
}

function lineOf(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

interface TextLine extends Range {
  readonly text: string;
}

/** Without its line end. */
function lineAt(text: string, starts: readonly number[], at: number): TextLine {
  const from = starts[at] ?? 0;
  const raw = text.slice(from, starts[at + 1] ?? text.length).replace(/\r?\n$/, '');
  return { text: raw, from, to: from + raw.length };
}

function piecesOf(line: TextLine, marks: readonly Mark[], begun: Set<string>): readonly LinePiece[] {
  const here = marks.filter(({ from, to }) => from < Math.max(line.to, line.from + 1) && to > line.from);
  const edges = new Set([line.from, line.to]);
  for (const { from, to } of here) {
    if (from > line.from) edges.add(from);
    if (to < line.to) edges.add(to);
  }
  const sorted = [...edges].sort((one, other) => one - other);
  const pieces: LinePiece[] = [];
  for (const [at, from] of sorted.slice(0, -1).entries()) {
    const to = sorted[at + 1] ?? line.to;
    const anchors = here.filter((mark) => mark.from < to && mark.to > from).map(({ anchor }) => anchor);
    const begins = anchors.filter((anchor) => !begun.has(anchor));
    for (const anchor of begins) begun.add(anchor);
    pieces.push({
      ...shortened(line.text.slice(from - line.from, to - line.from), anchors.length > 0),
      anchors,
      begins,
    });
  }
  return pieces;
}

const LONGEST_QUOTED = 1_200;
const LONGEST_OTHER = 400;

/** Of a long piece its two ends: quotations stand beside them. */
function shortened(text: string, quoted: boolean): Pick<LinePiece, 'text' | 'cut' | 'cutAt'> {
  const most = quoted ? LONGEST_QUOTED : LONGEST_OTHER;
  if (text.length <= most) return { text, cut: 0, cutAt: text.length };
  const half = most / 2;
  const head = text.slice(0, half).toWellFormed();
  const tail = text.slice(-half).toWellFormed();
  return { text: `${head}${tail}`, cut: text.length - most, cutAt: half };
}
