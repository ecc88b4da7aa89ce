// Owns the reading of what read_file shows: the lines of a window, and where the next one begins.
// Knows no disk. Invariant: a line's number is its place in the file; the tool's own note at the end is no line.

export interface FileLine {
  readonly number: number;
  readonly text: string;
}

export interface FilePage {
  readonly lines: readonly FileLine[];
  /** The next line to ask for; undefined when the file ends here. */
  readonly next: number | undefined;
}

const NOTE =
  /^\[(?:lines \d+-\d+ of (?:\d+|many)[^\]]*|some bytes are not UTF-8[^\]]*|the file is empty|nothing at line \d+[^\]]*)\]$/;

/** @param offset line number of the first line of the window */
export function filePage(text: string, offset: number): FilePage {
  const rows = text.split('\n');
  const note = NOTE.test(rows.at(-1) ?? '') ? (rows.pop() ?? '') : '';
  const next = /go on with offset (\d+)/.exec(note)?.[1];
  const lines = rows.map((row, index) => ({ number: offset + index, text: row }));
  return { lines, next: next === undefined ? undefined : Number(next) };
}

/** Windows of one file, each going on where the one before ended. */
export function joinPages(texts: readonly string[]): FilePage {
  const lines: FileLine[] = [];
  let next: number | undefined = 1;
  for (const text of texts) {
    const page = filePage(text, next ?? 1);
    lines.push(...page.lines);
    next = page.next;
  }
  return { lines, next };
}
