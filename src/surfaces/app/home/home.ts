// Owns where things lie in a home (design 6). Knows no file's content.
// Invariant: folders are 0700; nothing is made before it is needed (seed 001 ch 2: copy the folder to migrate, delete it to start fresh).
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { errorCode } from '#base/errors.ts';
import { privateFolder, unusableFolder } from '#base/platform.ts';
import type { Environment } from '../environment.ts';

export interface Home {
  readonly root: string;
  readonly config: string;
  /** The only file with secrets. */
  readonly env: string;
  readonly soul: string;
  readonly stateDatabase: string;
  /** What tools did, for learning; can be dropped, precious things are in state.db. */
  readonly evidenceDatabase: string;
  readonly memories: string;
  readonly skills: string;
  /** What waits for the owner's yes. */
  readonly pending: string;
  /** Which project files may instruct the agent. */
  readonly trust: string;
  readonly backups: string;
  readonly dailyCopies: string;
  /** What stood there before each write to a skill. */
  readonly skillBackups: string;
  /** What stood in files before the agent changed them, for `/undo`. */
  readonly checkpoints: string;
  readonly cache: string;
  /** Held by whoever writes while nobody looks on. */
  readonly unattendedLease: string;
  /** Who has state.db open for writing. */
  readonly openFlags: string;
  /** Whole outputs of tools whose preview the model saw. */
  readonly spill: string;
  /** Bytes of pictures, by their hash. */
  readonly blobs: string;
  readonly engines: string;
  readonly models: string;
  readonly log: string;
  /** Lines that were typed in the chat, for the arrow key. */
  readonly inputHistory: string;
}

export function homeAt(root: string): Home {
  const at = (...parts: readonly string[]) => join(root, ...parts);
  return {
    root,
    config: at('config.yaml'),
    env: at('.env'),
    soul: at('SOUL.md'),
    stateDatabase: at('state.db'),
    evidenceDatabase: at('evidence.sqlite'),
    memories: at('memories'),
    skills: at('skills'),
    pending: at('pending'),
    trust: at('trust'),
    backups: at('backups'),
    dailyCopies: at('backups', 'daily'),
    skillBackups: at('backups', 'skills'),
    checkpoints: at('checkpoints'),
    cache: at('cache'),
    unattendedLease: at('cache', 'unattended.lock'),
    openFlags: at('cache', 'open'),
    spill: at('cache', 'spill'),
    blobs: at('blobs'),
    engines: at('engines'),
    models: at('models'),
    log: at('logs', 'agent.log'),
    inputHistory: at('cache', 'input-history'),
  };
}

/** TALARIA_HOME (relative paths start from the current folder), else `~/.talaria`. */
export function findHome(environment: Environment): Home {
  const named = environment.variables.TALARIA_HOME;
  return homeAt(named ? resolve(environment.cwd, named) : join(environment.userHome, '.talaria'));
}

/** Beside the home: there while a backup is brought back, and after that was killed. */
export function restoreIntent({ root }: Home): string {
  return join(dirname(root), `.${basename(root)}-restoring.json`);
}

/** A golem's home lies in another one, which is no less private, and runs on the same machine. */
export function outermost(root: string): string {
  const above = dirname(root);
  return basename(above) === 'golems' && existsSync(join(root, 'golem.toml')) ? dirname(above) : root;
}

/** Is the home there, and nothing can be written into it? Then everything that only reads works, and nothing else is tried. */
export function isReadOnlyHome({ root }: Home): boolean {
  if (!existsSync(root)) return false;
  try {
    accessSync(root, constants.W_OK);
    return false;
  } catch (error) {
    return ['EROFS', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '');
  }
}

/** Of state.db, the newest first. */
export function dailyCopies({ dailyCopies: folder }: Home): readonly string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => /^state-\d{4}-\d\d-\d\d\.db$/.test(name));
  return names
    .sort()
    .reverse()
    .map((name) => join(folder, name));
}

/** Makes the root, or tightens the permissions of an existing one. */
export function makeHome(home: Home): void {
  if (isReadOnlyHome(home)) return; // what needs writing says so itself
  privateFolder(home.root);
}

/** Throws TalariaError `folder-unusable`. */
export function isEmptyHome(home: Home): boolean {
  if (!existsSync(home.root)) return true;
  try {
    return readdirSync(home.root).length === 0;
  } catch (error) {
    throw unusableFolder(home.root, error);
  }
}
