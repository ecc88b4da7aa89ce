// Owns what the machine can build: which programs there are, whether the kernel lets us, and what would mend it.
// Knows no command. Invariant: walls are reported only after one has been built; a refusal names its cause and a way out.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { findOnPath, SYSTEM_PATH } from '#base/paths/find-on-path.ts';
import { callFilter } from './call-filter.ts';
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

const INSTALLERS: readonly (readonly [program: string, line: string])[] = [
  ['apt', 'apt install bubblewrap'],
  ['dnf', 'dnf install bubblewrap'],
  ['pacman', 'pacman -S bubblewrap'],
  ['apk', 'apk add bubblewrap'],
  ['zypper', 'zypper install bubblewrap'],
];

function installLine(path: string | undefined): string {
  const found = INSTALLERS.find(([program]) => findOnPath(program, `${path ?? ''}:/usr/bin:/bin:/sbin`) !== undefined);
  return found?.[1] ?? 'apt install bubblewrap';
}

const IN_CONTAINER = ['/.dockerenv', '/run/.containerenv', '/run/systemd/container'];
const SWITCHES: readonly (readonly [file: string, closed: string, why: string, fix: string])[] = [
  [
    '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
    '1',
    'AppArmor refuses user namespaces',
    'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
  ],
  [
    '/proc/sys/kernel/unprivileged_userns_clone',
    '0',
    'the kernel refuses user namespaces',
    'sudo sysctl -w kernel.unprivileged_userns_clone=1',
  ],
  [
    '/proc/sys/user/max_user_namespaces',
    '0',
    'the kernel allows no user namespaces',
    'sudo sysctl -w user.max_user_namespaces=15000',
  ],
];

/** bubblewrap is there and new enough, and the kernel said no. */
function refused(text: string): WallTools {
  const said = text.split('\n').at(-1) ?? '';
  const closed = SWITCHES.find(([file, value]) => readSwitch(file) === value);
  if (IN_CONTAINER.some((file) => existsSync(file)))
    return none(
      `this container refuses what bubblewrap needs (${said})`,
      'talaria config set sandbox.mode machine, if the container itself may be thrown away; else start it with --security-opt seccomp=unconfined --security-opt systempaths=unconfined',
    );
  if (closed) return none(`${closed[2]} (${said})`, closed[3]);
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
