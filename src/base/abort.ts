// Owns the small vocabulary of cancellation: one reason class, and helpers to combine signals with deadlines.
import type { Clock } from './clock.ts';
import { TalariaError } from './errors.ts';

export class AbortedError extends TalariaError {
  override readonly name = 'AbortedError';
  constructor(message = 'stopped on request') {
    super(message, { code: 'aborted' });
  }
}

export function isAborted(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'AbortedError');
}

export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw signal.reason instanceof Error ? signal.reason : new AbortedError();
}

export interface Deadline {
  readonly signal: AbortSignal;
  /** Restarts the countdown (an idle time-out calls this for every byte). */
  readonly touch: () => void;
  /** Stops the countdown for good; call it in `finally`. */
  readonly clear: () => void;
}

/** A signal that aborts with `reason()` when `ms` pass without a touch, or when `parent` aborts. */
export function deadline(clock: Clock, parent: AbortSignal, ms: number, reason: () => Error): Deadline {
  const controller = new AbortController();
  let cancel = clock.after(ms, () => controller.abort(reason()));
  const onParent = () => controller.abort(parent.reason);
  if (parent.aborted) onParent();
  else parent.addEventListener('abort', onParent, { once: true });
  return {
    signal: controller.signal,
    touch: () => {
      cancel();
      if (!controller.signal.aborted) cancel = clock.after(ms, () => controller.abort(reason()));
    },
    clear: () => {
      cancel();
      parent.removeEventListener('abort', onParent);
    },
  };
}

/** Settles with `work`, or rejects with the abort reason as soon as the signal aborts (the work itself may go on). */
export function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    work.catch(() => undefined);
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
