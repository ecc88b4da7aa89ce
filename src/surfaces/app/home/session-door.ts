// Owns who may begin or change something here: a session only in a folder that may have one, nothing of the owner's by a `talaria` that a command
// of an agent started, nothing in a home that can only be read or that a newer Talaria has written. Knows no command and no conversation.
// Invariants: what is refused by default takes two words of the owner: the flag, and a typed yes or, where nobody types, sandbox.paths; a wiped
// environment opens no door while a session of this home is live; whatever would write into a newer home stops before it wrote anything.

import { existsSync } from 'node:fs';
import type { Clock } from '#base/clock.ts';
import { openDatabase } from '#base/database.ts';
import { TalariaError } from '#base/errors.ts';
import { shownPath, typedPath } from '#base/paths/typed-path.ts';
import { isCommandOf } from '#base/process/holder.ts';
import { type AnyCommand, onlyReads } from '#core/agent/command-spec.ts';
import { realPath } from '#core/tools/files/file-access.ts';
import { isWithin } from '#core/tools/risk/place.ts';
import { liveHolders } from '#mind/sessions/session-lease.ts';
import type { App, SessionDoor } from '../app.ts';
import { type Environment, INSIDE } from '../environment.ts';
import { type LoadedConfig, loadConfig } from './config.ts';
import { findHome, type Home, isReadOnlyHome } from './home.ts';

/** Without a door no session begins here; who holds sessions is asked of the store, once it is open. Throws TalariaError `inside` or `session-folder`. */
export async function enterSession(environment: Environment, door: SessionDoor | undefined): Promise<void> {
  if (!door) return;
  const { isMeant, ask } = door;
  const home = findHome(environment);
  refuseTurnInside(environment, []);
  const problem = folderProblem(environment, home);
  if (!problem) return;
  if (!isMeant) throw refused(problem, `${problem.fix} If you mean this folder: --here.`);
  if (ask) {
    const answer = await ask(`${problem.what}.\nType yes to work in ${environment.cwd} all the same:`);
    if (answer.trim().toLowerCase() === 'yes') return;
    throw refused(problem, problem.fix);
  }
  const { config } = await loadConfig(home.config);
  if (isNamed(environment, config.sandbox.paths)) return;
  throw refused(
    problem,
    `${problem.fix} Where nobody can type a yes, --here counts when sandbox.paths names the folder too.`,
  );
}

function refused({ what }: FolderProblem, fix: string): TalariaError {
  return new TalariaError(what, { code: 'session-folder', fix });
}

// Which folders no session is opened in unless the owner says so twice: the root, system folders, his own home, Talaria's
// and what holds it. Knows no flag. Invariant: links are followed first; a folder that is only mounted or linked is as good as any.

interface FolderProblem {
  readonly what: string;
  readonly fix: string;
}

/** Nothing below them is anybody's work. */
const SYSTEM = [
  '/etc',
  '/bin',
  '/sbin',
  '/lib',
  '/lib64',
  '/boot',
  '/proc',
  '/sys',
  '/usr/bin',
  '/usr/sbin',
  '/usr/lib',
];
/** Work lies below them, beside what is not. */
const SHARED =
  `/ /usr /usr/local /usr/share /usr/include /var /var/lib /var/log /opt /dev /run /srv /mnt /media /home /root /Users /Library
  /System /Applications /Volumes /private /private/etc /private/var C:\\ C:\\Windows C:\\Users`.split(/\s+/);

const WHY = 'an agent works in, and may change, all of the folder that it is started in';
const INSTEAD = 'Make a folder for the work and start there: mkdir ~/work && cd ~/work && talaria';

