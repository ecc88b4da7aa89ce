// Owns running a command of the operating system: its own process group, bounded output, time-out, abort. Knows no shell syntax.
// Invariant: when `result` settles, the group that was started is gone, every listener is removed and no timer is left.
import type { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { type Clock, systemClock } from './clock.ts';
import { errorCode, errorText } from './errors.ts';
import {
  type CommandChild,
  type CommandRequest,
  livingMembers,
  plainChild,
  signalGroup,
} from './process/command-child.ts';
import { startByHelper } from './process/command-helper.ts';
import { createSpillFile } from './process/spill-file.ts';

export interface ProcessRequest extends CommandRequest {
  readonly limits?: ProcessLimits;
  /** Output as it comes, both streams, decoded; never half a character. */
  readonly onOutput?: (chunk: string, stream: 'out' | 'err') => void;
  readonly clock?: Clock;
}

export interface ProcessLimits extends CaptureLimits {
  readonly timeoutMs?: number;
  /** Output over this many bytes ends the process: a disk must not fill up. Default 1 GiB. */
  readonly maxBytes?: number;
  /** Between TERM and KILL, and before TERM for one that converses, ms; default 2 000. */
  readonly graceMs?: number;
}

/** Why the process is over: by itself, or what made us end it; `lost`: who had started it died, and nothing is known of its end. */
export type ProcessEnd = 'exit' | 'timeout' | 'aborted' | 'too-much-output' | 'not-started' | 'lost';

export interface ProcessResult {
  readonly ended: ProcessEnd;
  /** Absent when a signal ended it or it never started. */
  readonly exitCode?: number;
  readonly signal?: NodeJS.Signals;
  /** Why it could not be started, or what is known of it when it is lost. */
  readonly error?: string;
  readonly ms: number;
  readonly output: CapturedOutput;
  /** It had left processes of its group running, which were then ended. */
  readonly leftovers: boolean;
}

export interface RunningProcess {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined;
  /** Standard input of one that converses. A program that does not read it destroys it; that is no error. */
  readonly input?: Writable | null | undefined;
  /** Output so far. */
  readonly output: () => CapturedOutput;
  /** Never rejects. */
  readonly result: Promise<ProcessResult>;
}

const MAX_BYTES = 1024 ** 3;
const GRACE_MS = 2_000;
/** How long pipes may stay open and silent after the process has ended: someone else may hold them. Behind a wall nobody outlives it. */
const PIPE_MS = 1_000;
const HELD_PIPE_MS = 20_000;

/** Runs to the end. Never rejects: an abort, a time-out and a missing program are results. Started by the helper when there is one. */
export function runProcess(request: ProcessRequest, signal: AbortSignal): Promise<ProcessResult> {
  return start(request, signal, (command) => startByHelper(command) ?? plainChild(command)).result;
}

/** As `runProcess`, and what is known while it runs. A child of this process: when the call returns, it is there or cannot be. */
export function startProcess(request: ProcessRequest, signal: AbortSignal): RunningProcess {
  return start(request, signal, plainChild);
}

function start(
  request: ProcessRequest,
  signal: AbortSignal,
  begin: (command: CommandRequest) => CommandChild,
): RunningProcess {
  const capture = captureOutput(request.limits);
  const clock = request.clock ?? systemClock;
  const from = clock.monotonic();
  const finish = (end: Ending): ProcessResult => {
    capture.close();
    return { ...end, ms: Math.round(clock.monotonic() - from), output: capture.snapshot() };
  };
  if (signal.aborted) return neverStarted(capture, finish({ ended: 'aborted', leftovers: false }));
  let child: CommandChild;
  try {
    child = begin(request);
  } catch (error) {
    return neverStarted(capture, finish({ ended: 'not-started', error: startError(request, error), leftovers: false }));
  }
  const result = superviseChild({ child, request, capture, clock }, signal).then(finish);
  return { pid: child.pid, input: child.input, output: capture.snapshot, result };
}

function neverStarted(capture: OutputCapture, result: ProcessResult): RunningProcess {
  return { pid: undefined, output: capture.snapshot, result: Promise.resolve(result) };
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

const LOST = 'the process that starts commands died';

/** Nobody knows how it ended: what is left of it is ended, so that it does not run on unseen. */
function lostError(pid: number | undefined): string {
  return pid === undefined
    ? `${LOST} while it started this one: whether it ran, or still runs, is not known`
    : `${LOST}: how this one ended is not known; what was left of it was ended`;
}

interface Supervised {
  readonly child: CommandChild;
  readonly request: ProcessRequest;
  readonly capture: OutputCapture;
  readonly clock: Clock;
}

type Ending = Omit<ProcessResult, 'ms' | 'output'>;

async function superviseChild(run: Supervised, signal: AbortSignal): Promise<Ending> {
  const { child, request, clock } = run;
  const stop = createStopper(run);
  const onAbort = () => stop.now('aborted');
  signal.addEventListener('abort', onAbort, { once: true });
  const timeout = request.limits?.timeoutMs;
  const cancelTimeout = timeout === undefined ? undefined : clock.after(timeout, () => stop.now('timeout'));
  readOutput(run, () => stop.now('too-much-output'));
  try {
    const exit = await child.exit;
    if ('error' in exit) return { ended: 'not-started', error: startError(request, exit.error), leftovers: false };
    const isLost = 'lost' in exit;
    const leftovers = await endGroup(child, isLost || stop.cause() !== undefined);
    await drainPipes(run);
    const ended = stop.cause();
    if (isLost) return { ended: ended ?? 'lost', ...(ended ? {} : { error: lostError(child.pid) }), leftovers };
    const status = exit.code === null ? {} : { exitCode: exit.code };
    return { ended: ended ?? 'exit', ...status, ...(exit.signal ? { signal: exit.signal } : {}), leftovers };
  } finally {
    signal.removeEventListener('abort', onAbort);
    cancelTimeout?.();
    stop.clear();
    child.release();
  }
}

/**
 * TERM to the group at the first call, KILL when the grace is over (real time: the processes are real); before them, for one that converses, the
 * end of its input. The first cause counts.
 */
function createStopper({ child, request }: Supervised) {
  const { limits: { graceMs = GRACE_MS } = {}, converses } = request;
  let cause: Exclude<ProcessEnd, 'exit' | 'not-started' | 'lost'> | undefined;
  let cancel: (() => void) | undefined;
  const end = () => {
    child.kill('SIGTERM');
    cancel = systemClock.after(graceMs, () => child.kill('SIGKILL'));
  };
  return {
    cause: () => cause,
    now(why: NonNullable<typeof cause>): void {
      if (cause !== undefined) return;
      cause = why;
      child.input?.end();
      if (converses) cancel = systemClock.after(graceMs, end);
      else end();
    },
    clear: () => cancel?.(),
  };
}

/** The leader is gone: ends everybody who is still in its group. True when that was somebody nobody had asked to stop. */
async function endGroup({ pid }: CommandChild, stopped: boolean): Promise<boolean> {
  // What only waits for its children, as a wall does, is gone a moment later.
  for (const moment of [1, 2, 4]) {
    if (!isGroupAlive(pid)) return false;
    await systemClock.sleep(moment);
  }
  if (!isGroupAlive(pid)) return false;
  signalGroup(pid, 'SIGTERM');
  for (let waited = 0; waited < GRACE_MS && isGroupAlive(pid); waited += 20) await systemClock.sleep(20);
  signalGroup(pid, 'SIGKILL');
  return !stopped;
}

export function isGroupAlive(leader: number | undefined): boolean {
  if (leader === undefined || !signalGroup(leader, 0)) return false;
  return livingMembers(leader)?.length !== 0;
}

/** Reads on until the pipes close, or, when an escaped process holds them, until nothing has come for a while. */
async function drainPipes({ child, request, capture }: Supervised): Promise<void> {
  const quietMs = request.holdsAnother ? HELD_PIPE_MS : PIPE_MS;
  for (;;) {
    const before = capture.totalBytes;
    const quiet = Promise.withResolvers<false>();
    // Two waits: a timer that is overdue fires before pending data is read.
    let cancel = systemClock.after(quietMs, () => {
      cancel = systemClock.after(5, () => quiet.resolve(false));
    });
    const done = await Promise.race([child.closed, quiet.promise]);
    cancel();
    if (done || capture.totalBytes === before) return;
  }
}

function readOutput(run: Supervised, onTooMuch: () => void): void {
  const { child, request, capture } = run;
  const maxBytes = request.limits?.maxBytes ?? MAX_BYTES;
  const decoders = { out: new StringDecoder('utf8'), err: new StringDecoder('utf8') };
  child.hear((chunk, name) => {
    if (capture.totalBytes >= maxBytes) return onTooMuch();
    capture.write(chunk);
    const text = request.onOutput ? decoders[name].write(chunk) : '';
    if (text !== '') request.onOutput?.(text, name);
  });
}

/** A copy of `env` without the names given (exact names). */
export function withoutVariables(
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Readonly<Record<string, string | undefined>> {
  const drop = new Set(names);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !drop.has(name)));
}

// Keeping a stream of bytes in bounded memory: the first and the last bytes stay, the whole goes to a file once it is too much.
// Knows no process. Invariant: memory never exceeds the head and tail caps by more than one chunk; the spill file gets every byte in order, as
// long as its folder may take more.

interface CaptureLimits {
  /** Bytes kept from the start; default 24 KiB. */
  readonly headBytes?: number;
  /** Bytes kept from the end; default 24 KiB. */
  readonly tailBytes?: number;
  /** File that gets the whole output as soon as head and tail cannot hold it; without one the middle is lost. A name that is taken gets a number. */
  readonly spill?: string;
  /** Takes known secrets (4 KiB at most) out of what goes into the spill file; head and tail are the caller's to clean. */
  readonly redact?: (text: string) => string;
}

interface CapturedOutput {
  /** The whole output, or head, a line saying how much is left out, and tail. UTF-8; stray bytes become U+FFFD. */
  readonly text: string;
  readonly totalBytes: number;
  readonly truncated: boolean;
  /** Set when the whole output is in this file, or its first `spillBytes`. */
  readonly spill?: string;
  /** Set when the folder could take no more. */
  readonly spillBytes?: number;
  /** Why the spill file is not whole, e.g. a full disk. */
  readonly spillError?: string;
}

interface OutputCapture {
  readonly totalBytes: number;
  write(chunk: Buffer): void;
  snapshot(): CapturedOutput;
  /** Closes the spill file; later writes only count. */
  close(): void;
}

const DEFAULT_BYTES = 24 * 1024;

function captureOutput(limits: CaptureLimits = {}): OutputCapture {
  const { headBytes = DEFAULT_BYTES, tailBytes = DEFAULT_BYTES } = limits;
  const file = createSpillFile(limits.spill, limits.redact);
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  let totalBytes = 0;
  return {
    get totalBytes() {
      return totalBytes;
    },
    write(chunk) {
      const overflows = totalBytes + chunk.length > headBytes + tailBytes;
      if (overflows && !file.started()) file.start([head, tail]);
      if (file.started()) file.append(chunk);
      totalBytes += chunk.length;
      const taken = Math.min(headBytes - head.length, chunk.length);
      if (taken > 0) head = Buffer.concat([head, chunk.subarray(0, taken)]);
      const last = chunk.subarray(Math.max(taken, chunk.length - tailBytes));
      const kept = Math.max(0, tailBytes - last.length);
      tail = Buffer.concat([tail.subarray(Math.max(0, tail.length - kept)), last]);
    },
    snapshot() {
      const missing = totalBytes - head.length - tail.length;
      const text = missing > 0 ? joinParts(head, tail, missing) : decode(Buffer.concat([head, tail]));
      return { text, totalBytes, truncated: missing > 0, ...file.state() };
    },
    close: file.close,
  };
}

/** A character that is cut off at the end of the head, or at the start of the tail, is left out. */
function joinParts(head: Buffer, tail: Buffer, missing: number): string {
  const start = new StringDecoder('utf8').write(head);
  const end = decode(tail.subarray(firstCharacter(tail)));
  return `${start}\n[… ${missing} of ${head.length + tail.length + missing} bytes left out …]\n${end}`;
}

function firstCharacter(bytes: Buffer): number {
  let at = 0;
  while (at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return at;
}

function decode(bytes: Buffer): string {
  return bytes.toString('utf8');
}
