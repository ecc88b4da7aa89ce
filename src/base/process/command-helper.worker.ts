// Owns the program of the helper that starts commands for another process: it spawns, passes on output and exit, and knows no limit.
// Invariant: a command is begun only after `taken` has left this process, and none outlives the other end of the socket: when that is
// gone, every group that nobody released is ended.
import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { systemClock } from '../clock.ts';
import { errorCode, errorText } from '../errors.ts';
import { parseJson } from '../json.ts';
import {
  badFrame,
  type CommandRequest,
  closePipes,
  FRAME,
  type Frame,
  frameOf,
  frameReader,
  signalGroup,
  spawnGroup,
} from './command-child.ts';

const GRACE_MS = 2_000;
const running = new Map<number, ChildProcess>();
const socket = new Socket({ fd: 3, readable: true, writable: true });
let joined: string | undefined;
let isOver = false;

// Its end is the end of the other process, which hears of signals itself.
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => undefined);
socket.on('data', frameReader(hear));
socket.on('error', () => socket.destroy());
socket.on('drain', () => eachOutput((stream) => stream.resume()));
socket.on('close', () => void end());
socket.write(frameOf(FRAME.ready, 0));

function hear({ kind, id, body }: Frame): void {
  if (kind === FRAME.release) release(id);
  if (kind !== FRAME.start) return;
  const request = parseJson(body.toString('utf8'));
  if (!request.ok) throw badFrame(request.detail);
  socket.write(frameOf(FRAME.taken, id), (error) => {
    if (!error && !isOver) start(id, request.value as unknown as CommandRequest);
  });
}

function start(id: number, request: CommandRequest): void {
  const fail = (error: unknown) => tell(FRAME.failed, id, { code: errorCode(error), message: errorText(error) });
  try {
    const child = spawnGroup(isJoined(request) ? { ...request, joins: '' } : request);
    running.set(id, child);
    child.on('error', (error) => child.pid === undefined && fail(error));
    child.stdout?.on('data', (chunk: Buffer) => pass(FRAME.out, id, chunk));
    child.stderr?.on('data', (chunk: Buffer) => pass(FRAME.err, id, chunk));
    child.once('exit', (code, signal) => tell(FRAME.exit, id, { code, signal }));
    child.once('close', () => tell(FRAME.closed, id, {}));
    if (child.pid !== undefined) tell(FRAME.started, id, { pid: child.pid });
  } catch (error) {
    fail(error);
  }
}

/** Joining costs the kernel several milliseconds, so the helper does it once for all that it starts. */
function isJoined({ joins }: CommandRequest): boolean {
  if (joins === undefined || joins === joined) return joins !== undefined;
  try {
    writeFileSync(joins, String(process.pid));
    joined = joins;
    return true;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return false;
  }
}

function tell(kind: number, id: number, body: object): void {
  socket.write(frameOf(kind, id, JSON.stringify(body)));
}

function pass(kind: number, id: number, chunk: Buffer): void {
  if (!socket.write(frameOf(kind, id, chunk))) eachOutput((stream) => stream.pause());
}

function eachOutput(change: (stream: NonNullable<ChildProcess['stdout']>) => void): void {
  for (const { stdout, stderr } of running.values())
    for (const stream of [stdout, stderr]) if (stream && !stream.destroyed) change(stream);
}

function release(id: number): void {
  const child = running.get(id);
  running.delete(id);
  if (child) closePipes(child);
}

async function end(): Promise<void> {
  if (isOver) return;
  isOver = true;
  const groups = [...running.values()].map(({ pid }) => pid).filter((pid) => signalGroup(pid, 'SIGTERM'));
  for (let waited = 0; waited < GRACE_MS && groups.some((pid) => signalGroup(pid, 0)); waited += 20)
    await systemClock.sleep(20);
  for (const pid of groups) signalGroup(pid, 'SIGKILL');
  process.exit();
}
