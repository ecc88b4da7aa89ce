// Owns whether a chat or a turn may begin here: not started by an agent, and in a folder that a session may have. Knows no conversation.
// Invariant: what is refused by default takes two words of the owner: the flag, and a typed yes or, where nobody types, sandbox.paths.
import { TalariaError } from '#base/errors.ts';
import type { Environment } from '../environment.ts';
import { loadConfig } from './config.ts';
import { findHome } from './home.ts';
import { refuseTurnInside } from './inside.ts';
import { type FolderProblem, folderProblem, isNamed } from './session-folder.ts';

export interface SessionDoor {
  /** `--here`. */
  readonly isMeant: boolean;
  /** Absent: nobody sits there. */
  readonly ask?: (question: string) => Promise<string>;
}

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
