// Owns what an answer to a question about a command is bound to: its words, its folder, and the bytes of the scripts that it names.
// Knows no approver. Invariant: an answer is remembered only for a command of which every word is plain, and rides on no other's yes.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '#base/ids.ts';
import { oneLine, sliceText } from '#base/text.ts';
import { INTERPRETERS, judgeCode, SHELLS } from '../risk/code-rules.ts';
import { afterCommand, MAX_DEPTH, readScript } from '../risk/command-risk.ts';
import { type Call, programName } from '../risk/finding.ts';
import { absolutePath, makePlace, type Place, type PlaceOptions } from '../risk/place.ts';
import { unwrapCommand } from '../risk/unwrap-command.ts';
import type { ShellCommand, ShellScript, ShellWord } from '../shell/shell-script.ts';

export interface Binding {
  /** Under what the answer may be remembered; empty: it may not. */
  readonly key: string;
  /** Changes with every byte that the question was about. */
  readonly mark: string;
}

const SHOWN = 120;

export function bindApproval(command: string, options: PlaceOptions): Binding {
  const place = makePlace(options);
  const reading: Reading = { isPlain: true, names: new Set(), files: new Set() };
  readNames(command, place, reading);
  const bytes = [...reading.files].sort().map((path) => [path, contentOf(path)] as const);
  const isWhole = bytes.every(([, content]) => content !== TOO_MUCH);
  const mark = sha256(JSON.stringify([command, place.workspace, [...reading.names].sort(), bytes]));
  const shown = `${sliceText(oneLine(command), SHOWN)} · ${oneLine(place.workspace)} · ${mark.slice(0, 16)}`;
  return { key: reading.isPlain && isWhole ? shown : '', mark };
}

interface Reading {
  isPlain: boolean;
  /** Variables that it sets or uses. */
  readonly names: Set<string>;
  /** Scripts, as absolute paths; they need not be there. */
  readonly files: Set<string>;
}

function readNames(text: string, place: Place, reading: Reading, depth = 0): void {
  const script = readScript(text, place);
  reading.isPlain &&= depth <= MAX_DEPTH && isPlainScript(script);
  if (depth > MAX_DEPTH) return;
  for (const [, name = ''] of text.matchAll(/\$\{?([A-Za-z_]\w*)/g)) reading.names.add(name);
  let here = place;
  for (const command of script.commands) {
    for (const inner of readCommand(command, here, reading)) readNames(inner, here, reading, depth + 1);
    here = afterCommand(command, here);
  }
}

/** The texts that it hands to further shells. */
function readCommand(command: ShellCommand, place: Place, reading: Reading): readonly string[] {
  for (const { name } of command.assignments) reading.names.add(name);
  const { words, scripts, openEnded } = unwrapCommand(command.words);
  const [first, ...args] = words;
  const texts = scripts.map(({ text }) => text);
  if (!first) return texts;
  const call = { program: programName(first.text), args, command, place, openEnded };
  const files = scriptFiles(first, call);
  reading.isPlain &&= !openEnded && !runsUnseen(call) && !files.includes(undefined);
  for (const file of files) if (file !== undefined) reading.files.add(file);
  return [...texts, ...judgeCode(call, false).scripts];
}

function isPlainScript({ commands, doubts, functions }: ShellScript): boolean {
  return doubts.length === 0 && functions.size === 0 && commands.every(isPlainCommand);
}

function isPlainCommand({ words, assignments, redirects }: ShellCommand): boolean {
  const all = [...words, ...assignments.map(({ value }) => value), ...redirects.map(({ target }) => target)];
  return all.every(({ certain, glob, text }) => certain && !glob && !/\{.*\.\..*\}/s.test(text));
}

/** What runs is not in its words: code from elsewhere, or whatever a search finds. */
function runsUnseen({ program, args, command }: Call): boolean {
  if (/^(?:eval|trap|alias|xargs|parallel|watch|su|at|batch|crontab)$/.test(program)) return true;
  if (/^(?:find|fd|fdfind)$/.test(program))
    return args.some(({ text }) => /^-(?:exec|execdir|ok|okdir|delete|x|X|-exec|-exec-batch)$/.test(text));
  return command.pipedFrom !== undefined && (SHELLS.test(program) || INTERPRETERS.test(program));
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

/** Files whose bytes decide what runs; undefined: one of them cannot be named. */
function scriptFiles(program: ShellWord, call: Call): readonly (string | undefined)[] {
  const named = call.args.flatMap(({ text }) => [text, ...text.split('=').slice(1)]);
  const runsFiles =
    SHELLS.test(call.program) || INTERPRETERS.test(call.program) || /^(?:source|\.)$/.test(call.program);
  const scripts = named.filter((text) => SCRIPT.test(text) || (runsFiles && text !== '' && !text.startsWith('-')));
  const folders = ['.', ...named.filter((_, i) => /^(?:-C|--prefix|--directory|--cwd)$/.test(named[i - 1] ?? ''))];
  const implied = IMPLIED.filter(([name]) => name.test(call.program)).flatMap(([, files]) =>
    folders.flatMap((folder) => files.map((file) => join(folder, file))),
  );
  const own = program.text.includes('/') ? [program.text] : [];
  return [...own, ...scripts, ...implied].map((text) => absolutePath(text, call.place));
}

const TOO_MUCH = 'too much to be bound to';
const MOST_BYTES = 8_000_000;

function contentOf(path: string): string {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined || !facts.isFile()) return 'no file';
  return facts.size > MOST_BYTES ? TOO_MUCH : sha256(readFileSync(path));
}
