// Owns running a command of the operating system: its own process group, bounded output, time-out, abort. Knows no shell syntax.
// Invariant: when `result` settles, the group that was started is gone, every listener is removed and no timer is left.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { type Clock, systemClock } from './clock.ts';
import { errorCode, errorText } from './errors.ts';
import {
  type CapturedOutput,
  type CaptureLimits,
  captureOutput,
  type OutputCapture,
} from './process/output-capture.ts';

export interface ProcessRequest {
  /** Program and arguments; nothing is interpreted by a shell unless the program is one. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Text given on standard input, which is then closed; without it standard input is empty. */
  readonly stdin?: string;
  readonly limits?: ProcessLimits;
  /** Output as it comes, both streams, decoded; never half a character. */
  readonly onOutput?: (chunk: string, stream: OutputStream) => void;
  readonly clock?: Clock;
}

export type OutputStream = 'out' | 'err';

export interface ProcessLimits extends CaptureLimits {
  readonly timeoutMs?: number;
  /** Output over this many bytes ends the process: a disk must not fill up. Default 1 GiB. */
  readonly maxBytes?: number;
  /** Between TERM and KILL, ms; default 2 000. */
  readonly graceMs?: number;
}

/** Why the process is over: by itself, or what made us end it. */
export type ProcessEnd = 'exit' | 'timeout' | 'aborted' | 'too-much-output' | 'not-started';

export interface ProcessResult {
  readonly ended: ProcessEnd;
  /** Absent when a signal ended it or it never started. */
  readonly exitCode?: number;
  readonly signal?: NodeJS.Signals;
  /** Why it could not be started. */
  readonly error?: string;
  readonly ms: number;
  readonly output: CapturedOutput;
  /** It had left processes of its group running, which were then ended. */
  readonly leftovers: boolean;
}

export interface RunningProcess {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined;
  /** Output so far. */
  readonly output: () => CapturedOutput;
  /** Never rejects. */
  readonly result: Promise<ProcessResult>;
}

const MAX_BYTES = 1024 ** 3;
const GRACE_MS = 2_000;
/** How long pipes may stay open after the process has ended: someone else may hold them. */
const PIPE_MS = 300;

/** Runs to the end. Never rejects: an abort, a time-out and a missing program are results. */
export function runProcess(request: ProcessRequest, signal: AbortSignal): Promise<ProcessResult> {
  return startProcess(request, signal).result;
}

export function startProcess(request: ProcessRequest, signal: AbortSignal): RunningProcess {
  const capture = captureOutput(request.limits);
  const clock = request.clock ?? systemClock;
  const from = clock.monotonic();
  const finish = (end: Omit<ProcessResult, 'ms' | 'output'>): ProcessResult => {
    capture.close();
    return { ...end, ms: Math.round(clock.monotonic() - from), output: capture.snapshot() };
  };
  if (signal.aborted) return neverStarted(capture, finish({ ended: 'aborted', leftovers: false }));
  let child: ChildProcess;
  try {
    child = spawnGroup(request);
  } catch (error) {
    return neverStarted(capture, finish({ ended: 'not-started', error: startError(request, error), leftovers: false }));
  }
  const result = superviseChild({ child, request, capture, clock }, signal).then(finish);
  return { pid: child.pid, output: capture.snapshot, result };
}

function neverStarted(capture: OutputCapture, result: ProcessResult): RunningProcess {
  return { pid: undefined, output: capture.snapshot, result: Promise.resolve(result) };
}

function spawnGroup(request: ProcessRequest): ChildProcess {
  const [program = '', ...args] = request.argv;
  return spawn(program, args, {
    cwd: request.cwd,
    env: { ...request.env },
    detached: true,
    stdio: [request.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    windowsHide: true,
  });
}

function startError(request: ProcessRequest, error: unknown): string {
  const code = errorCode(error);
  if (code === 'ENOENT')
    return `cannot start ${request.argv[0]}: the program or the folder ${request.cwd} does not exist`;
  if (code === 'EACCES') return `cannot start ${request.argv[0]}: no permission to run it in ${request.cwd}`;
  if (code === 'E2BIG')
    return `cannot start ${request.argv[0]}: the command is too long for this system; put it into a file`;
  return `cannot start ${request.argv[0]}: ${errorText(error)}`;
}

interface Supervised {
  readonly child: ChildProcess;
  readonly request: ProcessRequest;
  readonly capture: OutputCapture;
  readonly clock: Clock;
}

type Ending = Omit<ProcessResult, 'ms' | 'output'>;

async function superviseChild(run: Supervised, signal: AbortSignal): Promise<Ending> {
  const { child, request, clock } = run;
  const stop = createStopper(child, request.limits?.graceMs ?? GRACE_MS);
  const onAbort = () => stop.now('aborted');
  signal.addEventListener('abort', onAbort, { once: true });
  const timeout = request.limits?.timeoutMs;
  const cancelTimeout = timeout === undefined ? undefined : clock.after(timeout, () => stop.now('timeout'));
  readOutput(run, () => stop.now('too-much-output'));
  feedInput(child, request.stdin);
  const closed = new Promise<true>((resolve) => child.once('close', () => resolve(true)));
  try {
    const exit = await waitForExit(child);
    if ('error' in exit) return { ended: 'not-started', error: startError(request, exit.error), leftovers: false };
    const leftovers = await endGroup(child, stop.cause() !== undefined);
    await drainPipes(closed, run.capture);
    const ended = stop.cause() ?? 'exit';
    const status = exit.code === null ? {} : { exitCode: exit.code };
    return { ended, ...status, ...(exit.signal ? { signal: exit.signal } : {}), leftovers };
  } finally {
    signal.removeEventListener('abort', onAbort);
    cancelTimeout?.();
    stop.clear();
    closePipes(child);
  }
}

type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null } | { readonly error: unknown };

