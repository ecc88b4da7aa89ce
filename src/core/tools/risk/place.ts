// Owns where a command or file call happens, how a written path becomes an absolute one, and what paths mean: vital folders, secrets (also those
// that a pattern may become), the agent's own files, files that steer a later run. Knows no command and no tool; pure but for what is passed in.
// Invariants: `..`, `~`, doubled slashes and globs cannot make a path look like another one; a doubt counts as a match.
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, matchesGlob, relative, resolve } from 'node:path';
import {
  MAY_CARRY_TOKEN,
  PLAIN_IN_HOME,
  SECRET_IN_HOME,
  SECRET_IN_SYSTEM,
  SECRET_NAMES,
  STEERING_IN_FOLDER,
  STEERING_IN_HOME,
  STEERING_NAMES,
} from '../walls/places.rules.ts';
import type { WallState } from '../walls/walls.ts';
import type { ShellWord } from './lex-word.ts';

export interface Place {
  /** The working folder of the session: what is below it may be written without asking. */
  readonly workspace: string;
  /** Where a command is by now. Undefined after a `cd` that cannot be followed. */
  readonly cwd: string | undefined;
  readonly home: string;
  /** The agent's own home, with its memory, skills and keys. */
  readonly dataHome?: string;
  /** Temporary folders, which may be written without asking. */
  readonly scratch: readonly string[];
  /** Is there something at this absolute path? */
  readonly exists: (path: string) => boolean;
  /** Is there a file with something in it that would be lost? */
  readonly isFilled: (path: string) => boolean;
  /** With links followed. */
  readonly real: (path: string) => string;
  /** PATH of the shell that runs commands; empty where it is not known: no program is taken for one of the system. */
  readonly path: string;
  /** Was it, or something in it, there before the session? Undefined: not known. Absent: all that is there counts. */
  readonly isOld?: (path: string) => boolean | undefined;
}

export interface PlaceOptions extends Partial<Omit<Place, 'workspace' | 'cwd' | 'dataHome' | 'scratch'>> {
  readonly cwd: string;
  readonly dataHome?: string | undefined;
  readonly tempIsPrivate?: boolean;
  /** What keeps commands here; absent: the machine as it is. */
  readonly walls?: WallState;
}

/** As written and, on macOS, as they really are. */
const TEMP_FOLDERS = ['/tmp', '/var/tmp', '/private/tmp', '/private/var/tmp', '/private/var/folders'];

export function makePlace(options: PlaceOptions): Place {
  return {
    workspace: resolve(options.cwd),
    cwd: resolve(options.cwd),
    home: options.home ?? homedir(),
    path: options.path ?? '',
    ...(options.dataHome === undefined ? {} : { dataHome: options.dataHome }),
    scratch: options.tempIsPrivate ? [] : [...TEMP_FOLDERS, tmpdir()],
    exists: options.exists ?? (() => false),
    isFilled: options.isFilled ?? (() => false),
    real: options.real ?? ((path) => path),
    ...(options.walls?.kind !== 'none' && options.isOld ? { isOld: options.isOld } : {}),
  };
}

/** Absolute form of a written path, or undefined when that depends on an unknown folder. */
export function absolutePath(text: string, place: Place): string | undefined {
  if (isAbsolute(text)) return resolve(text);
  return place.cwd === undefined ? undefined : resolve(place.cwd, text);
}

export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!way.startsWith('../') && way !== '..' && !isAbsolute(way));
}

/** What a word names when it is used as a path. */
export interface Target {
  readonly path: string | undefined;
  /** Every entry of `path` and not only `path` itself (`dir/*`). */
  readonly contents: boolean;
  readonly certain: boolean;
}

