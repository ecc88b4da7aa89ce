// Owns what enclosed commands may ask of the kernel and use up: a filter of system calls that reach past every namespace (the kernel's keys belong
// to a login and not to a view, vsock to no network, io_uring makes calls that no filter sees, setuid serves whoever starts it outside), and how
// many processes and how much disk they get. Knows no wall. Invariants: all else is allowed; a program of another word size is held to the
// same; what is refused as a whole looks like a kernel that has none of it; a guard holds no process open and ends with its command.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { endianness } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#base/clock.ts';
import { errorText, known } from '#base/errors.ts';
import { isProcessAlive } from '#base/process/holder.ts';

/** Numbers of calls under one way to call (`AUDIT_ARCH_…`). */
interface CallTable {
  readonly arch: number;
  readonly refused: readonly number[];
  readonly socket: number;
  /** Those that set a mode, and which argument it is; `open` and its kin only where they make a file, as the argument before says. */
  readonly modes: readonly (readonly [call: number, argument: number])[];
  readonly opens: readonly (readonly [call: number, argument: number])[];
  /** Numbers from here on belong to a further way to call that nobody uses (x32). */
  readonly foreignFrom?: number;
}

const IO_URING_SETUP = 425;
const FCHMODAT2 = [452, 2] as const;
const TABLES: Readonly<Partial<Record<string, readonly CallTable[]>>> = {
  // `refused`: add_key, request_key, keyctl; in i386 also socketcall, which hides what is wanted. `modes`: chmod, fchmod, fchmodat,
  // creat, mknod, mknodat; `opens`: open, openat. mkdir takes no such mode, and what openat2 is asked for no filter can read.
  x64: [
    {
      ...{ arch: 0xc000003e, refused: [248, 249, 250, IO_URING_SETUP], socket: 41, foreignFrom: 0x40000000 },
      modes: [[90, 1], [91, 1], [268, 2], FCHMODAT2, [85, 1], [133, 1], [259, 2]],
      opens: [
        [2, 2],
        [257, 3],
      ],
    },
    {
      ...{ arch: 0x40000003, refused: [286, 287, 288, 102, IO_URING_SETUP], socket: 359 },
      modes: [[15, 1], [94, 1], [306, 2], FCHMODAT2, [8, 1], [14, 1], [297, 2]],
      opens: [
        [5, 2],
        [295, 3],
      ],
    },
  ],
  arm64: [
    {
      ...{ arch: 0xc00000b7, refused: [217, 218, 219, IO_URING_SETUP], socket: 198 },
      modes: [[52, 1], [53, 2], FCHMODAT2, [33, 2]],
      opens: [[56, 3]],
    },
    {
      ...{ arch: 0x40000028, refused: [309, 310, 311, IO_URING_SETUP], socket: 281 },
      modes: [[15, 1], [94, 1], [333, 2], FCHMODAT2, [8, 1], [14, 1], [324, 2]],
      opens: [
        [5, 2],
        [322, 3],
      ],
    },
  ],
};

const AF_VSOCK = 40;
const SETUID = 0o4000;
/** O_CREAT, O_TMPFILE. */
const MAKES = 0o20000100;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** Offsets in what the kernel shows a filter (`struct seccomp_data`); of an argument the lower half. */
const AT = { call: 0, arch: 4, arguments: 16 } as const;

/** One instruction: what to do, how many to skip when it holds and when it does not, its number. */
type Step = readonly [code: number, then: number, otherwise: number, value: number];

const load = (offset: number): Step => [0x20, 0, 0, offset];
const unless = (value: number, skip: number): Step => [0x15, 0, skip, value];
const unlessBits = (value: number, skip: number): Step => [0x45, 0, skip, value];
const unlessFrom = (value: number, skip: number): Step => [0x35, 0, skip, value];
const ALLOW: Step = [0x06, 0, 0, 0x7fff0000];
const fail = (errno: number): Step => [0x06, 0, 0, 0x00050000 | errno];

