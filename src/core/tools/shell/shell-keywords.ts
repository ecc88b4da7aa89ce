// Owns what the shell's own words mean for a reader: reserved words in front of a command, builtins that set variables.
// Knows no program. Invariant: a name that may have been changed is never taken for its old value.
import { type LexShared, type ShellCommand, type ShellWord, setVariable } from './shell-script.ts';

const LEADING = new Set('if then else elif while until do { } ! coproc fi done esac'.split(' '));
const LOOPS = new Set(['for', 'select']);

/** The words of a simple command without the reserved words before it; empty when there is only syntax. */
export function dropKeywords(words: readonly ShellWord[], shared: LexShared): readonly ShellWord[] {
  let at = 0;
  while (at < words.length && isKeyword(words[at], LEADING)) at += 1;
  const first = words[at];
  if (isKeyword(first, LOOPS)) {
    setUnknown(shared, words[at + 1]?.text);
    return [];
  }
  // The pattern of a `case` stands where a command would; it runs nothing.
  if (isKeyword(first, new Set(['case']))) return [];
  if (isKeyword(first, new Set(['function']))) {
    shared.functions.add(words[at + 1]?.text ?? '');
    return dropKeywords(words.slice(at + 2), shared);
  }
  return at === 0 ? words : words.slice(at);
}

function isKeyword(word: ShellWord | undefined, names: ReadonlySet<string>): boolean {
  return word !== undefined && !word.quoted && names.has(word.text);
}

const DECLARES = new Set(['export', 'declare', 'typeset', 'local', 'readonly']);
const SETS_NAMES = new Set(['read', 'mapfile', 'readarray', 'getopts', 'unset', 'let', 'printf']);

/** Follows assignments: alone on a line they count for what comes after; before a program they do not. */
export function learnVariables(command: ShellCommand, shared: LexShared): void {
  const [program, ...args] = command.words;
  if (!program) {
    for (const { name, value } of command.assignments)
      setVariable(shared, name, value.certain ? value.text : undefined);
    return;
  }
  if (DECLARES.has(program.text)) for (const arg of args) declare(arg, shared);
  if (SETS_NAMES.has(program.text)) for (const arg of args) setUnknown(shared, arg.text);
}

function declare(word: ShellWord, shared: LexShared): void {
  const cut = word.text.indexOf('=');
  if (cut > 0) setVariable(shared, word.text.slice(0, cut), word.certain ? word.text.slice(cut + 1) : undefined);
}

function setUnknown(shared: LexShared, name: string | undefined): void {
  if (name !== undefined && /^[A-Za-z_]\w*$/.test(name) && (shared.variables.has(name) || shared.variables.size < 64)) {
    shared.variables.set(name, undefined);
  }
}
