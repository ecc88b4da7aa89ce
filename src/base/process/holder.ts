// Owns who another process is: the name of one that holds a lock or a lease, whether that very process still lives, and whether it started this one.
// Knows no lock. Invariants: a number that was given again, a reboot and another container are never taken for the holder; of another machine nobody
// here can tell, so there a heartbeat decides; what is told rests on what the system says of processes, where it says nothing, no.
import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { errorCode, known } from '../errors.ts';

/** `alive`: this very process runs. `gone`: it ended. `unknown`: it is, or was, where this machine cannot look. */
export type HolderState = 'alive' | 'gone' | 'unknown';

/** A part that cannot be told here. */
const UNTOLD = '-';

let own: string | undefined;

/** `<pid> <host> <boot> <start> <pid namespace>`: no other process of any machine has the same. */
export function holderName(): string {
  own ??= [process.pid, hostname() || UNTOLD, bootId(), startOf(process.pid) ?? UNTOLD, namespaceId()].join(' ');
  return own;
}

/** @param name what `holderName` gave; of an older one, a number and a host, only the number is looked at */
export function holderState(name: string): HolderState {
  const [pid = '', host, boot, start = UNTOLD, namespace] = name.trim().split(' ');
  const [, ownHost, ownBoot, , ownNamespace] = holderName().split(' ');
  if (!/^\d+$/.test(pid)) return 'gone';
  if (host !== ownHost) return 'unknown';
  if (differ(boot, ownBoot)) return 'gone';
  if (differ(namespace, ownNamespace)) return 'unknown';
  const present = startOf(Number(pid));
  return present === undefined || differ(present, start) ? 'gone' : 'alive';
}

/** For people: `process 12 on host`. */
export function holderWords(name: string): string {
  const [pid, host] = name.trim().split(' ');
  return `process ${pid} on ${host ?? 'this machine'}`;
}

/** Do both count their uptime from the same start? */
export function isOfThisBoot(name: string): boolean {
  const [, host, boot = UNTOLD] = name.trim().split(' ');
  const [, ownHost, ownBoot] = holderName().split(' ');
  return host === ownHost && boot === ownBoot && boot !== UNTOLD;
}

function differ(one: string | undefined, other: string | undefined): boolean {
  return (one ?? UNTOLD) !== UNTOLD && (other ?? UNTOLD) !== UNTOLD && one !== other;
}

/** When the process started, in words of this machine; undefined when there is none, or only what a parent has not yet collected. */
function startOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    const stat = readText(`/proc/${pid}/stat`);
    if (stat !== '') {
      const [state = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return state === 'Z' || state === 'X' ? undefined : (rest[18] ?? UNTOLD);
    }
  }
  if (!isProcessAlive(pid)) return undefined;
  if (process.platform !== 'darwin') return UNTOLD;
  return said('ps', ['-o', 'lstart=', '-p', String(pid)]) ?? UNTOLD;
}

function bootId(): string {
  if (process.platform === 'linux') return readText('/proc/sys/kernel/random/boot_id').trim() || UNTOLD;
  if (process.platform === 'darwin') return said('sysctl', ['-n', 'kern.bootsessionuuid']) ?? UNTOLD;
  return UNTOLD;
}

function namespaceId(): string {
  if (process.platform !== 'linux') return UNTOLD;
  return known(() => readlinkSync('/proc/self/ns/pid'))?.replaceAll(/\D/g, '') || UNTOLD;
}

function said(program: string, words: readonly string[]): string | undefined {
  const { stdout, status } = spawnSync(program, words, {
    encoding: 'utf8',
    env: { LC_ALL: 'C', PATH: '/usr/sbin:/usr/bin:/bin' },
  });
  return status === 0 && stdout.trim() !== '' ? stdout.trim().replaceAll(/\s+/g, '_') : undefined;
}

/** Does a process with this id exist on this machine (also one that we may not signal)? */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Node keeps what it compiled in a folder of its version below the one that is named. */
export function threadVariables(): Readonly<Record<string, string>> {
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

interface Facts {
  readonly parent: number;
  /** Commands are started in sessions of their own, and no process gets back into one that it has left. */
  readonly session: number;
  readonly hasTerminal: boolean;
  /** Since the machine started, in whatever unit; with `group` absent where nobody tells. */
  readonly started?: number;
  /** The system's name for what was started together: a login, a service. */
  readonly group?: string;
}

type Look = (pid: number) => Facts | undefined;

/** Was this process started by a command that `holder` started? */
export function isCommandOf(holder: number, self = process.pid): boolean {
  const look = process.platform === 'linux' ? linuxFacts : process.platform === 'darwin' ? macFacts() : () => undefined;
  const [own, other] = [look(self), look(holder)];
  if (!own || !other || self === holder || own.session === other.session) return false;
  const line = lineOf(self, look);
  return line.includes(holder) || (!own.hasTerminal && isLetGo({ line, holder, look }));
}

/** From the process itself up to the first one. */
function lineOf(pid: number, look: Look): readonly number[] {
  const line: number[] = [];
  for (let at = pid; at > 0 && !line.includes(at); at = look(at)?.parent ?? 0) line.push(at);
  return line;
}

interface Orphan {
  readonly line: readonly number[];
  readonly holder: number;
  readonly look: Look;
}

/** Its own parents are gone: the first process took it over, or another that is above the holder too and takes in what is left. */
function isLetGo({ line, holder, look }: Orphan): boolean {
  const above = lineOf(holder, look);
  const at = line.findIndex((pid) => above.includes(pid));
  const keeper = line[at];
  const eldest = line[at - 1];
  if (keeper === undefined || eldest === undefined || !(keeper === 1 || isKeeper(keeper))) return false;
  const [top, held] = [look(eldest), look(holder)];
  if (top?.started === undefined || held?.started === undefined) return false;
  return top.session !== held.session && top.started >= held.started && top.group === held.group;
}

function isKeeper(pid: number): boolean {
  return /^(?:systemd|init|launchd|tini|dumb-init|docker-init|catatonit)$/.test(readText(`/proc/${pid}/comm`).trim());
}

/** Places behind the name of the program, which may hold anything. */
const STAT = { parent: 1, session: 3, terminal: 4, started: 19 } as const;

function linuxFacts(pid: number): Facts | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === '') return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const at = (field: keyof typeof STAT) => Number(fields[STAT[field]]);
  const group = readText(`/proc/${pid}/cgroup`);
  return {
    parent: at('parent'),
    session: at('session'),
    hasTerminal: at('terminal') !== 0,
    started: at('started'),
    group,
  };
}

/** One look at all of them. Its `sess` says nothing, so the process group stands for the session: commands lead groups too. */
function macFacts(): Look {
  const { stdout = '' } = spawnSync('/bin/ps', ['-axo', 'pid=,ppid=,pgid=,tty='], { encoding: 'utf8', env: {} });
  const rows = stdout.split('\n').map((row) => row.trim().split(/\s+/));
  const facts = rows.map(([pid, parent, group, terminal]) => {
    return [Number(pid), { parent: Number(parent), session: Number(group), hasTerminal: terminal !== '??' }] as const;
  });
  const byId = new Map<number, Facts>(facts);
  return (pid) => byId.get(pid);
}

/** Empty for a process that has ended, or belongs to somebody else who hides it. */
function readText(path: string): string {
  return known(() => readFileSync(path, 'utf8')) ?? '';
}