/** Undefined: it is a folder like any other. */
export function folderProblem({ cwd, userHome }: Environment, home: Home): FolderProblem | undefined {
  const [here, own, kept] = [realPath(cwd), realPath(userHome), realPath(home.root)];
  const shown = shownPath(cwd, userHome);
  if (isWithin(here, kept))
    return { what: `${shown} is where Talaria keeps its own things: ${WHY}`, fix: `${INSTEAD}.` };
  if (here === own) return { what: `${shown} is your home folder: ${WHY}`, fix: `${INSTEAD}.` };
  if (SYSTEM.some((folder) => isWithin(here, folder)) || SHARED.includes(here))
    return { what: `${shown} belongs to the whole machine: ${WHY}`, fix: `${INSTEAD}.` };
  if (isWithin(own, here)) return { what: `${shown} is above your home folder: ${WHY}`, fix: `${INSTEAD}.` };
  if (!isWithin(kept, here)) return undefined;
  return { what: `${shown} holds Talaria's own home (${shownPath(home.root, userHome)}): ${WHY}`, fix: `${INSTEAD}.` };
}

/** `paths`: as sandbox.paths has them. */
function isNamed({ cwd, userHome }: Environment, paths: readonly string[]): boolean {
  return paths.some((path) => realPath(typedPath(path, { cwd: userHome, userHome })) === realPath(cwd));
}

export interface Door {
  readonly home: Home;
  readonly environment: Environment;
  readonly clock: Clock;
}

/** Throws TalariaError `inside`. */
export function refuseCommandInside(command: AnyCommand, input: unknown, door: Door): void {
  if (onlyReads(command, input) || !isInside(door)) return;
  throw new TalariaError(`\`talaria ${command.name}\` is for the owner, and a command of an agent started it`, {
    code: 'inside',
    fix: 'Type it in your own terminal. Commands that only read run here too.',
  });
}

/** `leases`: of processes that have a session of this home open. Throws TalariaError `inside`. */
export function refuseTurnInside(environment: Environment, leases: readonly number[]): void {
  if (!isMarked(environment) && !leases.some((pid) => isCommandOf(pid))) return;
  throw new TalariaError('an agent does not start itself: a command of an agent started this `talaria`', {
    code: 'inside',
    fix: 'Do the work in the conversation that runs; the owner starts another one in a terminal of his own.',
  });
}

function isInside({ home, environment, clock }: Door): boolean {
  return isMarked(environment) || holders(home, clock).some((pid) => isCommandOf(pid));
}

function isMarked({ variables }: Environment): boolean {
  return (variables[INSIDE] ?? '') !== '';
}

/** As they are: this look makes, moves and mends nothing. */
function holders(home: Home, clock: Clock): readonly number[] {
  if (!existsSync(home.stateDatabase)) return [];
  try {
    const { database } = openDatabase(home.stateDatabase, { rooms: [], readOnly: true, onCorrupt: 'throw', clock });
    try {
      return liveHolders(database, clock);
    } finally {
      database.abandon();
    }
  } catch (error) {
    // No store of sessions, so nobody holds one; whoever needs it says what is wrong with it.
    if (error instanceof TalariaError) return [];
    throw error;
  }
}

/** Throws TalariaError `home-newer` when the configuration or the database of this home is of a newer version. */
export function refuseNewerHome({ loaded, doors, home }: Pick<App, 'loaded' | 'home'> & Store): void {
  if (doors.sessions.database.readOnly) throw isReadOnlyHome(home) ? readOnlyHome(home) : newerHome();
  refuseNewerConfig(loaded);
}

type Store = { readonly doors: { readonly sessions: { readonly database: { readonly readOnly: boolean } } } };

/** The same, where no agent is composed. */
export function refuseNewerConfig({ readOnly }: LoadedConfig): void {
  if (readOnly !== undefined) throw newerHome();
}

function readOnlyHome({ root }: Home): TalariaError {
  return new TalariaError(`${root} can only be read`, {
    code: 'home-read-only',
    fix: 'Sessions, memory and skills can be looked at. Make the folder writable, or name another home with TALARIA_HOME.',
  });
}

function newerHome(): TalariaError {
  return new TalariaError('this home was written by a newer Talaria, and this one only reads it', {
    code: 'home-newer',
    fix: 'Update Talaria, or name another home with TALARIA_HOME.',
  });
}
