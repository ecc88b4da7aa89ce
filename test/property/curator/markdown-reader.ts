/**
 * A model of whoever reads a skill later: Markdown as CommonMark reads it line by line, with the front matter before it. Fences of both
 * kinds and any length, raw HTML that stays open over blank lines, and, when asked, the line ends that other languages know.
 */

/** `code`: inside a fence, its two lines too. `raw`: inside HTML that the text itself opened. */
export type LineKind = 'front' | 'code' | 'raw' | 'heading' | 'text';

export interface ReadLine {
  readonly kind: LineKind;
  readonly line: string;
}

export const LINE_ENDS = {
  markdown: /\r\n?|\n/,
  /** As some languages split lines. */
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these end lines too
  unicode: /\r\n?|[\n\v\f\u001c-\u001e\u0085\u2028\u2029]/,
} as const;

/** What begins HTML that a blank line does not end, and what ends it. */
const RAW: readonly (readonly [open: RegExp, close: RegExp])[] = [
  [/^ {0,3}<(?:pre|script|style|textarea)(?:[\s>]|$)/i, /<\/(?:pre|script|style|textarea)>/i],
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<\?/, /\?>/],
  [/^ {0,3}<!\[CDATA\[/, /\]\]>/],
  [/^ {0,3}<![a-z]/i, />/],
];

export function readLines(text: string, ends: RegExp = LINE_ENDS.markdown): readonly ReadLine[] {
  const lines = text.split(ends);
  const front = frontMatterLength(lines);
  const header = lines.slice(0, front).map((line) => ({ kind: 'front', line }) as const);
  return [...header, ...readBody(lines.slice(front))];
}

function readBody(lines: readonly string[]): readonly ReadLine[] {
  let open: Open | undefined;
  return lines.map((line) => {
    const begun = open === undefined ? openedBy(line) : undefined;
    const kind = open?.kind ?? begun?.kind ?? plainKind(line);
    if (begun?.kind === 'code') open = begun;
    else open = (open ?? begun)?.until.test(line) ? undefined : (open ?? begun);
    return { kind, line };
  });
}

/** What a line opened and what ends it. */
interface Open {
  readonly kind: 'code' | 'raw';
  readonly until: RegExp;
}

function openedBy(line: string): Open | undefined {
  const [, ticks, waves] = /^ {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$/s.exec(line) ?? [];
  const fence = ticks ?? waves;
  if (fence !== undefined) return { kind: 'code', until: new RegExp(`^ {0,3}${fence[0]}{${fence.length},}[ \\t]*$`) };
  const raw = RAW.find(([opens]) => opens.test(line));
  return raw === undefined ? undefined : { kind: 'raw', until: raw[1] };
}

function plainKind(line: string): LineKind {
  return /^ {0,3}#{1,6}(?:[ \t]|$)/.test(line) ? 'heading' : 'text';
}

function frontMatterLength(lines: readonly string[]): number {
  if (!/^\uFEFF?---[ \t]*$/.test(lines[0] ?? '')) return 0;
  return lines.findIndex((line, at) => at > 0 && /^---[ \t]*$/.test(line)) + 1;
}
