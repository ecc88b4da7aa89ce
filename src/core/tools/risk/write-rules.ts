// Owns where a command writes and what secrets it reads: redirects, copies, downloads, and every argument that names a secret.
// Knows programs only by which of their arguments are written. Invariant: disk, vital file and own record are never written.
import { basename, join } from 'node:path';
import { HARMLESS_DEVICE, RAW_DEVICE, VITAL_FILE } from '../walls/places.rules.ts';
import { ask, type Call, copyOperands, deletes, type Finding, hasFlag, never, operandsOf } from './call.ts';
import type { ShellCommand, ShellRedirect, ShellWord } from './lex-word.ts';
import {
  absolutePath,
  hiddenSecret,
  isInWorkspace,
  isWithin,
  ownFileAt,
  type Place,
  secretAt,
  steersLater,
  targetOf,
} from './place.ts';

/** Which operands a program writes: all, the last, or all but the first; COPIERS are read by themselves. */
const WRITERS: readonly (readonly [program: RegExp, which: 'all' | 'last' | 'rest'])[] = [
  [/^(?:tee|touch|mkdir|mkfifo|rm|rmdir|unlink|truncate|shred)$/, 'all'],
  [/^(?:rsync|scp)$/, 'last'],
  [/^(?:chmod|chown|chgrp)$/, 'rest'],
];

/** Programs that put files into a folder under their own names. */
export const COPIERS = /^(?:cp|mv|install|ln)$/;

export function writeFindings(call: Call): readonly Finding[] {
  return [
    ...writtenWords(call).flatMap((word) => judgeWrite(word, call.place)),
    ...replacedWords(call).flatMap((word) => judgeEmptied(word, call.place, 'may replace what is already there')),
  ];
}

/** Files that stand where `tee` and COPIERS put theirs: in the place that is named, or under their own names in it. */
function replacedWords(call: Call): readonly ShellWord[] {
  if (call.program === 'tee') return hasFlag(call, '-a', '--append') ? [] : operandsOf(call);
  const isKept = call.program === 'ln' ? !hasFlag(call, '-f', '--force') : hasFlag(call, '-n', '--no-clobber');
  const { operands, folder } = copyOperands(call);
  const into = folder ?? operands.at(-1);
  if (!COPIERS.test(call.program) || isKept || !into) return [];
  const inside = (folder ? operands : operands.slice(0, -1)).map((word) => ({
    ...word,
    text: join(into.text, basename(word.text)),
    certain: word.certain && into.certain,
  }));
  return [into, ...inside];
}

export function redirectFindings({ command, place }: Pick<Call, 'command' | 'place'>): readonly Finding[] {
  return redirectedTo(command).flatMap(({ operator, target }) => [
    ...judgeWrite(target, place),
    ...(/^(?:>\|?|&>|>&)$/.test(operator) ? judgeEmptied(target, place, 'empties a file that is already there') : []),
  ]);
}

export function redirectedTo({ redirects }: ShellCommand): readonly ShellRedirect[] {
  return redirects.filter(({ operator }) => operator !== '<' && operator !== '<&');
}

/** What was in a file that is written anew is gone; the shell empties its own even before a program that then fails. */
function judgeEmptied(word: ShellWord, place: Place, reason: string): readonly Finding[] {
  const { path, certain } = targetOf(word, place);
  const isLost = path !== undefined && certain && !word.glob && place.isFilled(path) && place.isOld?.(path) !== false;
  return isLost ? [deletes(reason, isInWorkspace(path, place))] : [];
}

/** The words that say where a program writes. */
export function writtenWords(call: Call): readonly ShellWord[] {
  if (COPIERS.test(call.program)) return placedWords(call);
  const operands = operandsOf(call);
  const named = valuesOf(call, ['-o', '-O', '--output', '--output-document', '-C', '-d', '--directory']);
  const which = WRITERS.find(([name]) => name.test(call.program))?.[1];
  if (which === 'all') return operands;
  if (which === 'rest') return operands.slice(1);
  if (which === 'last') return operands.slice(1).slice(-1);
  if (call.program === 'sed' && hasFlag(call, '-i', '--in-place')) return operands.slice(1);
  if (call.program === 'perl' && hasFlag(call, '-i')) return operands.slice(1);
  return ['curl', 'wget', 'tar', 'unzip', 'dd', 'sort', 'gcc', 'cc'].includes(call.program)
    ? [...named, ...ddTarget(call)]
    : [];
}

function placedWords(call: Call): readonly ShellWord[] {
  const { operands, folder } = copyOperands(call);
  const into = folder ? [folder] : operands.slice(1).slice(-1);
  return call.program === 'mv' ? [...new Set([...operands, ...into])] : into;
}

function valuesOf(call: Call, flags: readonly string[]): readonly ShellWord[] {
  return call.args.flatMap((word, i) => {
    const flag = flags.find((name) => word.text === name || word.text.startsWith(`${name}=`));
    if (flag === undefined) return [];
    const next = call.args[i + 1];
    return word.text === flag ? (next ? [next] : []) : [{ ...word, text: word.text.slice(flag.length + 1) }];
  });
}

