// Owns the intent `find text`: a word or phrase in the files of a place.
// Invariant: a phrase is searched as it was said; it becomes an escaped pattern only where it would mean something else.
import type { ReflexMatch, ReflexRule } from '#core/agent/reflex-rule.ts';
import { quoteResult, spokenPath } from './answers.ts';
import { forms } from './english.ts';

export const findTextRule: ReflexRule = {
  purpose: 'act',
  intent: 'find text',
  examples: [
    'find TODO in src',
    'search for "retry" in the code',
    'which files mention timeout',
    'where is loadConfig used',
  ],

  match(input) {
    const fit = input.fit(forms.findText);
    if (fit === undefined) return undefined;
    return { ...fit, score: fit.score * shapeOf(fit) };
  },

  restate({ slots }) {
    const kind = slots.glob === undefined ? '' : `${slots.glob} files in `;
    return `find the text "${slots.pattern}" in ${kind}${slots.path === undefined || slots.path === '' ? 'all files' : spokenPath(slots.path)}`;
  },

  act(match, _input, results) {
    const { pattern = '', path = '' } = match.slots;
    const [result] = results;
    if (result !== undefined) return quoteResult(`"${pattern}" in ${path === '' ? 'the files here' : path}`, result);
    return { type: 'call', calls: [{ name: 'search_files', arguments: textSearch(match) }] };
  },
};

export function textSearch({ slots }: ReflexMatch): Readonly<Record<string, string>> {
  return {
    pattern: asPattern(slots.pattern ?? ''),
    target: 'content',
    ...(slots.path === undefined || slots.path === '' || slots.path === '.' ? {} : { path: slots.path }),
    ...(slots.glob === undefined ? {} : { file_glob: slots.glob }),
  };
}

/** A phrase that finds itself as a pattern stays as it was said. */
export function asPattern(text: string): string {
  try {
    if (new RegExp(`^(?:${text})$`).test(text)) return text;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Long unquoted phrases are more likely a question than a search. */
function shapeOf({ slots }: ReflexMatch): number {
  if (slots['pattern.quoted'] !== undefined) return 1;
  const words = (slots.pattern ?? '').split(/\s+/).length;
  const placed = slots.path !== undefined || slots.glob !== undefined;
  if (/\bfiles?$/i.test(slots.pattern ?? '')) return 0.6;
  if (words <= 2) return 1;
  return placed && words <= 5 ? 0.95 : 0.55;
}
