// Owns what paths mean as data: system folders, devices, vital files, secrets, the agent's own files, files that steer a later run.
// Knows no command and no tool; both the terminal's and the file tools' rules read it. Paths are absolute and normalised.
import { basename, relative } from 'node:path';
import { STEERING_IN_FOLDER, STEERING_IN_HOME, STEERING_NAMES } from '../walls/places.rules.ts';
import {
  MAY_CARRY_TOKEN,
  PLAIN_IN_HOME,
  SECRET_IN_HOME,
  SECRET_IN_SYSTEM,
  SECRET_NAMES,
} from '../walls/secret-places.rules.ts';
import { isWithin, type Place } from './place.ts';

/** Folders whose contents belong to the system as a whole: nothing in them is deleted recursively, ever. */
const SYSTEM_TREES = '/etc /usr /bin /sbin /lib /lib32 /lib64 /boot /dev /proc /sys /System /Library'.split(' ');
/** Parts of the system trees that their owner fills. */
const OWNED_TREES = ['/usr/local', '/usr/src', '/dev/shm'];
const NAMED_FOLDERS = /^\/(?:home|Users|var|opt|root|srv|run|mnt|media|Applications|private|snap|nix)$/;

/** Would losing everything here break the machine or the account? */
export function isVitalFolder(path: string, place: Place): boolean {
  if (path === '/' || isWithin(place.home, path) || NAMED_FOLDERS.test(path)) return true;
  if (/^\/(?:home|Users)\/[^/]+$/.test(path)) return true;
  if (/^\/var\/(?:lib|log|cache)$/.test(path)) return true;
  const inSystem = SYSTEM_TREES.some((folder) => isWithin(path, folder));
  return inSystem && !OWNED_TREES.some((folder) => isWithin(path, folder) && path !== folder);
}

/** Keys of providers, and the key by which stored words keep their origin. */
const OWN_KEYS: readonly string[] = ['.env', 'state.db.seal'];

/** What kind of secret lives here, or undefined. `never`: the agent's own keys, which no answer gives away. */
export function secretAt(
  path: string,
  place: Place,
): { readonly level: 'ask' | 'never'; readonly what: string } | undefined {
  if (place.dataHome !== undefined && OWN_KEYS.some((name) => path === `${place.dataHome}/${name}`))
    return { level: 'never', what: "the agent's own keys" };
  if (place.dataHome !== undefined && isWithin(path, `${place.dataHome}/checkpoints`))
    return { level: 'ask', what: 'copies of your files' };
  const system = path.replace(/^\/private(?=\/)/, '');
  if (isIn(SECRET_IN_SYSTEM, system) || /^\/etc\/ssh\/ssh_host_.*_key$/.test(system))
    return { level: 'ask', what: 'passwords or keys of the system' };
  if (/^\/proc\/[^/]+(?:\/task\/[^/]+)?\/environ$/.test(path))
    return { level: 'ask', what: 'the environment of a process' };
  const inHome = isWithin(path, place.home) ? path.slice(place.home.length + 1) : undefined;
  if (inHome !== undefined && isIn(SECRET_IN_HOME, inHome) && !PLAIN_IN_HOME.test(inHome))
    return { level: 'ask', what: 'keys or passwords' };
  return isNamedSecret(path, place) ? { level: 'ask', what: 'keys or passwords' } : undefined;
}

function isNamedSecret(path: string, { workspace }: Place): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return SECRET_NAMES.test(name) || (MAY_CARRY_TOKEN.test(path) && !isWithin(path, workspace));
}

/** Is it one of these, or in one? */
function isIn(places: readonly string[], path: string): boolean {
  return places.some((place) => path.startsWith(place) && (path.length === place.length || path[place.length] === '/'));
}

const RECORD = 'this is a record that only the agent itself keeps';
const OWN_ENTRIES: readonly (readonly [entry: RegExp, instead: string])[] = [
  [/^memories(?:\/|$)/, 'memory files are written only by the memory tool'],
  [/^skills(?:\/|$)/, 'skills are written only by the skill tools'],
  [/^\.env/, 'keys are written only by the owner, with `talaria setup` or `/model add`'],
  [/^config\.yaml/, 'the configuration is changed only by the owner, with `talaria config set`'],
  [/^(?:state\.db|evidence\.sqlite|(?:rlm|golems|meta|library|market|peers)\/)/, RECORD],
  [/^(?:pending|trust|backups|checkpoints|logs|cache)(?:\/|$)/, RECORD],
  [/^SOUL\.md$/, 'the identity is changed only by the owner'],
];

/** Why the agent's own file at `path` may not be written by a general tool, and what may; undefined for any other path. */
export function ownFileAt(path: string, place: Place): string | undefined {
  if (place.dataHome === undefined || !isWithin(path, place.dataHome)) return undefined;
  const inside = path.slice(place.dataHome.length + 1);
  if (inside === '') return "the agent's home as a whole";
  return OWN_ENTRIES.find(([entry]) => entry.test(inside))?.[1];
}

const STEERING: readonly (readonly [path: RegExp, what: string])[] = [
  [/\/\.ssh\/(?:authorized_keys2?|config|rc)$/, 'who may log in'],
  [/\.git(?:\/|$)/i, 'what git reads and runs by itself'],
  [STEERING_IN_FOLDER, 'what cargo runs by itself'],
  [/^\/etc\/cron|^\/var\/spool\/cron/, 'what runs by itself'],
];

/** What writing here would steer later, or undefined. In the session's folder the names count at any depth. */
export function steersLater(path: string, { workspace }: Pick<Place, 'workspace'>): string | undefined {
  const names = isWithin(path, workspace) ? relative(workspace, path).split('/') : [basename(path)];
  const isNamed = (name: string) => STEERING_NAMES.some((pattern) => pattern.test(name));
  const named = names.find(isNamed) ?? STEERING_IN_HOME.find((entry) => `${path}/`.includes(`/${entry}/`));
  const isRead = named !== undefined && /(?:\.md|rules|hints)$/i.test(named);
  const what = isRead ? 'instructions of later sessions' : 'what editors, shells and agents run or obey later';
  return STEERING.find(([pattern]) => pattern.test(path))?.[1] ?? (named && what);
}
