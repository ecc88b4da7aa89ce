// Owns the intent `count`: lines of a file, matches of a phrase, files of a kind.
// Invariant: a count is taken from a tool's own figure or its quoted lines; it is never estimated.

import { plural } from '#base/text.ts';
import type { ReflexMatch, ReflexRule, ReflexStep } from '#core/agent/reflex-rule.ts';
import type { ToolResultPart } from '#core/model/message.ts';
import { quoteCommand, quoteResult, shellWord, spokenPath } from './answers.ts';
import { forms } from './english.ts';
import { fileSearch } from './find-files-rule.ts';
import { shapeOf, textSearch } from './find-text-rule.ts';
import { resolvePath } from './history.ts';

export const countRule: ReflexRule = {
  purpose: 'extract',
  intent: 'count',
  effect: 'read',
  examples: [
    'how many lines are in README.md',
    'how often does TODO occur in src',
    'how many markdown files are in docs',
  ],

  match(input) {
    const found = input.fit(forms.count);
    const fit = found === undefined ? undefined : resolvePath(found, input.history);
    if (fit === undefined) return undefined;
    const shape = fit.slots.what === 'matches' ? shapeOf(fit, input.text) : 1;
    const vague = fit.slots.what === 'files' && (fit.slots.path ?? '') !== '' && fit.slots['path.sure'] === undefined;
    const pattern = fit.slots.glob === undefined ? {} : { pattern: fit.slots.glob };
    return { ...fit, score: fit.score * shape * (vague ? 0.6 : 1), slots: { ...fit.slots, ...pattern } };
  },

  restate({ slots }) {
    const where = slots.path === undefined || slots.path === '' ? '' : ` in ${spokenPath(slots.path)}`;
    if (slots.what === 'lines') return `how many lines are in ${spokenPath(slots.path ?? '')}`;
    if (slots.what === 'matches') return `count the occurrences of "${slots.pattern}"${where}`;
    return `count the ${slots.pattern === undefined ? '' : `${slots.pattern} `}files${where}`;
  },

  act(match, _input, results) {
    const [result] = results;
    if (match.slots.what === 'lines') return countLines(match, result);
    if (result !== undefined) return sayCount(match, result);
    const plain: ReflexMatch = { ...match, slots: { ...match.slots, pattern: match.slots.pattern ?? '*' } };
    const search = match.slots.what === 'matches' ? { ...textSearch(plain), output_mode: 'count' } : fileSearch(plain);
    return { type: 'call', calls: [{ name: 'search_files', arguments: { ...search, limit: MOST_ROWS } }] };
  },
};

const MOST_ROWS = 1000;

/** Rows are `path: count` for matches and a path each for files; the tool's note stands in brackets. */
function sayCount(match: ReflexMatch, result: ToolResultPart): ReflexStep {
  if (result.isError) return quoteResult(countRule.restate(match), result);
  const rows = result.text.split('\n').filter((row) => row !== '' && !row.startsWith('['));
  const left = /go on with offset/.test(result.text) ? 'At least ' : '';
  if (match.slots.what === 'files') return { type: 'say', text: `${left}${plural(rows.length, 'file')}.` };
  const total = rows.reduce((sum, row) => sum + Number(/: (\d+)$/.exec(row)?.[1] ?? 0), 0);
  const text = `${left}${plural(total, 'matching line')} in ${plural(rows.length, 'file')}.`;
  return rows.length === 0
    ? { type: 'say', text }
    : { type: 'say', text, quotes: [{ source: `"${match.slots.pattern}"`, text: rows.join('\n') }] };
}

function countLines({ slots }: ReflexMatch, result: ToolResultPart | undefined): ReflexStep {
  const command = `wc -l ${shellWord(slots.path ?? '')}`;
  if (result !== undefined) return quoteCommand(command, result);
  return { type: 'call', calls: [{ name: 'terminal', arguments: { command } }] };
}
