// Owns the view of the process that everything else is given: variables, folder, terminal. The only reader of `process.env`.
// Does not know what any variable is for. Invariant: a plain value, taken once; tests pass their own; once `holdSecrets` has run, no key
// stands in `process.env` nor in what the system shows of this process, so nothing that is started inherits one or can look one up.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { resolve } from 'node:path';
import { isSecretVariable } from './parts/command-variables.ts';

export interface Environment {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Keys and tokens that the process was started with; absent: they stand among the variables. */
  readonly keyring?: Keyring;
  /** Absolute folder that the person typed the command in. */
  readonly cwd: string;
  /** The person's own home folder, parent of the default `.talaria`. */
  readonly userHome: string;
  /** Program and first arguments that start this again from anywhere; absent: `talaria` on PATH. */
  readonly program?: readonly string[];
}

/** Its values show in no dump and no JSON of what holds it. */
export class Keyring {
  readonly #values: Readonly<Record<string, string>>;

  constructor(values: Readonly<Record<string, string>>) {
    this.#values = values;
  }

  values(): Readonly<Record<string, string>> {
    return this.#values;
  }
}

let held: Keyring | undefined;

export function readEnvironment(): Environment {
  return {
    variables: { ...process.env },
    ...(held ? { keyring: held } : {}),
    cwd: process.cwd(),
    userHome: homeOfUser(),
    ...startedBy(process.argv[1]),
  };
}

/** For a program that is Talaria alone: a program that embeds it keeps its own variables. */
export function holdSecrets(): void {
  const secrets = Object.entries(process.env).flatMap(([name, value = '']) =>
    value !== '' && isSecretVariable(name, value) ? [[name, value] as const] : [],
  );
  for (const [name] of secrets) delete process.env[name];
  held = new Keyring({ ...held?.values(), ...Object.fromEntries(secrets) });
  if (process.platform === 'linux' && secrets.length > 0) blotOut(new Set(secrets.map(([name]) => name)));
}

/** Fields of /proc/PID/stat behind the name of the program. */
const ENV_START = 47;

/** What a process was started with stays readable in /proc until its memory says otherwise. Where that may not be written it stays. */
function blotOut(names: ReadonlySet<string>): void {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const start = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[ENV_START]);
    const shown = readFileSync('/proc/self/environ', 'latin1');
    const memory = openSync('/proc/self/mem', 'r+');
    try {
      for (let at = 0; at < shown.length; at = endOf(shown, at) + 1) {
        const value = shown.indexOf('=', at) + 1;
        const length = endOf(shown, at) - value;
        if (!names.has(shown.slice(at, value - 1)) || length <= 0) continue;
        writeSync(memory, Buffer.alloc(length, '*'), 0, length, start + value);
      }
    } finally {
      closeSync(memory);
    }
  } catch {
    // A kernel that keeps a process from its own memory; the walls hide /proc from commands all the same.
  }
}

function endOf(shown: string, from: number): number {
  const end = shown.indexOf('\0', from);
  return end < 0 ? shown.length : end;
}

function startedBy(script: string | undefined): Pick<Environment, 'program'> {
  return script === undefined ? {} : { program: [process.execPath, resolve(script)] };
}

/** An empty HOME must not make the current folder the person's home. */
function homeOfUser(): string {
  return homedir() || userInfo().homedir;
}
