import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { isJsonObject, type JsonObject, parseJson } from '#base/json.ts';
import { createStage, type RanCommand, runCommand, type Stage } from '../../surfaces/app/app-fixture.ts';

// A machine for tests of timers: a home of its own and, as the whole PATH, a folder with scripts that write down how they were called.

export interface Machine extends Stage {
  /** Adds a program; `script` comes after the line that writes down the call. */
  program(name: string, script?: string): string;
  /** Its calls so far, one a line. */
  calls(name: string): readonly string[];
  curator(command: string, input?: unknown, ask?: (question: string) => Promise<string>): Promise<RanCommand>;
  /** `~/.config/systemd/user/NAME`. */
  unit(name: string): string;
  readonly plist: string;
}

/** `startedBy`: what started Talaria; default a `talaria` on the PATH. */
export function createMachine(
  t: TestContext,
  programs: readonly string[] = ['systemctl'],
  startedBy: readonly string[] | undefined = undefined,
): Machine {
  const stage = createStage(t);
  const bin = join(stage.temp.path, 'bin');
  mkdirSync(bin);
  const environment = {
    ...stage.environment,
    variables: { ...stage.environment.variables, PATH: bin },
    ...(startedBy ? { program: startedBy } : {}),
  };
  const machine: Machine = {
    ...stage,
    environment,
    program: (name, script = '') => {
      const path = join(bin, name);
      writeFileSync(path, `#!/bin/sh\necho "$*" >> "$0.calls"\n${script}\n`, { mode: 0o700 });
      return path;
    },
    calls: (name) => {
      const path = join(bin, `${name}.calls`);
      return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
    },
    curator: (command, input = {}, ask = undefined) => runCommand(machine, `curator ${command}`, input, ask),
    unit: (name) => join(stage.temp.path, '.config/systemd/user', name),
    plist: join(stage.temp.path, 'Library/LaunchAgents/ai.talaria.curator.auto.plist'),
  };
  for (const name of ['talaria', ...programs]) machine.program(name);
  return machine;
}

/** The one JSON value that a command printed. */
export function printedJson({ outputs }: RanCommand): JsonObject {
  const lines = outputs.flatMap((output) => (output.type === 'line' ? [output.text] : []));
  const parsed = parseJson(lines.join('\n'));
  assert.ok(parsed.ok && isJsonObject(parsed.value), lines.join('\n'));
  return parsed.value;
}

// Reads a line of a unit by the rules of systemd.syntax(7) and systemd.service(5), apart from the code that writes it: words between
// blanks, quotes, C escapes, `%%`, and `$$` in every word but the program. What systemd would refuse throws.

export function readExecStart(line: string): readonly string[] {
  const words = splitWords(line).map((word) => noSpecifier(word));
  return words.map((word, i) => (i === 0 ? word : noVariable(word)));
}

export function readAssignment(line: string): string {
  const [word, ...more] = splitWords(line);
  if (word === undefined || more.length > 0) throw new Error('one assignment was expected');
  return noSpecifier(word);
}

function splitWords(line: string): readonly string[] {
  if (/[\n\0]/.test(line) || /\\$/.test(line)) throw new Error('the line does not end here');
  const reading: Reading = { words: [], quote: '' };
  for (let at = 0; at < line.length; ) at += readPiece(reading, line.slice(at));
  if (reading.quote !== '') throw new Error('a quote is left open');
  endWord(reading);
  return reading.words;
}

interface Reading {
  readonly words: string[];
  /** Bytes of the word that is being read. */
  word?: number[] | undefined;
  quote: string;
}

/** Gives how many characters were taken. */
function readPiece(reading: Reading, rest: string): number {
  if (/^\\/.test(rest)) {
    const { bytes, length } = readEscape(rest);
    reading.word = [...(reading.word ?? []), ...bytes];
    return length;
  }
  const character = String.fromCodePoint(rest.codePointAt(0) ?? 0);
  if (reading.quote === '' && /[ \t\r]/.test(character)) endWord(reading);
  else addCharacter(reading, character, rest);
  return character.length;
}