/** `/etc/*` means everything in `/etc`; `/e*` may be any folder of the root. */
export function targetOf(word: ShellWord, place: Place): Target {
  const certain = word.certain;
  if (!word.glob) return { path: absolutePath(word.text, place), contents: false, certain };
  const segments = word.text.split('/');
  const at = segments.findIndex((segment) => /[*?[]/.test(segment));
  const before = segments.slice(0, at).join('/') || (word.text.startsWith('/') ? '/' : '.');
  const folder = absolutePath(before, place);
  const isAll = !/[A-Za-z0-9]/.test(segments[at] ?? '');
  if (isAll || folder === '/') return { path: folder, contents: true, certain };
  return {
    path: folder === undefined ? undefined : `${folder}/${segments.slice(at).join('/')}`,
    contents: false,
    certain,
  };
}

/** May it be written without asking? Unknown counts as no. */
export function isInWorkspace(path: string | undefined, place: Place): boolean {
  if (path === undefined) return false;
  const real = place.real(path);
  return isInScratch(real, place) || isWithin(real, place.real(place.workspace));
}

export function isInScratch(path: string, { scratch }: Place): boolean {
  return scratch.some((folder) => path !== folder && isWithin(path, folder));
}

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

type Secret = NonNullable<ReturnType<typeof secretAt>>;

/** Parts that only the running shell knows. */
const UNKNOWN_PARTS = /\$\(…\)|`…`|<\(…\)|\$…|\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])/g;
const ANYTHING = '{.*,*}';
/** `{a..z}`: which character of them is no matter. */
const RANGES = /\{\w{1,9}\.\.\w{1,9}(?:\.\.\w{1,9})?\}/g;
const MAX_PATTERN = 300;
const MAX_STARS = 8;

/** A pattern is held against a place, against a file in it, and against files that everybody has. */
const IN_HOME = [
  ...SECRET_IN_HOME.flatMap((name) => [name, `${name}/x`]),
  ...'.ssh/id_rsa .ssh/id_ed25519 .aws/credentials .kube/config .docker/config.json .config/gh/hosts.yml'.split(' '),
];
const NAMES =
  `.env .env.local .env.production .envrc id_rsa id_dsa id_ecdsa id_ed25519 credentials.json secret.yaml secrets.yml secrets.json
  secrets.toml secrets.env`.split(/\s+/);
const OF_SYSTEM = ['/etc/shadow', '/etc/gshadow', '/etc/sudoers'];
const ENVIRONS = ['1', 'self', 'thread-self', '1/task/1', 'self/task/1'].map((id) => `/proc/${id}/environ`);

/** The secret that `text`, a word with unquoted patterns or unknown parts, may name. Plain words are `secretAt`'s. */
export function hiddenSecret(text: string, place: Place): Secret | undefined {
  const marked = text.replace(RANGES, '?').replace(UNKNOWN_PARTS, ANYTHING);
  const isUnknown = marked.includes(ANYTHING);
  if (!isUnknown && !/[*?[{]/.test(marked)) return undefined;
  if (marked.length > MAX_PATTERN || marked.split('*').length > 2 * MAX_STARS) return KEYS;
  const path = absolutePath(marked, place);
  const tail = /^.*\{\.\*,\*\}[^/]*\/?(.*)$/s.exec(marked)?.[1];
  const pattern = tail === undefined ? (path ?? marked) : `**/${tail}`;
  return ownKeys(path, isUnknown, place) ?? othersKeys(pattern, marked.slice(marked.lastIndexOf('/') + 1), place);
}

const KEYS: Secret = { level: 'ask', what: 'keys or passwords' };

/** The agent's home as a whole, or something in it that nobody can name yet. */
function ownKeys(path: string | undefined, isUnknown: boolean, { dataHome }: Place): Secret | undefined {
  if (dataHome === undefined || path === undefined) return undefined;
  if (!isUnknown && matchesGlob(`${dataHome}/.env`, path)) return { level: 'never', what: "the agent's own keys" };
  const known = path.split(/\/[^/]*\{\.\*,\*\}/, 1)[0] ?? '';
  const isIn = known !== '' && matchesGlob(dataHome, known);
  return isIn ? { level: 'ask', what: "what may be the agent's own keys" } : undefined;
}

function othersKeys(pattern: string, last: string, { home }: Place): Secret | undefined {
  const fits = (path: string) => matchesGlob(path, pattern);
  if (/^e/.test(last) && ENVIRONS.some(fits)) return { level: 'ask', what: 'the environment of a process' };
  if (OF_SYSTEM.some(fits)) return { level: 'ask', what: 'passwords or keys of the system' };
  if (!/^(?:\.|\{(?!\.\*)|[^*?[{]{3})/.test(last)) return undefined;
  return NAMES.some((name) => matchesGlob(name, last)) || IN_HOME.some((name) => fits(`${home}/${name}`))
    ? KEYS
    : undefined;
}

/** The folders from `root` (left out) down to `path` (the last one); none where `path` is not inside. */
export function downTo(path: string, root: string): readonly string[] {
  const found: string[] = [];
  if (!isWithin(path, root)) return found;
  for (let at = path; at !== root; at = dirname(at)) found.unshift(at);
  return found;
}