function ddTarget(call: Call): readonly ShellWord[] {
  return call.program === 'dd'
    ? call.args.filter(({ text }) => text.startsWith('of=')).map((word) => ({ ...word, text: word.text.slice(3) }))
    : [];
}

/** What it means to write (or delete) at this word. */
function judgeWrite(word: ShellWord, place: Place): readonly Finding[] {
  if (word.text === '-' || /^[\w.-]+@?[\w.-]*:[^/]/.test(word.text)) return [];
  const { path, certain } = targetOf(word, place);
  if (path !== undefined && HARMLESS_DEVICE.test(path) && !isWithin(path, place.workspace)) return [];
  if (path !== undefined && certain) return judgePath(path, place);
  const startsOpen = /^[$~`<]|^\//.test(word.text);
  return startsOpen ? [ask('writes where only the running shell knows')] : [];
}

function judgePath(path: string, place: Place): readonly Finding[] {
  if (RAW_DEVICE.test(path)) return [never('writes onto a disk')];
  if (VITAL_FILE.test(path)) return [never('overwrites a file that the system needs')];
  const own = ownFileAt(path, place);
  if (own !== undefined) return [never(`writes into the agent's own records (${own})`)];
  const secret = secretAt(path, place);
  if (secret) return [ask(`writes ${secret.what}`)];
  const steers = steersLater(path, place);
  if (steers !== undefined) return [ask(`changes ${steers}`)];
  return isInWorkspace(path, place) ? [] : [ask('writes outside the working folder')];
}

/** Programs whose arguments are text, not files. */
export const TALKERS = /^(?:echo|printf|export|declare|local|alias|test|\[{1,2}|expr|basename|dirname|which|type|man)$/;
/** Programs that tell or follow names of files, never what is in them. */
const LISTERS = /^(?:ls|du|stat|cd|pushd)$/;
/** Programs that take a folder with everything in it. */
const CARRIERS = /^(?:tar|zip|7z|cp|mv|rsync|scp|grep|egrep|rg|ag|ack|find)$/;
/** Programs that change what is in a database. */
const KEEPERS = /^(?:sqlite3|duckdb)$/;

export function secretFindings(call: Call): readonly Finding[] {
  const words = TALKERS.test(call.program) ? [] : call.args;
  const found = words.flatMap((word) => namedFiles(word).flatMap((text) => judgeRead(text, word, call)));
  return [...found, ...inputFindings(call)];
}

/** What a command reads from `<`, also when it has no word of its own: `$(<file)`, `done <file`. */
export function inputFindings(call: Pick<Call, 'command' | 'place' | 'program'>): readonly Finding[] {
  const inputs = call.command.redirects.filter(({ operator }) => operator === '<').map(({ target }) => target);
  return inputs.flatMap((word) => namedFiles(word).flatMap((text) => judgeRead(text, word, call)));
}

/** A word may carry a file behind `=` or `@`: `--key=~/.ssh/id_rsa`, `-F file=@.env`, `host:path`. */
function namedFiles(word: ShellWord): readonly string[] {
  if (word.text.length > 4_000 || /\s/.test(word.text)) return [];
  return [word.text, ...word.text.split(/[=@:]/).slice(1)].filter((text) => text !== '');
}

function judgeRead(text: string, word: ShellWord, call: Pick<Call, 'place' | 'program'>): readonly Finding[] {
  const { place, program } = call;
  const written = text.startsWith('~/') ? `${place.home}${text.slice(1)}` : text;
  const path = absolutePath(written, place);
  const hidden = mayBecomeAnother(word, path) ? hiddenSecret(path ?? `$…/${written}`, place) : undefined;
  const plain = path === undefined ? undefined : secretAt(path, place);
  if (plain?.level === 'never' || hidden?.level === 'never') return [never("touches the agent's own keys")];
  const secret = plain ?? (LISTERS.test(program) ? undefined : (hidden ?? ownHome(path, call)));
  if (path !== undefined && KEEPERS.test(program) && ownFileAt(path, place) !== undefined)
    return [never("opens the agent's own records")];
  return secret ? [ask(`touches ${secret.what}`)] : [];
}

/** Patterns, variables, brace ranges, and paths below a folder that nobody knows. */
function mayBecomeAnother(word: ShellWord, path: string | undefined): boolean {
  return word.glob || !word.certain || path === undefined || word.text.includes('..');
}

/** The agent's home as a whole has its keys in it. */
function ownHome(path: string | undefined, { program, place }: Pick<Call, 'place' | 'program'>) {
  const { dataHome } = place;
  const isWhole = path !== undefined && dataHome !== undefined && isWithin(dataHome, path) && CARRIERS.test(program);
  return isWhole ? ({ level: 'ask', what: "a folder with the agent's own keys" } as const) : undefined;
}
