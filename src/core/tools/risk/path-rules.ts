// Owns what paths mean as data: system folders, devices, vital files, secrets, the agent's own files, files that steer a later run.
// Knows no command and no tool; both the terminal's and the file tools' rules read it. Paths are absolute and normalised.
import { isWithin, type Place } from './place.ts';

/** Folders whose contents belong to the system as a whole: nothing in them is deleted recursively, ever. */
const SYSTEM_TREES = [
  '/etc',
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/boot',
  '/dev',
  '/proc',
  '/sys',
  '/System',
  '/Library',
];
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

/** A disk, memory or port: writing to it destroys what no file system protects. */
export function isRawDevice(path: string): boolean {
  return /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|dm-|md|mapper\/|loop|nbd|sr|mem$|kmem$|port$|mtd)/.test(path);
}

const HARMLESS_DEVICES = /^\/dev\/(?:null|zero|full|u?random|tty\d*|std(?:in|out|err)|fd\/\d+|pts\/\d+|ptmx|shm\/.+)$/;

export function isHarmlessDevice(path: string): boolean {
  return HARMLESS_DEVICES.test(path);
}

/** Files without which nobody can log in or the machine does not start. */
export function isVitalFile(path: string): boolean {
  return (
    /^\/(?:private\/)?etc\/(?:passwd|shadow|gshadow|group|sudoers|sudoers\.d\/.*|fstab|crypttab|ld\.so\.preload|pam\.d\/.*)$/.test(
      path,
    ) ||
    /^\/(?:boot|efi)\//.test(path) ||
    path === '/proc/sysrq-trigger'
  );
}

const SECRET_IN_HOME: readonly RegExp[] = [
  /^\.ssh(?:$|\/(?!known_hosts|config$|.*\.pub$))/,
  /^\.gnupg(?:$|\/)/,
  /^\.aws(?:$|\/credentials)/,
  /^\.azure(?:$|\/)/,
  /^\.kube\/config$/,
  /^\.docker\/config\.json$/,
  /^\.config\/(?:gh\/hosts\.yml|gcloud(?:$|\/)|op(?:$|\/)|sops(?:$|\/))/,
  /^\.local\/share\/keyrings/,
  /^\.password-store/,
  /^\.(?:netrc|pgpass|npmrc|pypirc|git-credentials|my\.cnf|vault-token)$/,
  /^\.(?:cargo\/credentials(?:\.toml)?|gem\/credentials|m2\/settings\.xml)$/,
  /^(?:Library\/Keychains|\.mozilla|\.config\/(?:google-chrome|chromium))(?:$|\/)/,
];
const SECRET_NAMES =
  /^(?:\.env(?:\.(?!example$|sample$|template$|dist$|defaults$)[\w-]+)*|\.envrc|id_(?:rsa|dsa|ecdsa|ed25519)|.*\.(?:pfx|p12|keystore|jks|kdbx)|credentials\.json|service[-_]account.*\.json|secrets?\.(?:ya?ml|json|toml|env))$/;

/** What kind of secret lives here, or undefined. `never`: the agent's own keys, which no answer gives away. */
export function secretAt(
  path: string,
  place: Place,
): { readonly level: 'ask' | 'never'; readonly what: string } | undefined {
  if (place.dataHome !== undefined && path === `${place.dataHome}/.env`)
    return { level: 'never', what: "the agent's own keys" };
  if (place.dataHome !== undefined && isWithin(path, `${place.dataHome}/checkpoints`))
    return { level: 'ask', what: 'copies of your files' };
  if (/^\/(?:private\/)?etc\/(?:g?shadow|sudoers|ssl\/private\/.*|ssh\/ssh_host_.*_key)$/.test(path)) {
    return { level: 'ask', what: 'passwords or keys of the system' };
  }
  if (/^\/proc\/[^/]+(?:\/task\/[^/]+)?\/environ$/.test(path))
    return { level: 'ask', what: 'the environment of a process' };
  const inHome = isWithin(path, place.home) ? path.slice(place.home.length + 1) : undefined;
  if (inHome !== undefined && SECRET_IN_HOME.some((pattern) => pattern.test(inHome)))
    return { level: 'ask', what: 'keys or passwords' };
  const name = path.slice(path.lastIndexOf('/') + 1);
  return SECRET_NAMES.test(name) ? { level: 'ask', what: 'keys or passwords' } : undefined;
}

const OWN_ENTRIES: readonly { readonly entry: RegExp; readonly instead: string }[] = [
  { entry: /^memories(?:\/|$)/, instead: 'memory files are written only by the memory tool' },
  { entry: /^skills(?:\/|$)/, instead: 'skills are written only by the skill tools' },
  { entry: /^\.env/, instead: 'keys are written only by the owner, with `talaria setup` or `/model add`' },
  { entry: /^config\.yaml/, instead: 'the configuration is changed only by the owner, with `talaria config set`' },
  {
    entry: /^(?:state\.db|evidence\.sqlite|rlm\/|golems\/|meta\/|library\/|market\/|peers\/)/,
    instead: 'this is a record that only the agent itself keeps',
  },
  {
    entry: /^(?:pending|backups|checkpoints|logs)(?:\/|$)/,
    instead: 'this is a record that only the agent itself keeps',
  },
  { entry: /^SOUL\.md$/, instead: 'the identity is changed only by the owner' },
];

/** Why the agent's own file at `path` may not be written by a general tool, and what may; undefined for any other path. */
export function ownFileAt(path: string, place: Place): string | undefined {
  if (place.dataHome === undefined || !isWithin(path, place.dataHome)) return undefined;
  const inside = path.slice(place.dataHome.length + 1);
  if (inside === '') return "the agent's home as a whole";
  return OWN_ENTRIES.find(({ entry }) => entry.test(inside))?.instead;
}

const STEERING: readonly { readonly pattern: RegExp; readonly what: string }[] = [
  {
    pattern: /\/(?:\.talaria\.md|AGENTS\.md|CLAUDE\.md|SOUL\.md|GEMINI\.md|\.cursorrules)$/i,
    what: 'instructions of later sessions',
  },
  {
    pattern:
      /\/\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zprofile|zlogin|kshrc|xprofile|xinitrc)$/,
    what: 'what every shell runs at its start',
  },
  { pattern: /\/\.ssh\/(?:authorized_keys2?|config|rc)$/, what: 'who may log in' },
  { pattern: /\/\.git\/(?:hooks\/|config$)/, what: 'what git runs by itself' },
  { pattern: /\/\.config\/(?:autostart|systemd)\//, what: 'what starts by itself' },
  { pattern: /\/(?:\.gitconfig|\.npmrc|\.pip\/pip\.conf)$/, what: 'how tools behave' },
  { pattern: /^\/etc\/cron|^\/var\/spool\/cron/, what: 'what runs by itself' },
];

/** What writing here would steer later, or undefined. */
export function steersLater(path: string): string | undefined {
  return STEERING.find(({ pattern }) => pattern.test(path))?.what;
}
