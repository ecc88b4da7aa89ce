// Owns time: the only place that reads the machine's clock or sets timers. A test passes a manual clock instead.
// Invariant: `sleep` and `timeout` never outlive their signal, and never keep the process alive by themselves unless awaited.

/** Time for everything above base. Contract: `now` may jump (wall clock); `monotonic` never goes back, and stands still while the machine sleeps. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds since an arbitrary start, the same for all processes of one boot; only differences mean anything. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` once after `ms`; returns a function that cancels it. The timer does not hold the process open. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/**
 * A clock for simulated lives, which begins at `start` (epoch ms): time passes only while somebody sleeps, and then at once, from one timer
 * or sleep that is due to the next, each seeing exactly its time; between two of them whatever runs gets a turn. Work that is not the
 * clock's takes no time, so a limit set by it is over as soon as somebody sleeps past it.
 */
export function leapingClock(start: number): Clock {
  let now = start;
  let sleepers = 0;
  let isLeaping = false;
  const timers = new Set<{ readonly due: number; readonly run: () => void }>();
  const after = (ms: number, run: () => void) => {
    const timer = { due: now + Math.max(0, ms), run };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const leap = () => {
    const [next] = sleepers > 0 ? [...timers].sort((a, b) => a.due - b.due) : [];
    isLeaping = next !== undefined;
    if (next === undefined) return;
    timers.delete(next);
    now = next.due;
    setImmediate(leap);
    next.run();
  };
  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const wake = (end: () => void) => {
        cancel();
        sleepers -= 1;
        signal?.removeEventListener('abort', onAbort);
        end();
      };
      const onAbort = () => wake(() => reject(signal?.reason));
      const cancel = after(ms, () => wake(resolve));
      signal?.addEventListener('abort', onAbort, { once: true });
      sleepers += 1;
      if (!isLeaping) setImmediate(leap);
      isLeaping = true;
    });
  return { now: () => now, monotonic: () => now, sleep, after };
}

/** ISO 8601 in UTC with milliseconds. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** Calendar fields of an instant in the machine's time zone; `weekday` 0 is Sunday, `month` 1 is January. */
export interface LocalDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

export function localDate(epochMs: number): LocalDate {
  const date = new Date(epochMs);
  return {
    year: date.getFullYear(),
    month: date.getMonth() + 1,
    day: date.getDate(),
    weekday: date.getDay(),
    hour: date.getHours(),
    minute: date.getMinutes(),
    second: date.getSeconds(),
  };
}

/** `2026-05-03 14:07:09`, in the time zone of the machine. */
export function instant(epochMs: number): string {
  const { year, month, day, hour, minute, second } = localDate(epochMs);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}:${two(second)}`;
}

/** `2026-05-03` */
export function localDay(epochMs: number): string {
  return instant(epochMs).replace(/ .*/, '');
}

/** `20260503-140709`, for names. */
export function timeStamp(epochMs: number): string {
  return instant(epochMs).replace(/[-:]/g, '').replace(' ', '-');
}

/** Epoch milliseconds of local midnight of a calendar day (month 1..12; overflow rolls over as in `Date`). */
export function localMidnight(year: number, month: number, day: number): number {
  return new Date(year, month - 1, day).getTime();
}

/** Epoch milliseconds of any text that the platform can read as a date, or undefined. */
export function parseTime(text: string): number | undefined {
  const value = Date.parse(text);
  return Number.isNaN(value) ? undefined : value;
}
