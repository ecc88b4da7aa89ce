// Owns the reading of what read_file shows: numbered lines, and whether more of the file is left.
// Knows no disk. Invariant: a line's number is the one that the tool gave; lines without a number are not of the file.

export interface FileLine {
  readonly number: number;
  readonly text: string;
}

const NUMBERED = /^\s*(\d+)(?:\s*[|│→:]|\t) ?(.*)$/;

export function numberedLines(text: string): readonly FileLine[] {
  const lines: FileLine[] = [];
  for (const line of text.split('\n')) {
    const found = NUMBERED.exec(line);
    if (found?.[1] !== undefined && follows(lines, Number(found[1])))
      lines.push({ number: Number(found[1]), text: found[2] ?? '' });
  }
  return lines;
}

function follows(lines: readonly FileLine[], number: number): boolean {
  const last = lines.at(-1);
  return last === undefined || number === last.number + 1;
}

/** The next line to ask for, when the text says outside its numbered lines that more is left. */
export function nextOffset(text: string, lines: readonly FileLine[]): number | undefined {
  const last = lines.at(-1);
  const outside = text
    .split('\n')
    .filter((line) => !NUMBERED.test(line))
    .join('\n');
  return last !== undefined && /\b(more|left|offset|continue|truncated)\b/i.test(outside) ? last.number + 1 : undefined;
}
