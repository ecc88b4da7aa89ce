// Owns the intent `list`: what is in a folder.
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import { joinPath, quoteResult, spokenPath } from './answers.ts';
import { forms } from './english.ts';

export const listRule: ReflexRule = {
  purpose: 'act',
  intent: 'list',
  effect: 'read',
  examples: ['list the files in src', 'what is in the docs folder', 'show the files here', 'ls'],

  match(input) {
    const fit = input.fit(forms.list);
    if (fit === undefined) return undefined;
    const path = joinPath(fit.slots.parent, fit.slots.path ?? '.');
    return { ...fit, slots: path === '.' ? {} : { path } };
  },

  restate: ({ slots }) =>
    folderOf(slots) === '.' ? 'list the files here' : `list the files in the folder ${spokenPath(folderOf(slots))}`,

  act({ slots }, _input, results) {
    const path = folderOf(slots);
    const [result] = results;
    if (result !== undefined) return quoteResult(path === '.' ? 'files here' : `files in ${path}`, result);
    return { type: 'call', calls: [{ name: 'search_files', arguments: { pattern: '*', target: 'files', path } }] };
  },
};

function folderOf(slots: Readonly<Record<string, string>>): string {
  return slots.path ?? '.';
}
