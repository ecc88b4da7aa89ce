// Owns how events travel in this process: the fabric (a typed stream with split ends: EventSink to emit, EventSource to subscribe), the bridge from
// callbacks to async iteration, and the log (one JSON object a line, rotated once it is large). Knows no event of the domain. Invariants: a failing
// subscriber never reaches the emitter; order of pushes is order of iteration; logging never throws and never writes a secret.
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Clock, isoTime } from './clock.ts';
import type { JsonObject } from './json.ts';
import { redactSecrets } from './secrets.ts';

/** Where events go in. Contract: `emit` never throws and never waits. */
export interface EventSink<E> {
  emit(event: E): void;
}

/** Where events come out. Contract: subscribers are called in order of subscription; the returned function ends the subscription. */
export interface EventSource<E> {
  subscribe(listener: (event: E) => void): () => void;
}

export interface Fabric<E> extends EventSink<E>, EventSource<E> {}

export function createFabric<E>(onFailure: (error: unknown, event: E) => void): Fabric<E> {
  const listeners = new Set<(event: E) => void>();
  return {
    emit(event) {
      for (const listener of [...listeners]) {
        try {
          listener(event);
        } catch (error) {
          onFailure(error, event);
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export interface AsyncQueue<T> extends AsyncIterable<T> {
  push(item: T): void;
  /** No more items; iteration ends after what is queued. */
  close(): void;
}

export function createAsyncQueue<T>(): AsyncQueue<T> {
  const items: T[] = [];
  let closed = false;
  let wake: (() => void) | undefined;
  const signal = () => {
    wake?.();
    wake = undefined;
  };
  return {
    push(item) {
      if (closed) return;
      items.push(item);
      signal();
    },
    close() {
      closed = true;
      signal();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (items.length > 0) yield items.shift() as T;
        if (closed) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

export interface EventLog {
  write(event: string, data?: JsonObject): void;
  /** Lines that could not be written since start (disk full, no permission). */
  readonly lost: number;
}

const ROTATE_AT_BYTES = 5_000_000;

export function createEventLog(path: string, clock: Clock): EventLog {
  let lost = 0;
  return {
    get lost() {
      return lost;
    },
    write(event, data = {}) {
      const line = redactSecrets(JSON.stringify({ at: isoTime(clock.now()), event, ...data }));
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        rotate(path);
        appendFileSync(path, `${line}\n`, { mode: 0o600 });
      } catch {
        lost += 1;
      }
    },
  };
}

function rotate(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > ROTATE_AT_BYTES) renameSync(path, `${path}.1`);
}
