// Owns which files a command names as written, for undo: what it hands to further shells counts, what a program writes by itself does not.
// Knows no danger. Invariant: never throws; what is only known when the command runs is nobody's path.
import { globSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { judgeCode } from '../risk/code-rules.ts';
import { afterCommand, MAX_DEPTH, readScript } from '../risk/command-risk.ts';
import { type Call, copyOperands, programName } from '../risk/finding.ts';
import { absolutePath, makePlace, type Place, type PlaceOptions } from '../risk/place.ts';
import { unwrapCommand } from '../risk/unwrap-command.ts';
import { COPIERS, redirectedTo, writtenWords } from '../risk/write-rules.ts';
import type { ShellWord } from '../shell/shell-script.ts';

/** Absolute paths of what `command` names as written, with what it hands to further shells; folders are among them. */
export function pathsWritten(command: string, options: PlaceOptions): readonly string[] {
  return [...new Set(findWritten(command, makePlace(options)))];
}

function findWritten(text: string, place: Place, depth = 0): readonly string[] {
  if (depth > MAX_DEPTH) return [];
  let here = place;
  return readScript(text, place).commands.flatMap((command) => {
    const at = here;
    here = afterCommand(command, here);
    const { words, scripts, openEnded } = unwrapCommand(command.words);
    const [first, ...args] = words;
    const call = first && { program: programName(first.text), args, command, place: at, openEnded };
    const code = call ? judgeCode(call, false).scripts : [];
    const nested = [...scripts.filter(({ certain }) => certain).map((word) => word.text), ...code];
    return [...writtenPaths({ command, place: at }, call), ...nested.flatMap((one) => findWritten(one, at, depth + 1))];
  });
}

/** Absolute paths that the redirects of a command, and the program with its arguments, write; `call` is absent where no program runs. */
function writtenPaths({ command, place }: Pick<Call, 'command' | 'place'>, call?: Call): readonly string[] {
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
