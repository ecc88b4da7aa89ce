// Owns the intent `extract`: headings, dates, figures, links or open items of a long file, as a cited list (reflex 6); and how the pages
// that read_file shows are put together. Invariant: an extract is whole lines under `path:line`, never a word of its own.
import { plural } from '#base/text.ts';
import type { ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import { pathOf, quoteResult, spokenPath, withKnownFile } from './answers.ts';

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

/** The lines of one window; `offset` is the number of its first. */
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

const MONTH =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
const PATTERNS: Readonly<Record<string, RegExp>> = {
  headings: /^\s{0,3}#{1,6}\s+\S|^\d+(\.\d+)*\.?\s+[A-Z][^.!?]{2,70}$/,
  dates: new RegExp(
    `\\b(?:\\d{4}-\\d{1,2}-\\d{1,2}|\\d{1,2}[./]\\d{1,2}[./]\\d{2,4}|${MONTH}\\.?\\s+\\d{1,2}|\\d{1,2}\\.?\\s+${MONTH}|${MONTH}\\s+\\d{4}|(?:19|20)\\d{2})\\b`,
    'i',
  ),
  figures: /\d/,
  links: /https?:\/\/\S+|\bwww\.\S+|[\w.+-]+@[\w-]+\.[\w.]+/i,
  todos: /\b(?:TODO|FIXME|XXX|HACK)\b|^\s*[-*]\s+\[ \]/,
};
const NOUNS: Readonly<Record<string, string>> = {
  headings: 'heading',
  dates: 'line with a date',
  figures: 'line with a figure',
  links: 'line with an address',
  todos: 'open item',
};
const MAX_SHOWN = 120;

/** Lines of one kind; a `#` inside a code fence is no heading, a line over `===` or `---` is one. */
export function extractLines(lines: readonly FileLine[], what: string): readonly FileLine[] {
  let fenced = false;
  return lines.filter(({ text }, index) => {
    if (what !== 'headings') return PATTERNS[what]?.test(text) === true;
    if (/^\s*(?:```|~~~)/.test(text)) fenced = !fenced;
    const underlined = /^(?:={3,}|-{3,})\s*$/.test(lines[index + 1]?.text ?? '') && /^\S/.test(text);
    return !fenced && (underlined || PATTERNS.headings?.test(text) === true);
  });
}

const SAID: Readonly<Record<string, string>> = {
  headings: '(headings|heading|headers|titles|chapters|outline|table of contents|sections)',
  dates: '(dates|date)',
  figures: '(figures|figure|numbers|amounts|prices)',
  links: '(links|link|urls|addresses)',
  todos: '(todos|open items|open tasks|todo items|checkboxes)',
};
const FORMS: readonly string[] = Object.entries(SAID).flatMap(([what, said]) => [
  `(list|show|extract|give|get|find|print|pull out) [me] [all] [of] [the] ${said} (of|in|from) {path:file} =what:${what}`,
  `(what|which) ${said} (are|does) [there] [in] {path:file} [have|contain] =what:${what}`,
  `(count [the]|how many) ${said} [are|are there] (of|in|from) {path:file} =what:${what} =count:yes`,
]);

export const extractRule: ReflexRule = {
  purpose: 'extract',
  intent: 'extract',
  effect: 'read',
  examples: ['list the headings of README.md', 'what dates are in notes.txt', 'extract the figures from report.md'],
  match(input) {
    const fit = input.fit(FORMS);
    return fit && withKnownFile(fit, input.history);
  },
  restate: ({ slots }) =>
    `${slots.count === undefined ? 'extract the' : 'count the'} ${slots.what} ${slots.count === undefined ? 'from' : 'in'} ${spokenPath(slots.path ?? '')}`,

  act(match, input, results) {
    const { what = '', count } = match.slots;
    const path = pathOf(match, input.history) ?? '';
    const wrong = results.find((result) => result.isError);
    if (wrong !== undefined) return quoteResult(path, wrong);
    const { lines, next } = joinPages(results.map((result) => result.text));
    if (next !== undefined)
      return {
        type: 'call',
        calls: [{ name: 'read_file', arguments: { path, ...(next === 1 ? {} : { offset: next }) } }],
      };
    return sayExtract(path, {
      what,
      total: lines.length,
      found: extractLines(lines, what),
      isCount: count !== undefined,
    });
  },
};

interface Extract {
  readonly what: string;
  readonly total: number;
  readonly found: readonly FileLine[];
  readonly isCount: boolean;
}

function sayExtract(path: string, { what, total, found, isCount }: Extract): ReflexStep {
  const counted = `${plural(found.length, NOUNS[what] ?? 'line')} in ${path} (${total} lines read).`;
  if (isCount || found.length === 0) return { type: 'say', text: counted };
  const text = found
    .slice(0, MAX_SHOWN)
    .map((line) => `${path}:${line.number}  ${line.text.trim()}`)
    .join('\n');
  const more = found.length > MAX_SHOWN ? ` The first ${MAX_SHOWN} are shown.` : '';
  return { type: 'say', text: `${counted}${more}`, quotes: [{ source: path, text }] };
}
