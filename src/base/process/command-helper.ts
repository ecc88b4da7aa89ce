// Owns the helper process that starts commands for this one, seen from here: when there is one, what it is told, what becomes of commands
// when it dies. A `spawn` copies the page tables of who calls it, so it costs a process of 120 MB twice what it costs a small one, and one
// of 400 MB five times; the helper stays small. It is this program's own Node, since only that starts a command exactly as we would (its
// own session, the same errors, the same exit); a shell loop has neither sessions nor the reason why a program did not start, Perl is not
// everywhere, and was no faster. Its 15 MB are paid only while commands come one after the other: the second starts it, and a minute
// without any ends it. Invariant: no command is started twice, none is lost in silence; its own environment is empty.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../clock.ts';
import { errorCode } from '../errors.ts';
import { type JsonObject, parseJsonObject } from '../json.ts';
import {
  badFrame,
  type CommandChild,
  type CommandExit,
  type CommandRequest,
  FRAME,
  type Frame,
  frameOf,
  frameReader,
  plainChild,
  signalCommand,
} from './command-child.ts';

/** A process that starts a single command does not pay for a helper. */
const STARTS_AT = 2;
const IDLE_MS = 60_000;
/** It keeps nothing: no large nursery, no threads that collect garbage. */
const SMALL = ['--max-semi-space-size=1', '--v8-pool-size=0'];
/** How long the helper may leave a request, or the end of a killed command, without an answer. */
const ANSWER_MS = 10_000;

let helper: Helper | undefined;
let asked = 0;
/** It died once, or is not wanted: this process starts its commands itself from now on. */
let isOff = process.platform === 'win32';

/** Undefined: there is no helper yet, or no more; start the command yourself. */
export function startByHelper(request: CommandRequest): CommandChild | undefined {
  if (helper?.isReady) return helper.start(request);
  asked += 1;
  // After the caller has started its command: making the helper costs a spawn, too.
  if (asked >= STARTS_AT && !isOff) setImmediate(() => openHelper());
  return undefined;
}

/** Has a helper, whatever was before; gives its process when it is ready, or undefined when it cannot be had. */
export async function warmHelper(): Promise<number | undefined> {
  isOff = false;
  const opened = openHelper();
  return (await opened?.warm()) ? opened?.pid : undefined;
}

/** Ends it when its commands are over; later commands are started without one. */
export function endHelper(): void {
  isOff = true;
  helper?.close();
}

function openHelper(): Helper | undefined {
  if (helper || isOff) return helper;
  const file = helperFile();
  try {
    if (file === undefined) isOff = true;
    else helper = new Helper(file);
  } catch {
    isOff = true; // No process or no pipe to be had: the next command tells who asked for it.
  }
  return helper;
}

/** In the source beside us; in the bundle an entry of its own, beside or above the chunk that we are in. */
function helperFile(): string | undefined {
  const places = ['./command-helper.worker.ts', './command-helper.worker.js', '../command-helper.worker.js'];
  return places.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((path) => existsSync(path));
}

class Helper {
  isReady = false;
  readonly #process: ChildProcess;
  readonly #socket: Socket;
  readonly #running = new Map<number, RemoteChild>();
  readonly #ready = Promise.withResolvers<boolean>();
  #started = 0;
  #isClosing = false;
  /** A write failed: what the helper had still said may be unread. */
  #isBroken = false;
  #stopIdling: (() => void) | undefined;