/** Refuses the call for one look of an argument, and allows it for all others. */
const whenArgument = (call: number, argument: number, [test, errno]: readonly [Step, number]): readonly Step[] => [
  ...[unless(call, 4), load(AT.arguments + 8 * argument), test, fail(errno)],
  ALLOW,
];

const whenMade = (call: number, argument: number): readonly Step[] => [
  ...[unless(call, 6), load(AT.arguments + 8 * (argument - 1)), unlessBits(MAKES, 3)],
  ...[load(AT.arguments + 8 * argument), unlessBits(SETUID, 1), fail(EPERM)],
  ALLOW,
];

function stepsOf({ arch, refused, socket, modes, opens, foreignFrom }: CallTable): readonly Step[] {
  const body = [
    load(AT.call),
    ...(foreignFrom === undefined ? [] : [unlessFrom(foreignFrom, 1), fail(ENOSYS)]),
    ...refused.flatMap((call) => [unless(call, 1), fail(ENOSYS)]),
    ...modes.flatMap(([call, argument]) => whenArgument(call, argument, [unlessBits(SETUID, 1), EPERM])),
    ...opens.flatMap(([call, argument]) => whenMade(call, argument)),
    ...whenArgument(socket, 0, [unless(AF_VSOCK, 1), EAFNOSUPPORT]),
    ALLOW,
  ];
  return [unless(arch, body.length), ...body];
}

/** The program as the kernel reads it; undefined for a processor that has no table. */
export function callFilter(processor: string = process.arch): Buffer | undefined {
  const tables = TABLES[processor];
  if (!tables || endianness() !== 'LE') return undefined;
  const steps = [load(AT.arch), ...tables.flatMap(stepsOf), fail(ENOSYS)];
  const bytes = Buffer.alloc(steps.length * 8);
  for (const [at, [code, then, otherwise, value]] of steps.entries()) {
    bytes.writeUInt16LE(code, at * 8);
    bytes.writeUInt8(then, at * 8 + 2);
    bytes.writeUInt8(otherwise, at * 8 + 3);
    bytes.writeUInt32LE(value, at * 8 + 4);
  }
  return bytes;
}

/** The file that bubblewrap reads it from, in a folder that no command sees. */
export function filterFile(root: string, filter: Buffer): string {
  const path = join(root, 'filter');
  if (!existsSync(path)) writeFileSync(path, filter, { mode: 0o600 });
  return path;
}

const EVERY_MS = 1_000;
const LEAST_BYTES = 512 * 1024 * 1024;
const LEAST_SHARE = 0.02;

/**
 * While it stands, a disk that gets full ends the command; what is returned ends it, and gives the note when that happened. `folders`: one on
 * each disk that the command can write. `token`: what only this command's wall has in its arguments.
 */
export function guardDisk(
  folders: readonly string[],
  token: string,
  clock: Clock,
  look = freeBytes,
): () => string | undefined {
  const last = new Map<string, number>();
  let isOver = false;
  let note: string | undefined;
  let cancel: () => void = () => undefined;
  const check = async () => {
    for (const folder of folders) {
      const { free, all } = await look(folder);
      const isFalling = free < (last.get(folder) ?? free);
      last.set(folder, free);
      if (isOver || !isFalling || free > Math.max(LEAST_BYTES, all * LEAST_SHARE)) continue;
      note = `ended: it filled the disk of ${folder} (${Math.round(free / 1_048_576)} MB are left)`;
      endMarked(token);
    }
    if (!isOver) next();
  };
  const next = () => {
    // A disk that cannot be asked is not guarded: the command runs on.
    cancel = clock.after(EVERY_MS, () => void check().catch(() => undefined));
  };
  next();
  return () => {
    isOver = true;
    cancel();
    return note;
  };
}

async function freeBytes(folder: string): Promise<{ readonly free: number; readonly all: number }> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, all: blocks * bsize };
}

/** The walls of one command, by what stands in their arguments; no command behind them can see or set these. */
function endMarked(token: string): void {
  // Undefined for one that ended meanwhile, or is somebody else's.
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one)))
    known(() => {
      if (readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(token)) process.kill(Number(name), 'SIGKILL');
    });
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
  known(() => rmdirSync(path));
}
