// Owns the filter of system calls that enclosed commands run under: what reaches past every namespace. The kernel's keys belong to a login
// and not to a view, sockets to a virtual machine's host (vsock) to no network, a ring of requests (io_uring) makes calls that no filter
// sees, and a program that runs as its owner (setuid) does so for whoever starts it outside. Knows no bubblewrap. Invariant: all else is
// allowed; a program of another word size is held to the same; what is refused as a whole looks like a kernel that has none of it.
import { existsSync, writeFileSync } from 'node:fs';
import { endianness } from 'node:os';
import { join } from 'node:path';

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