function waitForExit(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.on('error', (error) => {
      if (child.pid === undefined) resolve({ error });
    });
  });
}

/** TERM to the group at the first call, KILL when the grace is over (real time: the processes are real). The first cause counts. */
function createStopper(child: ChildProcess, graceMs: number) {
  let cause: Exclude<ProcessEnd, 'exit' | 'not-started'> | undefined;
  let cancelKill: (() => void) | undefined;
  return {
    cause: () => cause,
    now(why: NonNullable<typeof cause>): void {
      if (cause !== undefined) return;
      cause = why;
      signalGroup(child, 'SIGTERM');
      cancelKill = systemClock.after(graceMs, () => signalGroup(child, 'SIGKILL'));
    },
    clear: () => cancelKill?.(),
  };
}

/** True when somebody got the signal. */
function signalGroup(child: ChildProcess, name: NodeJS.Signals | 0): boolean {
  if (child.pid === undefined) return false;
  try {
    return process.kill(-child.pid, name);
  } catch (error) {
    if (errorCode(error) === 'ESRCH' || errorCode(error) === 'EPERM') return false;
    throw error;
  }
}

/** The leader is gone: ends everybody who is still in its group. True when that was somebody nobody had asked to stop. */
async function endGroup(child: ChildProcess, stopped: boolean): Promise<boolean> {
  if (!isGroupAlive(child)) return false;
  signalGroup(child, 'SIGTERM');
  for (let waited = 0; waited < GRACE_MS && isGroupAlive(child); waited += 20) await systemClock.sleep(20);
  signalGroup(child, 'SIGKILL');
  return !stopped;
}

/** Zombies answer to signals, and in a container nobody may ever collect them: on Linux the process table has the truth. */
function isGroupAlive(child: ChildProcess): boolean {
  if (!signalGroup(child, 0)) return false;
  if (process.platform !== 'linux') return true;
  return readdirSync('/proc').some((name) => /^\d+$/.test(name) && isLivingMember(name, String(child.pid)));
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

/** Reads on until the pipes close, or, when an escaped process holds them, until nothing has come for a while. */
async function drainPipes(closed: Promise<true>, capture: OutputCapture): Promise<void> {
  for (;;) {
    const before = capture.totalBytes;
    const timer = new AbortController();
    // Two sleeps: a timer that is overdue fires before pending data is read.
    const idle = systemClock
      .sleep(PIPE_MS, timer.signal)
      .then(() => systemClock.sleep(5, timer.signal))
      .then(
        () => false,
        () => true,
      );
    const done = await Promise.race([closed, idle]);
    timer.abort();
    if (done || capture.totalBytes === before) return;
  }
}

function readOutput(run: Supervised, onTooMuch: () => void): void {
  const { child, request, capture } = run;
  const maxBytes = request.limits?.maxBytes ?? MAX_BYTES;
  for (const name of ['out', 'err'] as const) {
    const decoder = new StringDecoder('utf8');
    child[`std${name}`]?.on('data', (chunk: Buffer) => {
      if (capture.totalBytes >= maxBytes) return onTooMuch();
      capture.write(chunk);
      const text = request.onOutput ? decoder.write(chunk) : '';
      if (text !== '') request.onOutput?.(text, name);
    });
  }
}

function feedInput(child: ChildProcess, text: string | undefined): void {
  if (!child.stdin || text === undefined) return;
  // A child that does not read its input closes the pipe; that is its right.
  child.stdin.on('error', () => child.stdin?.destroy());
  child.stdin.end(text);
}

function closePipes(child: ChildProcess): void {
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
}

/** A copy of `env` without the names given (exact names). */
export function withoutVariables(
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Readonly<Record<string, string | undefined>> {
  const drop = new Set(names);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !drop.has(name)));
}
