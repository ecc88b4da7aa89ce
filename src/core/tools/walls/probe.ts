// Owns what the machine can build: which programs there are, whether the kernel lets us, what would mend it; and the walls of macOS as text, a
// profile for sandbox-exec. That is written after Apple's published profiles and its text is tested; no machine of ours runs it. Weaker than on
// Linux: no process table and no network of its own, and HOME is another folder instead of another view. Knows no command and no session.
// Invariants: walls are reported only after one has been built; a refusal names its cause and a way out; what is closed for good stands last.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, SYSTEM_PATH } from '#base/paths/typed-path.ts';
import { isWithin } from '../risk/place.ts';
import { callFilter } from './limits.ts';
import { OTHER_SYSTEMS, SECRET_IN_HOME, SECRET_IN_SYSTEM, SHOWN_IN_HOME } from './places.rules.ts';
import type { WallState } from './walls.ts';

export interface WallTools {
  readonly state: WallState;
  /** Absolute; empty on macOS and where there are no walls. */
  readonly bwrap: string;
  /** Absent: each command has a network of its own, and no host can be opened by itself. */
  readonly nsenter?: string | undefined;
  readonly prlimit?: string | undefined;
  /** Of system calls; absent where the kernel, or bubblewrap, takes none. */
  readonly filter?: Buffer | undefined;
  /** How many processes of a plain user one session's commands may have. */
  readonly processes: number;
}

const OLDEST = '0.4';
const PROBE_MS = 10_000;
const MOST_PROCESSES = 4_096;
const UNFILTERED = "the kernel's keys of your login are not hidden";
const NAMESPACES = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net'];

export interface ProgramPlaces {
  /** Of the process; looked at after the system's own folders. */
  readonly path?: string | undefined;
  /** Folders that commands may write: no program in them is run. */
  readonly written?: readonly string[] | undefined;
  /** For tests: instead of the system's own folders. */
  readonly system?: string | undefined;
}

