// Owns the intent `find files`: files by name or by kind.
import type { ReflexMatch, ReflexRule } from '#core/agent/reflex-rule.ts';
import { joinPath, quoteResult, spokenPath } from './answers.ts';
import { forms } from './english.ts';

/** `.xlsx` alone is a kind of file; `.env` is a name. */
const ENDING = /^\.(?!env$|git|npm|bash|zsh|vim|ssh)[a-z0-9]{2,5}$/i;

/** Without such a word a whole path is a file to be read, not one to be looked for. */
const SOUGHT = /\b(?:find|where|locate|search|look|any|which|exists?|is there|lost|missing)\b/i;

export const findFilesRule: ReflexRule = {
  purpose: 'act',
  intent: 'find-files',
  effect: 'read',
  examples: ['find *.ts', 'find all markdown files in docs', 'where is package.json', 'find files named config'],

  match(input) {
    const fit = input.fit(forms.findFiles);
    if (fit === undefined) return undefined;
    const { path } = fit.slots;
    const glob = globOf(fit.slots);
    if (glob === '@same' || path === '@same') return undefined;
    const cut = glob.includes('*') ? glob.lastIndexOf('/') : -1;
    const folder = cut > 0 && !glob.slice(0, cut).includes('*') ? joinPath(path, glob.slice(0, cut)) : path;
    const name = folder === path ? glob : glob.slice(cut + 1);
    const placed = glob.includes('/') && !glob.includes('*') && input.text.includes(glob) && !SOUGHT.test(input.text);
    return {
      score: placed ? fit.score * 0.9 : fit.score,
      slots: { pattern: name, ...(folder === undefined || folder === '' || folder === '.' ? {} : { path: folder }) },
    };
  },

  restate({ slots }) {
    return `find files named "${slots.pattern}"${slots.path === undefined ? '' : ` in ${spokenPath(slots.path)}`}`;
  },

  act(match, _input, results) {
    const [result] = results;
    if (result !== undefined) return quoteResult(`files named ${match.slots.pattern}`, result);
    return { type: 'call', calls: [{ name: 'search_files', arguments: fileSearch(match) }] };
  },
};

function globOf({ pattern, part, prefix }: ReflexMatch['slots']): string {
  if (pattern !== undefined) return ENDING.test(pattern) ? `*${pattern}` : pattern;
  return part === undefined ? `${prefix}*` : `*${part}*`;
}

export function fileSearch({ slots }: ReflexMatch): Readonly<Record<string, string>> {
  return {
    pattern: slots.pattern ?? '*',
    target: 'files',
    ...(slots.path === undefined || slots.path === '' || slots.path === '.' ? {} : { path: slots.path }),
  };
}
