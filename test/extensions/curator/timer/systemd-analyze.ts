// Asks systemd itself what it reads in a unit: `systemd-analyze verify`, which in its debug output shows the words of the command.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

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

const LETTERS: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 };

function unescaped(text: string): string {
  const bytes = [...text.matchAll(/\\x([0-9a-f]{2})|\\([0-7]{3})|\\(.)|[^\\]/gu)].flatMap(
    ([whole, hex, octal, letter]) => {
      if (hex !== undefined) return [Number.parseInt(hex, 16)];
      if (octal !== undefined) return [Number.parseInt(octal, 8)];
      if (letter !== undefined) return [LETTERS[letter] ?? letter.charCodeAt(0)];
      return [...Buffer.from(whole, 'utf8')];
    },
  );
  return Buffer.from(bytes).toString('utf8');
}
