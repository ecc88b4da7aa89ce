// Owns the intent `list`: what is in a folder, as `ls` shows it; without a terminal, or for a name
// that a shell would have to have quoted, the names of its files.
import type { ReflexRule } from '#core/agent/reflex-rule.ts';
import { joinPath, quoteCommand, quoteResult, shellWord, spokenPath } from './answers.ts';
import { forms } from './english.ts';

export const listRule: ReflexRule = {
  purpose: 'act',
  intent: 'list',
  effect: 'read',
  examples: ['list the files in src', 'what is in the docs folder', 'show the files here', 'ls'],

  match(input) {
    const fit = input.fit(forms.list);
    if (fit === undefined) return undefined;
    const named =
      (fit.slots.parent === undefined || 'path.sure' in fit.slots) && !SUPERLATIVE.test(fit.slots.path ?? '');
    const path = joinPath(fit.slots.parent, fit.slots.path ?? '.');
    const anywhere = fit.slots.path === undefined ? STUFF.test(input.words) : IDIOM.test(input.words);
    return { ...fit, score: named && !anywhere ? fit.score : fit.score * 0.5, slots: path === '.' ? {} : { path } };
  },

  restate: ({ slots }) =>
    folderOf(slots) === '.' ? 'list the files here' : `list the files in the folder ${spokenPath(folderOf(slots))}`,

  act({ slots }, input, results) {
    const path = folderOf(slots);
    const command = path === '.' ? 'ls -la' : `ls -la ${shellWord(path)}`;
    const [result] = results;
    if (result?.name === 'terminal') return quoteCommand(command, result);
    if (result !== undefined) return quoteResult(path === '.' ? 'files here' : `files in ${path}`, result);
    const call =
      input.tools.has('terminal') && !command.includes("'")
        ? { name: 'terminal', arguments: { command } }
        : { name: 'search_files', arguments: { pattern: '*', target: 'files', path } };
    return { type: 'call', calls: [call] };
  },
};

/** `which folder is the biggest`: no folder's name. */
const SUPERLATIVE = /^(?:\p{Ll}{2,}(?<!t)est|most|least|best|worst)$/u;

/** `my stuff`, without a place: no folder's contents. */
const STUFF =
  /^\W*(?:what|which) (?:stuff|things|items)\b(?!.*\b(?:here|in)\b)|\b(?:my|our|the|those|these) (?:stuff|things|items|entries)\W*$/i;

/** `in store`, `in common`: a way of speaking. */
const IDIOM = /\bin (?:store|common|public)\b(?!\s+(?:folder|directory|dir)\b)/i;

function folderOf(slots: Readonly<Record<string, string>>): string {
  return slots.path ?? '.';
}
