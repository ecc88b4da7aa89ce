// Owns one started command as `base/process` sees it, and the plain way to start one: a child of this process, leader of a group and of a
// session of its own. Knows no time-out and no capture. Invariant: `exit` and `closed` always settle, whatever becomes of the command.
import { type ChildProcess, spawn } from 'node:child_process';
import { errorCode } from '../errors.ts';

export interface CommandRequest {
  /** Program and arguments; nothing is interpreted by a shell unless the program is one. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Text given on standard input, which is then closed; without it standard input is empty. */
  readonly stdin?: string;
}

export type CommandExit =
  | { readonly code: number | null; readonly signal: NodeJS.Signals | null }
  /** Why it never started. */
  | { readonly error: unknown }
  /** Who started it died. */
  | { readonly lost: true };

export interface CommandChild {
  /** Undefined until it has started. */
  readonly pid: number | undefined;
  readonly exit: Promise<CommandExit>;
  /** Both streams are at their end. */
  readonly closed: Promise<true>;
  hear(listener: (chunk: Buffer, stream: 'out' | 'err') => void): void;
  /** Signals its group, or as soon as there is one. */
  kill(name: NodeJS.Signals): void;
  /** Nothing of it is heard from now on. */
  release(): void;
}

/** Throws what `spawn` throws for arguments that no program can get. */
export function spawnGroup(request: CommandRequest): ChildProcess {
  const [program = '', ...args] = request.argv;
  const child = spawn(program, args, {
    cwd: request.cwd,
    env: { ...request.env },
    detached: true,
    stdio: [request.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    windowsHide: true,
  });
  // A child that does not read its input closes the pipe; that is its right.
  child.stdin?.on('error', () => child.stdin?.destroy());
  child.stdin?.end(request.stdin);
  return child;
}

/** True when somebody got the signal. */
export function signalGroup(pid: number | undefined, name: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, name);
  } catch (error) {
    if (errorCode(error) === 'ESRCH' || errorCode(error) === 'EPERM') return false;
    throw error;
  }
}

export function closePipes(child: ChildProcess): void {
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
}

/** Throws as `spawnGroup`. */
export function plainChild(request: CommandRequest): CommandChild {
  const child = spawnGroup(request);
  return {
    pid: child.pid,
    exit: new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
      child.on('error', (error) => {
        if (child.pid === undefined) resolve({ error });
      });
    }),
    closed: new Promise((resolve) => child.once('close', () => resolve(true))),
    hear(listener) {
      for (const name of ['out', 'err'] as const)
        child[`std${name}`]?.on('data', (chunk: Buffer) => listener(chunk, name));
    },
    kill: (name) => void signalGroup(child.pid, name),
    release: () => closePipes(child),
  };
}
