// Owns one thread with a sandbox in it, seen from outside: how it is started, told, watched and ended. Knows no block and no handle.
// Invariant: its end is told exactly once, whatever ends it; after `end` nothing of it is heard any more. A thread whose session closed in
// peace waits a while for the next one, which finds nothing of the first: a new engine over a new memory. Whatever was killed never returns.
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { systemClock } from '#base/clock.ts';
import { errorCode, errorText, TalariaError } from '#base/errors.ts';
import { threadVariables } from '#base/process/holder.ts';
import type { FromSandbox, SandboxStart, ToSandbox } from './repl-session.ts';

/** Beside the engine's own memory: the operations on the context and what passes through. */
const RESOURCES = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 32 };
/** A busy machine is no endless loop: the thread counts its own time, this is for code in which it cannot. */
const WATCH_FACTOR = 3;
const WATCH_MS = 2_000;
const START_MS = 60_000;
const SPARE_MS = 10_000;

let spare: SandboxThread | undefined;

export type ThreadEnd = 'out_of_memory' | 'sandbox_died' | 'out_of_time';

export interface ThreadListener {
  readonly message: (message: FromSandbox) => void;
  readonly ended: (why: ThreadEnd, cause?: unknown) => void;
}

export class SandboxThread {
  readonly #worker: Worker;
  #watchMs: number;
  #listener: ThreadListener | undefined;
  /** Messages that are not worked off yet. */
  #work = 0;
  #unwatch: () => void = () => undefined;
  #isOver = false;

  private constructor(start: SandboxStart) {
    this.#watchMs = watchOf(start);
    // Its output goes nowhere: nothing in it prints, and reading the streams would keep the process alive beside a resting thread.
    const options = {
      workerData: start,
      env: threadVariables(),
      execArgv: [],
      stdin: false,
      stdout: true,
      stderr: true,
    };
    this.#worker = new Worker(workerFile(), { ...options, resourceLimits: RESOURCES });
    this.#worker.on('message', (message: FromSandbox) => this.#hear(message));
    this.#worker.on('error', (error) => this.#over(endOf(error), error));
    this.#worker.on('exit', () => this.#over('sandbox_died'));
  }

  /** Throws TalariaError: `context-changed` | `context-unreadable` of the source, `sandbox-failed` when there is no thread to be had. */
  static async open(start: SandboxStart, signal?: AbortSignal): Promise<SandboxThread> {
    const thread = takeSpare(start) ?? new SandboxThread(start);
    try {
      await thread.#opened(signal);
      return thread;
    } catch (error) {
      await thread.end();
      throw error;
    }
  }

  /** While somebody listens, the thread keeps the process alive. */
  listen(listener: ThreadListener): void {
    this.#listener = listener;
    this.#worker.ref();
  }

  leave(): void {
    this.#listener = undefined;
    this.#unwatch();
    this.#work = 0;
    this.#worker.unref();
  }

  send(message: ToSandbox): void {
    this.#work += 1;
    this.#watch();
    this.#worker.postMessage(message);
  }

  async end(): Promise<void> {
    this.leave();
    this.#isOver = true;
    await this.#worker.terminate();
  }

  /** Only for a thread in which nothing runs and nothing went wrong. */
  async rest(): Promise<void> {
    if (spare !== undefined || this.#isOver || this.#work > 0) return this.end();
    spare = this;
    this.leave();
    this.#worker.postMessage({ type: 'close' } satisfies ToSandbox);
    this.#unwatch = systemClock.after(SPARE_MS, () => {
      if (spare === this) spare = undefined;
      void this.end();
    });
  }

  /** Undefined: it ended meanwhile. */
  again(start: SandboxStart): this | undefined {
    this.#unwatch();
    if (this.#isOver) return undefined;
    this.#watchMs = watchOf(start);
    this.#worker.postMessage({ type: 'open', start } satisfies ToSandbox);
    return this;
  }

  #opened(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = systemClock.after(START_MS, () => done(failed('it did not start in time')));
      const onAbort = () => done(signal?.reason);
      const done = (error: unknown) => {
        late();
        signal?.removeEventListener('abort', onAbort);
        this.leave();
        if (error === undefined) resolve();
        else reject(error);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.listen({
        message: (message) => done(message.type === 'fault' ? faultOf(message) : undefined),
        ended: (why, cause) => done(failed(cause === undefined ? why : errorText(cause), cause)),
      });
    });
  }

  #hear(message: FromSandbox): void {
    if (message.type !== 'queries') this.#work = Math.max(0, this.#work - 1);
    if (this.#work === 0) this.#unwatch();
    else this.#watch();
    this.#listener?.message(message);
  }

  #watch(): void {
    this.#unwatch();
    this.#unwatch = systemClock.after(this.#watchMs, () => this.#over('out_of_time'));
  }

  #over(why: ThreadEnd, cause?: unknown): void {
    this.#unwatch();
    this.#isOver = true;
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.ended(why, cause);
  }
}

function takeSpare(start: SandboxStart): SandboxThread | undefined {
  const taken = spare;
  spare = undefined;
  return taken?.again(start);
}

function watchOf({ limits }: SandboxStart): number {
  return limits.block_ms * WATCH_FACTOR + WATCH_MS;
}

export function faultOf({ code, message }: { readonly code: string; readonly message: string }): TalariaError {
  return new TalariaError(message, { code });
}

function failed(why: string, cause?: unknown): TalariaError {
  return new TalariaError(`the sandbox cannot be started: ${why}`, { code: 'sandbox-failed', cause });
}

function endOf(error: unknown): ThreadEnd {
  return errorCode(error) === 'ERR_WORKER_OUT_OF_MEMORY' || errorText(error).includes('memory')
    ? 'out_of_memory'
    : 'sandbox_died';
}

/** In the source beside us; in the bundle an entry of its own, beside or above the chunk that we are in. */
function workerFile(): URL {
  const places = ['./rlm-sandbox.worker.ts', './rlm-sandbox.worker.js', '../rlm-sandbox.worker.js'];
  const found = places.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(url));
  if (found === undefined) throw failed('its file is missing; install Talaria anew');
  return found;
}
