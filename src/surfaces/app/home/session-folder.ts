// Owns which folders no session is opened in unless the owner says so twice: the root, system folders, his own home, Talaria's
// and what holds it. Knows no flag. Invariant: links are followed first; a folder that is only mounted or linked is as good as any.
import { shownPath, typedPath } from '#base/paths/typed-path.ts';
import { realPath } from '#core/tools/file/file-access.ts';
import { isWithin } from '#core/tools/risk/place.ts';
import type { Environment } from '../environment.ts';
import type { Home } from './home.ts';

export interface FolderProblem {
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
export function isNamed({ cwd, userHome }: Environment, paths: readonly string[]): boolean {
  return paths.some((path) => realPath(typedPath(path, { cwd: userHome, userHome })) === realPath(cwd));
}
