// Owns what a word may become when the shell expands it: a pattern or a variable in a path is held against every protected path.
// Knows no program. Invariant: never throws, no backtracking; a doubt counts as a match, but `*.md` and its kin never name a secret.
import type { secretAt } from './path-rules.ts';
import { absolutePath, type Place } from './place.ts';

type Secret = NonNullable<ReturnType<typeof secretAt>>;

/** Stands for a part that only the running shell knows. */
const UNKNOWN = '\uE010';
const UNKNOWN_PARTS = /\{[^{}]*,[^{}]*\}|\$\(…\)|`…`|<\(…\)|\$…|\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])/g;

/** `{a..z}`: which character of them is no matter. */
const RANGES = /\{\w{1,9}\.\.\w{1,9}(?:\.\.\w{1,9})?\}/g;

/** Below the owner's home; those of FOLDERS hold secrets at any depth. */
const FOLDERS = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.config/gcloud',
  '.config/op',
  '.config/sops',
  '.config/google-chrome',
  '.config/chromium',
  '.local/share/keyrings',
  '.password-store',
  '.mozilla',
  'Library/Keychains',
];
const FILES = [
  '.kube/config',
  '.docker/config.json',
  '.config/gh/hosts.yml',
  '.netrc',
  '.pgpass',
  '.npmrc',
  '.pypirc',
  '.git-credentials',
  '.my.cnf',
  '.vault-token',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.m2/settings.xml',
];
/** Anywhere. A pattern must begin as they do, with three characters unless the name is hidden. */
const NAMES = [
  '.env',
  '.env.local',
  '.env.production',
  '.envrc',
  'id_rsa',
  'id_dsa',
  'id_ecdsa',
  'id_ed25519',
  'credentials.json',
  'secret.yaml',
  'secrets.yml',
  'secrets.json',
  'secrets.toml',
  'secrets.env',
];
const OF_SYSTEM = ['/etc/shadow', '/etc/gshadow', '/etc/sudoers'];

/** The secret that `text`, a word with unquoted patterns or unknown parts, may name. Plain words are `secretAt`'s. */
export function hiddenSecret(text: string, place: Place): Secret | undefined {
  const marked = text.replace(RANGES, '?').replace(UNKNOWN_PARTS, UNKNOWN);
  const isUnknown = marked.includes(UNKNOWN);
  if (!isUnknown && !/[*?[]/.test(marked)) return undefined;
  const path = absolutePath(marked, place);
  const way = (path ?? marked).split('/').filter((segment) => segment !== '');
  if (path !== undefined && isInOwnHome(way, place)) return { level: 'ask', what: "what may be the agent's own keys" };
  return isUnknown ? behindUnknown(way, marked) : behindPattern(way, place);
}

/** The agent's home as a whole, or something in it that nobody can name yet. */
function isInOwnHome(way: readonly string[], { dataHome }: Place): boolean {
  if (dataHome === undefined) return false;
  const at = way.findIndex((segment) => segment.includes(UNKNOWN));
  return fits(at < 0 ? way : way.slice(0, at), dataHome);
}

function behindPattern(way: readonly string[], place: Place): Secret | undefined {
  if (place.dataHome !== undefined && fits(way, `${place.dataHome}/.env`))
    return { level: 'never', what: "the agent's own keys" };
  if (isEnviron(way)) return ENVIRON;
  if (OF_SYSTEM.some((path) => fits(way, path))) return { level: 'ask', what: 'passwords or keys of the system' };
  const inHome = FILES.some((path) => fits(way, `${place.home}/${path}`));
  const below = FOLDERS.some((path) => fitsBelow(way, `${place.home}/${path}`));
  return inHome || below || fitsName(way.at(-1) ?? '') ? KEYS : undefined;
}

const ENVIRON: Secret = { level: 'ask', what: 'the environment of a process' };
const KEYS: Secret = { level: 'ask', what: 'keys or passwords' };

/** Only what follows the unknown part counts; where it begins is anybody's guess. */
function behindUnknown(way: readonly string[], marked: string): Secret | undefined {
  if (!marked.startsWith(UNKNOWN) && isEnviron(way)) return ENVIRON;
  const tail = tailOf(way);
  const last = tail.at(-1) ?? '';
  if (last.startsWith('env') && segmentFits(last, 'environ')) return ENVIRON;
  if (fitsName(last)) return KEYS;
  const named = FILES.some((file) => fits(tail, file)) || FOLDERS.some((folder) => fitsBelow(tail, folder));
  return named && !/^[*?[]/.test(tail[0] ?? '') ? KEYS : undefined;
}

function tailOf(way: readonly string[]): readonly string[] {
  return way.slice(way.findLastIndex((segment) => segment.includes(UNKNOWN)) + 1);
}

/** `/proc/<anything>/environ`, also of a task. */
function isEnviron(way: readonly string[]): boolean {
  const isProcess = segmentFits(way[0] ?? '', 'proc') && (way.length === 3 || way.length === 5);
  return isProcess && segmentFits(way.at(-1) ?? '', 'environ');
}

function fitsName(pattern: string): boolean {
  const start = /^[^*?[\uE010]*/.exec(pattern)?.[0] ?? '';
  return (start.length >= 3 || start.startsWith('.')) && NAMES.some((name) => segmentFits(pattern, name));
}

function fits(way: readonly string[], path: string): boolean {
  const segments = path.split('/').filter((segment) => segment !== '');
  return way.length === segments.length && segments.every((segment, i) => segmentFits(way[i] ?? '', segment));
}

function fitsBelow(way: readonly string[], folder: string): boolean {
  return fits(way.slice(0, folder.split('/').filter((segment) => segment !== '').length), folder);
}

/** As the shell matches: a hidden name needs its dot written. The last star takes one character more whenever the rest does not fit. */
function segmentFits(pattern: string, name: string): boolean {
  if (name.startsWith('.') && /^[*?[]/.test(pattern)) return false;
  const parts = partsOf(pattern);
  let at = 0;
  let star = -1;
  let taken = 0;
  for (let i = 0; i < name.length; ) {
    if (isOpen(parts[at])) {
      star = at;
      taken = i;
      at += 1;
    } else if (isOne(parts[at], name[i])) {
      at += 1;
      i += 1;
    } else {
      if (star < 0) return false;
      at = star + 1;
      taken += 1;
      i = taken;
    }
  }
  return parts.slice(at).every(isOpen);
}

function isOpen(part: string | undefined): boolean {
  return part === '*' || part === UNKNOWN;
}

function isOne(part: string | undefined, char: string | undefined): boolean {
  return part !== undefined && (part === '?' || part.length > 1 || part === char);
}

/** Characters and wildcards; a bracket expression, of whatever it holds, is one part. */
function partsOf(pattern: string): readonly string[] {
  const parts: string[] = [];
  for (let at = 0; at < pattern.length; ) {
    const part = BRACKET.exec(pattern.slice(at, at + MAX_BRACKET))?.[0] ?? pattern[at] ?? '';
    if (part !== '*' || parts.at(-1) !== '*') parts.push(part);
    at += part.length;
  }
  return parts;
}

const MAX_BRACKET = 60;
const BRACKET = /^\[[!^]?\]?(?:\[[:.=][\w.=:-]{1,12}[:.=]\]|[^\]])*\]/;
