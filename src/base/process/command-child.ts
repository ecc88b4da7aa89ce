// Owns one started command as `base/process` sees it, and the plain way to start one: a child of this process, leader of a group and of a
// session of its own. Knows no time-out and no capture. Invariant: `exit` and `closed` always settle, whatever becomes of the command.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { errorCode, TalariaError } from '../errors.ts';

export interface CommandRequest {
  /** Program and arguments; nothing is interpreted by a shell unless the program is one. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Text given on standard input, which is then closed; without it standard input is empty. */
  readonly stdin?: string;
  /** Standard input stays open, for who started it to write to. Not over the helper. */
  readonly converses?: true;
  /** A file that a process writes itself into to belong to a control group, which it and all that it starts then belong to; empty: none. */
  readonly joins?: string;
  /** Paths, opened for reading and handed over as descriptors 3, 4, …; without them no file but its streams is. */
  readonly files?: readonly string[];
  /** The program only holds another one, and falls at a signal that the other might handle: only SIGKILL is for both. */
  readonly holdsAnother?: boolean;
}

export type CommandExit =
  | { readonly code: number | null; readonly signal: NodeJS.Signals | null }
  /** Why it never started. */
  | { readonly error: unknown }
  /** Who started it died. */
  | { readonly lost: true };

export interface CommandChild {
  /** Undefined until it has started. */
  readonly pid: number | undefined;
  /** Of one that converses. */
  readonly input?: Writable | null;
  readonly exit: Promise<CommandExit>;
  /** Both streams are at their end. */
  readonly closed: Promise<true>;
  hear(listener: (chunk: Buffer, stream: 'out' | 'err') => void): void;
  /** Signals its group, or as soon as there is one. */
  kill(name: NodeJS.Signals): void;
  /** Nothing of it is heard from now on. */
  release(): void;
}

const JOIN = 'echo $$ > "$0" && exec "$@"';

/** Throws what `spawn` throws for arguments that no program can get, and for a file that cannot be opened. */
export function spawnGroup(request: CommandRequest): ChildProcess {
  const { joins } = request;
  const [program = '', ...args] = !joins ? request.argv : ['/bin/sh', '-c', JOIN, joins, ...request.argv];
  const input = request.stdin === undefined && !request.converses ? 'ignore' : 'pipe';
  const files = openChildFiles([input, 'pipe', 'pipe'], request.files);
  const options = { cwd: request.cwd, env: { ...request.env }, detached: true, windowsHide: true };
  let child: ChildProcess;
  try {
    child = spawn(program, args, { ...options, stdio: files.stdio });
  } finally {
    files.close();
  }
  // A child that does not read its input closes the pipe; that is its right.
  child.stdin?.on('error', () => child.stdin?.destroy());
  if (!request.converses) child.stdin?.end(request.stdin);
  return child;
}

/** True when somebody got the signal. */
export function signalGroup(pid: number | undefined, name: NodeJS.Signals | 0): boolean {
  return pid !== undefined && isSignalled(-pid, name);
}

function isSignalled(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if (errorCode(error) === 'ESRCH' || errorCode(error) === 'EPERM') return false;
    throw error;
  }
}

/** True when somebody got the signal: all of the group, or those behind a leader that only holds them. */
export function signalCommand(
  pid: number | undefined,
  name: NodeJS.Signals,
  { holdsAnother }: CommandRequest,
): boolean {
  const held = pid !== undefined && holdsAnother && name !== 'SIGKILL' ? livingMembers(pid) : undefined;
  const behind = held?.filter((member) => member !== pid) ?? [];
  if (behind.length === 0) return signalGroup(pid, name);
  return behind.map((member) => isSignalled(member, name)).includes(true);
}

/**
 * Zombies answer to signals, and in a container nobody may ever collect them: on Linux the process table has the truth. Who came later has
 * a higher number, until the numbers begin anew. Undefined where there is no such table.
 */
export function livingMembers(leader: number): readonly number[] | undefined {
  if (process.platform !== 'linux') return undefined;
  const newest = Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[4]);
  const from = newest >= leader ? leader : 0;
  const later = readdirSync('/proc').filter((name) => Number(name) >= from);
  return later.filter((name) => isLivingMember(name, String(leader))).map(Number);
}

function isLivingMember(pid: string, group: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return pgrp === group && state !== 'Z' && state !== 'X';
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ESRCH') return false;
    throw error;
  }
}

export function closePipes(child: ChildProcess): void {
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
}

/** Throws as `spawnGroup`. */
export function plainChild(request: CommandRequest): CommandChild {
  const child = spawnGroup(request);
  return {
    pid: child.pid,
    input: child.stdin,
    exit: new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
      child.on('error', (error) => {
        if (child.pid === undefined) resolve({ error });
      });
    }),
    closed: new Promise((resolve) => child.once('close', () => resolve(true))),
    hear(listener) {
      for (const name of ['out', 'err'] as const)
        child[`std${name}`]?.on('data', (chunk: Buffer) => listener(chunk, name));
    },
    kill: (name) => void signalCommand(child.pid, name, request),
    release: () => closePipes(child),
  };
}

