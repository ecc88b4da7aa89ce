// Owns what a command names, for those who hold it to that: the words, folder and scripts that an answer is bound to, and the files that it
// writes, for undo. Knows no approver and no danger. Invariants: an answer is remembered only for a command of which every word is plain, and
// rides on no other's yes; what is only known when the command runs is nobody's path.
import { globSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { sha256 } from '#base/ids.ts';
import { oneLine, sliceText } from '#base/text.ts';
import { type Call, copyOperands } from '../risk/call.ts';
import { type Read, readLine, type Simple } from '../risk/command-risk.ts';
import type { ShellCommand, ShellWord } from '../risk/lex-word.ts';
import { absolutePath, makePlace, type Place, type PlaceOptions } from '../risk/place.ts';
import { INTERPRETERS, SHELLS } from '../risk/program-rules.ts';
import { COPIERS, redirectedTo, writtenWords } from '../risk/write-rules.ts';

export interface Binding {
  /** Under what the answer may be remembered; empty: it may not. */
  readonly key: string;
  /** Changes with every byte that the question was about. */
  readonly mark: string;
}

const SHOWN = 120;

export function bindApproval(command: string, options: PlaceOptions): Binding {
  const place = makePlace(options);
  const read = [...readLine(command, place)];
  const simple = read.flatMap((one) => one.simple);
  const files = simple.flatMap(scriptFiles);
  const bytes = [...new Set(files)].sort().flatMap((path) => (path === undefined ? [] : [[path, contentOf(path)]]));
  const isNamed = !files.includes(undefined) && bytes.every(([, content]) => content !== TOO_MUCH);
  const isPlain = isNamed && read.every(isPlainText) && simple.every(({ call }) => !call || isSeen(call));
  const names = new Set(read.flatMap(variablesIn));
  const mark = sha256(JSON.stringify([command, place.workspace, [...names].sort(), bytes]));
  const shown = `${sliceText(oneLine(command), SHOWN)} · ${oneLine(place.workspace)} · ${mark.slice(0, 16)}`;
  return { key: isPlain ? shown : '', mark };
}

/** That it sets or uses. */
function variablesIn({ text, simple }: Read): readonly string[] {
  const used = [...text.matchAll(/\$\{?([A-Za-z_]\w*)/g)].map(([, name = '']) => name);
  return [...used, ...simple.flatMap(({ command }) => command.assignments.map(({ name }) => name))];
}

function isPlainText({ script: { commands, doubts, functions }, isDeepest }: Read): boolean {
  return !isDeepest && doubts.length === 0 && functions.size === 0 && commands.every(isPlainCommand);
}

function isPlainCommand({ words, assignments, redirects }: ShellCommand): boolean {
  const all = [...words, ...assignments.map(({ value }) => value), ...redirects.map(({ target }) => target)];
  return all.every(({ certain, glob, text }) => certain && !glob && !/\{.*\.\..*\}/s.test(text));
}

/** Does what runs stand in its words: no code from elsewhere, nor whatever a search finds? */
function isSeen({ program, args, command, openEnded }: Call): boolean {
  if (openEnded || /^(?:eval|trap|alias|xargs|parallel|watch|su|at|batch|crontab)$/.test(program)) return false;
  if (/^(?:find|fd|fdfind)$/.test(program))
    return !args.some(({ text }) => /^-(?:exec|execdir|ok|okdir|delete|x|X|-exec|-exec-batch)$/.test(text));
  return command.pipedFrom === undefined || !(SHELLS.test(program) || INTERPRETERS.test(program));
}

const SCRIPT = /\.(?:sh|bash|zsh|fish|py|[cm]?[jt]sx?|rb|pl|php|lua|mk|R)$/;
const IMPLIED: readonly (readonly [program: RegExp, files: readonly string[]])[] = [
  [/^g?make$/, ['GNUmakefile', 'makefile', 'Makefile']],
  [/^(?:npm|pnpm|yarn|bun|npx)$/, ['package.json']],
  [/^just$/, ['justfile', 'Justfile']],
  [/^rake$/, ['Rakefile']],
  [/^cargo$/, ['Cargo.toml', 'build.rs']],
  [/^(?:gradle|gradlew)$/, ['build.gradle', 'build.gradle.kts']],
];

/** Absolute paths of files whose bytes decide what runs, there or not; undefined: one of them cannot be named. */
function scriptFiles({ call, unwrapped }: Simple): readonly (string | undefined)[] {
  if (!call) return [];
  const program = unwrapped.words[0]?.text ?? '';
  const named = call.args.flatMap(({ text }) => [text, ...text.split('=').slice(1)]);
  const runsFiles =
    SHELLS.test(call.program) || INTERPRETERS.test(call.program) || /^(?:source|\.)$/.test(call.program);
  const scripts = named.filter((text) => SCRIPT.test(text) || (runsFiles && text !== '' && !text.startsWith('-')));
  const folders = ['.', ...named.filter((_, i) => /^(?:-C|--prefix|--directory|--cwd)$/.test(named[i - 1] ?? ''))];
  const implied = IMPLIED.filter(([name]) => name.test(call.program)).flatMap(([, files]) =>
    folders.flatMap((folder) => files.map((file) => join(folder, file))),
  );
  const own = program.includes('/') ? [program] : [];
  return [...own, ...scripts, ...implied].map((text) => absolutePath(text, call.place));
}

const TOO_MUCH = 'too much to be bound to';
const MOST_BYTES = 8_000_000;

function contentOf(path: string): string {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined || !facts.isFile()) return 'no file';
  return facts.size > MOST_BYTES ? TOO_MUCH : sha256(readFileSync(path));
}

/** Absolute paths of what `command` names as written, with what it hands to further shells; folders are among them. */
export function pathsWritten(command: string, options: PlaceOptions): readonly string[] {
  const read = [...readLine(command, makePlace(options))];
  return [...new Set(read.flatMap(({ simple }) => simple.flatMap(writtenPaths)))];
}

/** Absolute paths that the redirects of a command, and the program with its arguments, write. */
function writtenPaths({ command, place, call }: Simple): readonly string[] {
  const words = [...redirectedTo(command).map(({ target }) => target), ...(call ? writtenWords(call) : [])];
  const paths = words.flatMap((word) => namedPaths(word, place));
  if (!call || !COPIERS.test(call.program)) return paths;
  const { operands, folder: named } = copyOperands(call);
  const sources = named ? operands : operands.slice(0, -1);
  const into = [named ?? operands.at(-1) ?? []].flat().flatMap((word) => namedPaths(word, place));
  const inside = sources
    .flatMap((word) => namedPaths(word, place))
    .flatMap((path) => into.map((folder) => join(folder, basename(path))));
  return [...paths, ...inside];
}

const MOST_CHARACTERS = 4_096;

/** What is only known at run time is nobody's path; of a pattern, what it names in one folder. */
function namedPaths(word: ShellWord, place: Place): readonly string[] {
  const { cwd } = place;
  if (!word.certain || word.text === '' || word.text === '-' || word.text.length > MOST_CHARACTERS) return [];
  if (!word.glob) return [absolutePath(word.text, place) ?? []].flat();
  if (cwd === undefined || /[*?[].*\/|\*\*/.test(word.text)) return [];
  return globSync(word.text, { cwd }).map((path) => resolve(cwd, path));
}
