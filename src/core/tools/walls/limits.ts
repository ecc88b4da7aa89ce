// Owns what enclosed commands may use up: processes and the disk. Knows no wall. Invariant: a guard holds no process open and ends with
// its command.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { errorCode, errorText } from '#base/errors.ts';
import { isProcessAlive } from '#base/process/holder.ts';

const EVERY_MS = 1_000;
const LEAST_BYTES = 512 * 1024 * 1024;
const LEAST_SHARE = 0.02;

export interface DiskGuardOptions {
  /** One on each disk that the command can write. */
  readonly folders: readonly string[];
  /** What only this command's wall has in its arguments. */
  readonly token: string;
  readonly clock: Clock;
  /** For tests. */
  readonly freeBytes?: (folder: string) => Promise<{ readonly free: number; readonly all: number }>;
}

/** While it stands, a disk that gets full ends the command. `stop` gives the note when that happened. */
export function guardDisk(options: DiskGuardOptions): { stop(): string | undefined } {
  const look = options.freeBytes ?? freeBytes;
  const last = new Map<string, number>();
  let isOver = false;
  let note: string | undefined;
  let cancel: () => void = () => undefined;
  const check = async () => {
    for (const folder of options.folders) {
      const { free, all } = await look(folder);
      const isFalling = free < (last.get(folder) ?? free);
      last.set(folder, free);
      if (isOver || !isFalling || free > Math.max(LEAST_BYTES, all * LEAST_SHARE)) continue;
      note = `ended: it filled the disk of ${folder} (${Math.round(free / 1_048_576)} MB are left)`;
      endMarked(options.token);
    }
    if (!isOver) next();
  };
  const next = () => {
    // A disk that cannot be asked is not guarded: the command runs on.
    cancel = options.clock.after(EVERY_MS, () => void check().catch(() => undefined));
  };
  next();
  return {
    stop() {
      isOver = true;
      cancel();
      return note;
    },
  };
}

async function freeBytes(folder: string): Promise<{ readonly free: number; readonly all: number }> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, all: blocks * bsize };
}

/** The walls of one command, by what stands in their arguments; no command behind them can see or set these. */
function endMarked(token: string): void {
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      if (readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(token)) process.kill(Number(name), 'SIGKILL');
    } catch (error) {
      if (errorCode(error) === undefined) throw error; // ended meanwhile, or somebody else's
    }
  }
}

const GROUP = 'talaria-';
const GROUPS = ['/sys/fs/cgroup/pids', '/sys/fs/cgroup'];

export interface ProcessGroup {
  /** What a process writes itself into. */
  readonly joins?: string;
  /** Why there is none. */
  readonly missing?: string;
  close(): void;
}

/** Of the system's own user the kernel counts no processes, so a control group does. For everybody else there is `ulimit -u`. */
export function groupOfRoot(most: number): ProcessGroup {
  const nothing = { close: () => undefined };
  if (process.getuid?.() !== 0) return nothing;
  const parent = GROUPS.find((path) => existsSync(join(path, 'cgroup.procs')));
  if (parent === undefined) return { ...nothing, missing: 'there is no control group for processes' };
  for (const name of readdirSync(parent).filter((one) => one.startsWith(GROUP)))
    if (!isProcessAlive(Number(name.slice(GROUP.length)))) removeGroup(join(parent, name));
  const own = join(parent, `${GROUP}${process.pid}`);
  try {
    if (!existsSync(own)) mkdirSync(own);
    writeFileSync(join(own, 'pids.max'), String(most));
  } catch (error) {
    removeGroup(own);
    return { ...nothing, missing: errorText(error) };
  }
  return { joins: join(own, 'cgroup.procs'), close: () => removeGroup(own) };
}

/** One that still holds a process stays; the next start tries again. */
function removeGroup(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
  }
}
