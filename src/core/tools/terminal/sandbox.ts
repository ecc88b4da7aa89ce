// Owns the arguments that put a command into a bubblewrap sandbox: the machine read-only, the working folder writable, secrets hidden.
// Knows no tool. Invariant: asked for and not there means refused; nothing ever runs unsandboxed because the sandbox is missing.
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ok, type Result, refuse } from '#base/result.ts';

export interface SandboxOptions {
  /** May commands reach the network? Default no. */
  readonly network?: boolean;
  /** Folders beside the working folder that may be written. */
  readonly writable?: readonly string[];
  /** Files and folders that a command may not even read; missing ones are left out. */
  readonly hidden?: readonly string[];
}

/** What is hidden beside the configured paths, relative to the user's home. */
const HIDDEN_IN_HOME = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.config/gcloud',
  '.config/gh',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.git-credentials',
  '.password-store',
];

export interface SandboxPlace {
  readonly cwd: string;
  readonly userHome: string;
  /** The agent's own home: its keys and records are hidden. */
  readonly dataHome?: string | undefined;
  /** A private folder that stands for /tmp. */
  readonly tempFolder: string;
}

/** Arguments to put before the command's own. */
export function sandboxArguments(options: SandboxOptions, place: SandboxPlace): readonly string[] {
  const hidden = [
    ...HIDDEN_IN_HOME.map((name) => join(place.userHome, name)),
    ...ownSecrets(place.dataHome),
    ...(options.hidden ?? []),
  ];
  return [
    ...[
      '--ro-bind',
      '/',
      '/',
      '--dev',
      '/dev',
      '--proc',
      '/proc',
      '--bind',
      place.tempFolder,
      '/tmp',
      '--setenv',
      'TMPDIR',
      '/tmp',
    ],
    ...[...(options.writable ?? []), place.cwd].filter(existsSync).flatMap((folder) => ['--bind', folder, folder]),
    ...hidden.flatMap(hide),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent', '--new-session'],
    ...(options.network ? [] : ['--unshare-net']),
    ...['--chdir', place.cwd, '--'],
  ];
}

function ownSecrets(dataHome: string | undefined): readonly string[] {
  return dataHome === undefined
    ? []
    : ['.env', 'state.db', 'evidence.sqlite', 'memories', 'peers', 'checkpoints'].map((name) => join(dataHome, name));
}

function hide(path: string): readonly string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return [];
  return stats.isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
}

/** The bubblewrap program on PATH. */
export function findBubblewrap(path: string | undefined): Result<string, 'no-sandbox'> {
  const found = (path ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'bwrap'))
    .find(isExecutable);
  if (found !== undefined) return ok(found);
  return refuse(
    'no-sandbox',
    'the configuration asks for a sandbox, but bubblewrap (bwrap) is not installed; install it (`apt install bubblewrap`, `dnf install bubblewrap`) or switch the sandbox off in the configuration',
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}
