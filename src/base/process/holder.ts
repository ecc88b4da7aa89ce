// Owns the name of a process that holds a lock or a lease, and whether that very process still lives. Knows no lock.
// Invariant: a number that was given again, a reboot and another container are never taken for the holder; of another machine nobody here can
// tell, so there a heartbeat decides.
import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { errorCode } from '../errors.ts';

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
    const stat = readOrNothing(`/proc/${pid}/stat`);
    if (stat !== undefined) {
      const [state = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return state === 'Z' || state === 'X' ? undefined : (rest[18] ?? UNTOLD);
    }
  }
  if (!isProcessAlive(pid)) return undefined;
  if (process.platform !== 'darwin') return UNTOLD;
  return said('ps', ['-o', 'lstart=', '-p', String(pid)]) ?? UNTOLD;
}

function bootId(): string {
  if (process.platform === 'linux') return readOrNothing('/proc/sys/kernel/random/boot_id')?.trim() || UNTOLD;
  if (process.platform === 'darwin') return said('sysctl', ['-n', 'kern.bootsessionuuid']) ?? UNTOLD;
  return UNTOLD;
}

function namespaceId(): string {
  if (process.platform !== 'linux') return UNTOLD;
  try {
    return readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '') || UNTOLD;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return UNTOLD;
  }
}

function readOrNothing(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
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
