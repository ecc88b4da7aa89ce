// Owns the view of the process that everything else is given: variables, folder, terminal. The only reader of `process.env`.
// Does not know what any variable means. Invariant: a plain value, taken once; tests pass their own.
import { homedir, userInfo } from 'node:os';
import { resolve } from 'node:path';

export interface Environment {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Absolute folder that the person typed the command in. */
  readonly cwd: string;
  /** The person's own home folder, parent of the default `.talaria`. */
  readonly userHome: string;
  /** Program and first arguments that start this again from anywhere; absent: `talaria` on PATH. */
  readonly program?: readonly string[];
}

export function readEnvironment(): Environment {
  return { variables: { ...process.env }, cwd: process.cwd(), userHome: homeOfUser(), ...startedBy(process.argv[1]) };
}

function startedBy(script: string | undefined): Pick<Environment, 'program'> {
  return script === undefined ? {} : { program: [process.execPath, resolve(script)] };
}

/** An empty HOME must not make the current folder the person's home. */
function homeOfUser(): string {
  return homedir() || userInfo().homedir;
}
