// Owns the intent `extract`: headings, dates, figures, facts, links, open items or matching lines of a long file,
// as a cited list (reflex 6). Reads the file page by page. Invariant: every line shown stands under `path:line`; nothing is summed up.

import type { ReflexMatch, ReflexQuote, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { countLine, quoteResult, spokenPath } from './answers.ts';
import { forms } from './english.ts';
import { extractLines } from './extract-lines.ts';
import { type FileLine, joinPages } from './file-lines.ts';
import { NO_PATTERN, textSearch } from './find-text-rule.ts';
import { resolvePath } from './history.ts';

const NOUNS: Readonly<Record<string, string>> = {
  headings: 'heading',
  dates: 'line with a date',
  figures: 'line with a figure',
  facts: 'line that states something',
  links: 'line with an address',
  todos: 'open item',
  lines: 'matching line',
};
const MAX_SHOWN = 120;

export const extractRule: ReflexRule = {
  purpose: 'extract',
  intent: 'extract',
  effect: 'read',
  examples: [
    'list the headings of README.md',
    'what dates are in notes.txt',
    'extract the figures from report.md',
    'show the lines of notes.txt that mention budget',
  ],

  match(input) {
    const fit = input.fit(forms.extract);
    const resolved = fit === undefined ? undefined : resolvePath(fit, input.history);
    if (resolved === undefined) return undefined;
    const { pattern = '' } = resolved.slots;
    const loose = resolved.slots['pattern.quoted'] === undefined && NO_PATTERN.test(pattern);
    return loose ? { ...resolved, score: resolved.score * 0.4 } : resolved;
  },

  restate({ slots }) {
    const path = spokenPath(slots.path ?? '');
    if (slots.count !== undefined)
      return slots.what === 'lines'
        ? `count the lines of ${path} that mention "${slots.pattern}"`
        : `count the ${slots.what} in ${path}`;
    return slots.what === 'lines'
      ? `show the lines of ${path} that mention "${slots.pattern}"`
      : `extract the ${slots.what} from ${path}`;
  },

  act(match, _input, results) {
    if (match.slots.what === 'lines' && match.slots.count === undefined) return matchingLines(match, results);
    const failed = results.find((result) => result.isError);
    if (failed !== undefined) return quoteResult(match.slots.path ?? '', failed);
    const { lines, next } = joinPages(results.map((result) => result.text));
    if (next !== undefined) return { type: 'call', calls: [{ name: 'read_file', arguments: readPage(match, next) }] };
    return showExtract(match, lines);
  },
};

/** Matching lines are what a search of the file finds, with their numbers. */
function matchingLines(match: ReflexMatch, [result]: readonly ToolResultPart[]): ReflexStep {
  const { pattern = '', path = '' } = match.slots;
  if (result !== undefined) return quoteResult(`"${pattern}" in ${path}`, result);
  return { type: 'call', calls: [{ name: 'search_files', arguments: textSearch(match) }] };
}

function readPage({ slots }: ReflexMatch, offset: number): Readonly<Record<string, string | number>> {
  return { path: slots.path ?? '', ...(offset === 1 ? {} : { offset }) };
}

function showExtract({ slots }: ReflexMatch, lines: readonly FileLine[]): ReflexStep {
  const { path = '', what = 'lines', pattern } = slots;
  const found = extractLines(lines, what, pattern);
  const count = countLine(found.length, NOUNS[what] ?? 'line', `in ${path} (${lines.length} lines read)`);
  const quotes: readonly ReflexQuote[] = [
    {
      source: path,
      text: found
        .slice(0, MAX_SHOWN)
        .map((line) => `${path}:${line.number}  ${line.text.trim()}`)
        .join('\n'),
    },
  ];
  const left = found.length - MAX_SHOWN;
  const text = left > 0 && slots.count === undefined ? `${count} The first ${MAX_SHOWN} are shown.` : count;
  return found.length === 0 || slots.count !== undefined ? { type: 'say', text } : { type: 'say', text, quotes };
}