// Which open files a command gets: its three streams and those that its request names, never one that this process was itself given
// when it started. Node closes those on the way only up to the first free number: `flock 200>lock` in the script of a timer lies beyond.
// Knows no wall. Invariant: nothing of this process is closed or moved; where a command would find a file of others, it finds one that
// is empty. (macOS: the system itself hands on nothing else.)

type Stream = 'ignore' | 'pipe' | number;

export interface ChildFiles {
  /** By descriptor. */
  readonly stdio: Stream[];
  /** Once the child has its own. */
  close(): void;
}

let given: readonly number[] | undefined;

/** @param files opened for reading, as descriptors 3, 4, …; throws as `openSync` */
function openChildFiles(streams: readonly Stream[], files: readonly string[] = []): ChildFiles {
  given ??= givenFiles();
  const opened: number[] = [];
  const close = () => {
    for (const descriptor of opened.splice(0)) closeSync(descriptor);
  };
  const open = (path: string) => {
    const descriptor = openSync(path, 'r');
    opened.push(descriptor);
    return descriptor;
  };
  try {
    const stdio: Stream[] = [...streams, ...files.map(open)];
    const covered = given.filter((one) => one >= stdio.length);
    const nothing = covered.length === 0 ? 'ignore' : open('/dev/null');
    for (const descriptor of covered) {
      while (stdio.length < descriptor) stdio.push('ignore'); // what is free stays free
      stdio.push(nothing);
    }
    return { stdio, close };
  } catch (error) {
    close();
    throw error;
  }
}

const CLOSES_ON_EXEC = 0o2000000;

/** In rising order. All that Node opens itself closes on the way, so what does not was there before. */
function givenFiles(): readonly number[] {
  if (process.platform !== 'linux') return [];
  const open = readdirSync('/proc/self/fd').map(Number);
  return open.filter((descriptor) => descriptor > 2 && isHandedOn(descriptor)).sort((a, b) => a - b);
}

function isHandedOn(descriptor: number): boolean {
  try {
    const [, flags = ''] = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? [];
    return (Number.parseInt(flags, 8) & CLOSES_ON_EXEC) === 0;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false; // the list itself, read and closed
    throw error;
  }
}

export const FRAME = {
  /** From the helper: it can be used. */
  ready: 1,
  /** To the helper: a request. */
  start: 2,
  /** From the helper: it has the request and starts it next. Without it nothing was started. */
  taken: 3,
  started: 4,
  failed: 5,
  out: 6,
  err: 7,
  exit: 8,
  closed: 9,
  /** To the helper: nobody listens to this command any more. */
  release: 10,
} as const;

export interface Frame {
  readonly kind: number;
  /** Which command. */
  readonly id: number;
  readonly body: Buffer;
}

const HEAD = 4;
const KIND_AND_ID = 5;

export function frameOf(kind: number, id: number, body: Buffer | string = ''): Buffer {
  const size = Buffer.byteLength(body);
  const frame = Buffer.allocUnsafe(HEAD + KIND_AND_ID + size);
  frame.writeUInt32LE(KIND_AND_ID + size, 0);
  frame.writeUInt8(kind, HEAD);
  frame.writeUInt32LE(id, HEAD + 1);
  if (typeof body === 'string') frame.write(body, HEAD + KIND_AND_ID);
  else body.copy(frame, HEAD + KIND_AND_ID);
  return frame;
}

/** Takes bytes as they come; throws TalariaError `bad-frame` on what is no frame. */
export function frameReader(hear: (frame: Frame) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let have = 0;
  let need = HEAD;
  return (chunk) => {
    parts.push(chunk);
    have += chunk.length;
    if (have < need) return;
    let bytes = parts.length === 1 ? chunk : Buffer.concat(parts);
    for (need = lengthOf(bytes); bytes.length >= need; need = lengthOf(bytes)) {
      const frame = bytes.subarray(HEAD, need);
      bytes = bytes.subarray(need);
      hear({ kind: frame.readUInt8(0), id: frame.readUInt32LE(1), body: frame.subarray(KIND_AND_ID) });
    }
    parts = bytes.length > 0 ? [bytes] : [];
    have = bytes.length;
  };
}

/** Of the frame that begins here, as far as that is known. */
function lengthOf(bytes: Buffer): number {
  if (bytes.length < HEAD) return HEAD;
  const length = bytes.readUInt32LE(0);
  if (length < KIND_AND_ID) throw badFrame(`it is of ${length} bytes`);
  return HEAD + length;
}

export function badFrame(why: string): TalariaError {
  return new TalariaError(`this is no frame: ${why}`, { code: 'bad-frame' });
}