  constructor(file: string) {
    const argv = [...SMALL, file];
    const stdio = ['ignore', 'ignore', 'ignore', 'pipe'] as const;
    this.#process = spawn(process.execPath, argv, { cwd: '/', env: {}, detached: true, stdio: [...stdio] });
    this.#process.on('error', () => this.#over());
    this.#socket = this.#process.stdio[3] as Socket;
    this.#socket.on('error', (error) => {
      this.#isBroken = errorCode(error) === 'EPIPE';
      this.#socket.destroy();
    });
    this.#socket.on('close', () => this.#over());
    const read = frameReader((frame) => this.#hear(frame));
    this.#socket.on('data', (chunk: Buffer) => {
      if (!this.#reads(read, chunk)) this.kill();
    });
    this.#process.unref();
    this.#rest();
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  async warm(): Promise<boolean> {
    this.#socket.ref();
    const isReady = await this.#ready.promise;
    if (this.#running.size === 0) this.#socket.unref();
    return isReady;
  }

  start(request: CommandRequest): CommandChild {
    this.#stopIdling?.();
    this.#socket.ref();
    this.#started += 1;
    const id = this.#started;
    const { argv, cwd, env, stdin, joins, files } = request;
    const child = new RemoteChild(request, { kill: () => this.kill(), release: () => this.#release(id) });
    this.#running.set(id, child);
    this.#socket.write(frameOf(FRAME.start, id, JSON.stringify({ argv, cwd, env, stdin, joins, files })));
    return child;
  }

  /** What it did not answer is lost, or starts elsewhere: its end tells. */
  kill(): void {
    this.#process.kill('SIGKILL');
  }

  /** Ends it when nothing runs; whoever comes meanwhile finds none. */
  close(): void {
    this.#isClosing = true;
    this.isReady = false;
    if (helper === this) forgetHelper();
    if (this.#running.size === 0) this.#socket.end();
  }

  #reads(read: (chunk: Buffer) => void, chunk: Buffer): boolean {
    try {
      read(chunk);
      return true;
    } catch (error) {
      if (errorCode(error) !== 'bad-frame') throw error;
      return false;
    }
  }

  #hear(frame: Frame): void {
    this.#running.get(frame.id)?.take(frame);
    if (frame.kind !== FRAME.ready) return;
    this.isReady = !this.#isClosing;
    this.#ready.resolve(true);
  }

  #release(id: number): void {
    if (!this.#running.delete(id)) return;
    if (this.#socket.writable) this.#socket.write(frameOf(FRAME.release, id));
    if (this.#running.size > 0) return;
    if (this.#isClosing) this.#socket.end();
    this.#rest();
  }

  /** Without a command it does not keep this process alive, nor itself for long. */
  #rest(): void {
    this.#socket.unref();
    this.#stopIdling = systemClock.after(IDLE_MS, () => this.close());
  }

  #over(): void {
    this.#stopIdling?.();
    this.isReady = false;
    this.#ready.resolve(false);
    if (!this.#isClosing) isOff = true;
    if (helper === this) forgetHelper();
    // The request whose write failed was read by nobody; of those before it that cannot be known.
    for (const [id, child] of this.#running) child.lose(this.#isBroken && id !== this.#started);
    this.#running.clear();
  }
}

function forgetHelper(): void {
  helper = undefined;
  asked = 0;
}

interface Hold {
  readonly kill: () => void;
  readonly release: () => void;
}

/** A command that the helper starts; one that it died over before it took it up is started here. */
class RemoteChild implements CommandChild {
  readonly exit: Promise<CommandExit>;
  readonly closed: Promise<true>;
  readonly #request: CommandRequest;
  readonly #hold: Hold;
  readonly #exited = Promise.withResolvers<CommandExit>();
  readonly #ended = Promise.withResolvers<true>();
  #pid: number | undefined;
  #plain: CommandChild | undefined;
  #isTaken = false;
  #due: NodeJS.Signals | undefined;
  #listener: Listener = () => undefined;
  #stopWatching: () => void;

  constructor(request: CommandRequest, hold: Hold) {
    this.#request = request;
    this.#hold = hold;
    this.exit = this.#exited.promise;
    this.closed = this.#ended.promise;
    this.#stopWatching = watch(hold.kill);
  }

  get pid(): number | undefined {
    return this.#plain?.pid ?? this.#pid;
  }

  hear(listener: Listener): void {
    this.#listener = listener;
  }

  kill(name: NodeJS.Signals): void {
    this.#due = name;
    signalCommand(this.pid, name, this.#request);
    if (name === 'SIGKILL' && !this.#plain) this.#watch();
  }

  release(): void {
    this.#stopWatching();
    this.#listener = () => undefined;
    this.#plain?.release();
    this.#hold.release();
  }

  take({ kind, body }: Frame): void {
    if (kind === FRAME.out) this.#listener(body, 'out');
    else if (kind === FRAME.err) this.#listener(body, 'err');
    else if (kind === FRAME.closed) this.#ended.resolve(true);
    else this.#turn(kind, body);
  }

  /** The helper is gone. What settles first counts. `mayRun`: it may have been taken up all the same. */
  lose(mayRun: boolean): void {
    this.#stopWatching();
    if (!this.#isTaken && !mayRun && this.#due === undefined) this.#startHere();
    this.#exited.resolve({ lost: true });
    this.#ended.resolve(true);
  }

  #startHere(): void {
    try {
      this.#plain = plainChild(this.#request);
      this.#plain.hear((chunk, stream) => this.#listener(chunk, stream));
      this.#exited.resolve(this.#plain.exit);
      this.#ended.resolve(this.#plain.closed);
    } catch (error) {
      this.#exited.resolve({ error });
    }
  }

  #turn(kind: number, body: Buffer): void {
    const said = body.length === 0 ? {} : fields(body);
    this.#stopWatching();
    if (kind === FRAME.taken) this.#isTaken = true;
    if (kind === FRAME.started) this.#started(Number(said.pid));
    if (kind === FRAME.failed) this.#exited.resolve({ error: Object.assign(new Error(`${said.message}`), said) });
    if (kind === FRAME.exit) {
      const { code, signal } = said as { readonly code: number | null; readonly signal: NodeJS.Signals | null };
      this.#exited.resolve({ code, signal });
    }
  }

  #started(pid: number): void {
    this.#pid = pid;
    if (this.#due !== undefined) this.kill(this.#due);
  }

  #watch(): void {
    this.#stopWatching();
    this.#stopWatching = watch(this.#hold.kill);
  }
}

type Listener = (chunk: Buffer, stream: 'out' | 'err') => void;

function fields(body: Buffer): JsonObject {
  const parsed = parseJsonObject(body.toString('utf8'));
  if (!parsed.ok) throw badFrame(parsed.detail);
  return parsed.value;
}

/** Two waits: a timer that is overdue fires before an answer that is there is read. */
function watch(late: () => void): () => void {
  let cancel = systemClock.after(ANSWER_MS, () => {
    cancel = systemClock.after(1_000, late);
  });
  return () => cancel();
}
