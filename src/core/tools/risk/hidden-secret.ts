// Owns what a word may become when the shell expands it: a pattern or an unknown part in a path is held against what is protected.
// Knows no program. Invariant: never throws, bounded work; a doubt counts as a match, but `*.md` and its kin never name a secret.
import { matchesGlob } from 'node:path';
import { SECRET_IN_HOME } from '../walls/secret-places.rules.ts';
import type { secretAt } from './path-rules.ts';
import { absolutePath, type Place } from './place.ts';

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