function addCharacter(reading: Reading, character: string, rest: string): void {
  if (reading.word === undefined && /^;(?:[ \t\r]|$)/.test(rest)) throw new Error('a semicolon begins another command');
  reading.word ??= [];
  const isMark = character === '"' || character === "'";
  if (isMark && reading.quote === '') reading.quote = character;
  else if (character === reading.quote) reading.quote = '';
  else reading.word.push(...Buffer.from(character, 'utf8'));
}

function endWord(reading: Reading): void {
  if (reading.word !== undefined) reading.words.push(decoded(reading.word));
  reading.word = undefined;
}

function decoded(bytes: readonly number[]): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
}

const LETTERS: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, s: 32 };

function readEscape(text: string): { readonly bytes: readonly number[]; readonly length: number } {
  const hex = /^\\x([0-9a-f]{2})/.exec(text)?.[1];
  if (hex !== undefined && hex !== '00') return { bytes: [Number.parseInt(hex, 16)], length: 4 };
  const character = text.charAt(1);
  if (/["'\\]/.test(character)) return { bytes: [character.charCodeAt(0)], length: 2 };
  const known = LETTERS[character];
  if (known === undefined) throw new Error(`no escape: ${text.slice(0, 4)}`);
  return { bytes: [known], length: 2 };
}

function noSpecifier(word: string): string {
  if (/%/.test(word.replaceAll('%%', ''))) throw new Error('a specifier');
  return word.replaceAll('%%', '%');
}

function noVariable(word: string): string {
  if (/\$/.test(word.replaceAll('$$', ''))) throw new Error('a variable');
  return word.replaceAll('$$', '$');
}

// Asks systemd itself what it reads in a unit: `systemd-analyze verify`, which in its debug output shows the words of the command.

const SHOWN = 'Command Line: ';

const ANALYZE = 'systemd-analyze';
/** False where systemd is not installed. */
export const hasSystemdAnalyze = spawnSync(ANALYZE, ['--version']).status === 0;
export const NO_SYSTEMD = 'skipped: systemd-analyze is not installed';

export interface Verified {
  readonly status: number | null;
  readonly messages: string;
  /** The command of each service as systemd will start it, `$$` made `$` as it then does in arguments. */
  readonly commands: readonly (readonly string[])[];
}

export function verifyUnits(paths: readonly string[], scratch: string): Verified {
  const runtime = join(scratch, 'runtime');
  mkdirSync(runtime, { recursive: true, mode: 0o700 });
  const env = { PATH: process.env.PATH, HOME: scratch, XDG_RUNTIME_DIR: runtime };
  const quiet = spawnSync(ANALYZE, ['--user', '--man=no', 'verify', ...paths], { env, encoding: 'utf8' });
  const debug = { ...env, SYSTEMD_LOG_LEVEL: 'debug' };
  const loud = spawnSync(ANALYZE, ['--user', '--man=no', 'verify', ...paths], {
    env: debug,
    encoding: 'utf8',
  });
  const lines = loud.stdout.split('\n').filter((text) => text.trimStart().startsWith(SHOWN));
  const commands = lines.map((line) => readShellWords(line.trimStart().slice(SHOWN.length)));
  return { status: quiet.status, messages: `${quiet.stdout}${quiet.stderr}`, commands: commands.map(expanded) };
}

function expanded([program = '', ...args]: readonly string[]): readonly string[] {
  return [program, ...args.map((word) => word.replaceAll('$$', '$'))];
}

/** systemd shows words as a shell would take them: bare, or in double quotes with C escapes. */
function readShellWords(line: string): readonly string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"|([^ ]+)/g)].map(([, quoted, bare]) =>
    quoted === undefined ? (bare ?? '') : unescaped(quoted),
  );
}

const SYSTEMD_ANALYZE_LETTERS: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 };

function unescaped(text: string): string {
  const bytes = [...text.matchAll(/\\x([0-9a-f]{2})|\\([0-7]{3})|\\(.)|[^\\]/gu)].flatMap(
    ([whole, hex, octal, letter]) => {
      if (hex !== undefined) return [Number.parseInt(hex, 16)];
      if (octal !== undefined) return [Number.parseInt(octal, 8)];
      if (letter !== undefined) return [SYSTEMD_ANALYZE_LETTERS[letter] ?? letter.charCodeAt(0)];
      return [...Buffer.from(whole, 'utf8')];
    },
  );
  return Buffer.from(bytes).toString('utf8');
}