/** Builds one wall around `true`, or says why that cannot be. Some 20 ms. */
export function probeWalls({ path, written, system = SYSTEM_PATH }: ProgramPlaces): WallTools {
  if (process.platform === 'darwin') return probeSeatbelt();
  if (process.platform !== 'linux') return none(`walls are not built on ${process.platform}`);
  const tool = (name: string) => findOnPath(name, system, []) ?? findOnPath(name, path, written);
  const bwrap = tool('bwrap');
  if (bwrap === undefined) return none('bubblewrap is missing', installLine(path));
  const version = /\d+\.\d+[.\d]*/.exec(run(bwrap, ['--version']).text)?.[0];
  if (version === undefined) return none(`${bwrap} does not say its version`, installLine(path));
  if (isOlder(version)) return none(`bubblewrap ${version} is too old (${OLDEST} is needed)`, installLine(path));
  const filter = callFilter();
  const shell = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', ...NAMESPACES, '--cap-drop', 'ALL', '--'];
  const filtered = filter && run(bwrap, ['--seccomp', '0', ...shell, '/bin/sh', '-c', ':'], filter);
  const trial = filtered?.ok ? filtered : run(bwrap, [...shell, '/bin/sh', '-c', ':']);
  if (!trial.ok) return refused(trial.text);
  const lack = filtered?.ok
    ? ''
    : `; ${UNFILTERED} (${filtered?.text.split('\n')[0] || `no filter for ${process.arch}`})`;
  return {
    state: { kind: 'walls', detail: `bubblewrap ${version}${lack}` },
    bwrap,
    filter: filtered?.ok ? filter : undefined,
    nsenter: tool('nsenter'),
    prlimit: tool('prlimit'),
    processes: Math.min(MOST_PROCESSES, hardLimit()),
  };
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = OLDEST.split('.').map(Number);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

function run(
  program: string,
  args: readonly string[],
  input?: Buffer,
): { readonly ok: boolean; readonly text: string } {
  const ground = { timeout: PROBE_MS, cwd: '/', env: { LC_ALL: 'C' } };
  const done = spawnSync(program, args, { ...ground, encoding: 'utf8', ...(input ? { input } : {}) });
  return { ok: done.status === 0, text: `${done.stdout ?? ''}${done.stderr ?? ''}${done.error?.message ?? ''}`.trim() };
}

function none(detail: string, fix?: string): WallTools {
  return {
    state: { kind: 'none', detail, ...(fix === undefined ? {} : { fix }) },
    bwrap: '',
    processes: MOST_PROCESSES,
  };
}

const INSTALLS = ['apt install', 'dnf install', 'pacman -S', 'apk add', 'zypper install'];

function installLine(path: string | undefined): string {
  const places = `${path ?? ''}:/usr/bin:/bin:/sbin`;
  const found = INSTALLS.find((line) => findOnPath(line.split(' ')[0] ?? '', places) !== undefined);
  return `${found ?? 'apt install'} bubblewrap`;
}

const IN_CONTAINER = ['/.dockerenv', '/run/.containerenv', '/run/systemd/container'];
/** File in /proc/sys, what closes it, what opens it, and why. */
const SWITCHES = [
  ['kernel/apparmor_restrict_unprivileged_userns', '1', '0', 'AppArmor refuses user namespaces'],
  ['kernel/unprivileged_userns_clone', '0', '1', 'the kernel refuses user namespaces'],
  ['user/max_user_namespaces', '0', '15000', 'the kernel allows no user namespaces'],
] as const;

/** bubblewrap is there and new enough, and the kernel said no. */
function refused(text: string): WallTools {
  const said = text.split('\n').at(-1) ?? '';
  const [file = '', , open, why] = SWITCHES.find(([name, value]) => readSwitch(`/proc/sys/${name}`) === value) ?? [];
  if (IN_CONTAINER.some((file) => existsSync(file)))
    return none(
      `this container refuses what bubblewrap needs (${said})`,
      'talaria config set sandbox.mode machine, if the container itself may be thrown away; else start it with --security-opt seccomp=unconfined --security-opt systempaths=unconfined',
    );
  if (why !== undefined) return none(`${why} (${said})`, `sudo sysctl -w ${file.replace('/', '.')}=${open}`);
  return none(
    `bubblewrap was refused (${said})`,
    'talaria config set sandbox.mode machine, if this whole machine may be thrown away',
  );
}

function hardLimit(): number {
  const [, hard] = /^Max processes\s+\S+\s+(\d+)/m.exec(readSwitch('/proc/self/limits') ?? '') ?? [];
  return hard === undefined ? MOST_PROCESSES : Number(hard);
}

function readSwitch(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

function probeSeatbelt(): WallTools {
  const program = '/usr/bin/sandbox-exec';
  if (!existsSync(program)) return none('sandbox-exec is missing');
  const trial = run(program, ['-p', '(version 1)(allow default)', '/usr/bin/true']);
  if (!trial.ok) return none(`sandbox-exec was refused (${trial.text})`);
  return { state: { kind: 'walls', detail: 'sandbox-exec' }, bwrap: '', processes: MOST_PROCESSES };
}

export interface SeatbeltPlaces {
  readonly userHome: string;
  readonly dataHome: string;
  readonly root: string;
  /** The session's own folder: home and temporary files. */
  readonly own: string;
  readonly writable: readonly string[];
  readonly readable: readonly string[];
  /** What steers, in the folder. */
  readonly fixed: readonly string[];
  /** Single files that are hidden. */
  readonly secrets: readonly string[];
  /** Of the proxy; `open`: the machine's own network. */
  readonly network: number | 'open';
}

const DEVICES = '(regex #"^/dev/(null|zero|tty.*|fd/.*|random|urandom|ptmx|dtracehelper|stdout|stderr)$")';
/** Keys, the clipboard, other programs. */
const SERVICES = [
  'com.apple.SecurityServer',
  'com.apple.securityd.xpc',
  'com.apple.pasteboard.1',
  'com.apple.coreservices.appleevents',
];

export function seatbeltProfile(places: SeatbeltPlaces): string {
  const { userHome, own, network } = places;
  const shown = SHOWN_IN_HOME.filter(({ without }) => without === undefined).map(({ path }) => join(userHome, path));
  const secrets = [...SECRET_IN_HOME.map((name) => join(userHome, name)), ...SECRET_IN_SYSTEM, ...places.secrets];
  const named = [...places.writable, ...places.readable].filter((path) => secrets.some((one) => isWithin(path, one)));
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    `(allow file-write* ${DEVICES} ${below([...places.writable, own])})`,
    ...denied('file-write*', places.fixed),
    `(deny file-read* (regex #"^${escapeRegex(userHome)}/\\.") ${below([join(userHome, 'Library'), '/Library/Keychains'])})`,
    ...denied('file-read*', OTHER_SYSTEMS),
    `(allow file-read* ${below([...shown, own, ...places.writable, ...places.readable])})`,
    ...denied('file-read*', secrets),
    ...named.map((path) => `(allow file-read* ${below([path])})`),
    ...(network === 'open'
      ? []
      : [
          '(deny network*)',
          '(allow network-bind network-inbound (local ip "localhost:*"))',
          '(allow network-outbound (remote ip "localhost:*"))',
          `(allow network* ${places.writable
            .concat(own)
            .map((path) => `(subpath ${quoted(path)})`)
            .join(' ')})`,
        ]),
    `(deny mach-lookup ${SERVICES.map((name) => `(global-name ${quoted(name)})`).join(' ')})`,
    '(deny appleevent-send)',
    '(deny signal (target others))',
    '(deny process-info* (target others))',
    `(deny file-read* file-write* ${below([places.dataHome])})`,
  ].join('\n');
}

function denied(what: string, paths: readonly string[]): readonly string[] {
  return paths.length === 0 ? [] : [`(deny ${what} ${below(paths)})`];
}

function below(paths: readonly string[]): string {
  return paths.map((path) => `(subpath ${quoted(path)})`).join(' ');
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, (one) => `\\${one}`)}"`;
}

function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\"]/g, (one) => `\\${one}`);
}
