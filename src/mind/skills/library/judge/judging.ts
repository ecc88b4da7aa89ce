// Owns when external skills are judged: after a refresh, for a bounded time; what is left goes on by itself in slices. Knows no guard.
// Invariants: one run at a time; after `stop` the cache is not touched any more.
import { isAborted } from '#base/abort.ts';
import { chooseWinners } from '../refresh-skills.ts';
import { workSlices } from '../work-slices.ts';
import { type JudgingGround, judgeWaiting } from './judge-skills.ts';

/** What a caller waits for, ms. */
const WAIT_MS = 1_500;
/** Between two looks at what there is, ms: the skills judged so far are shown then. */
const STRETCH_MS = 1_000;

export interface JudgingOptions extends JudgingGround {
  /** Other skills may be shown now. */
  readonly settled: () => void;
  readonly failed: (error: unknown) => void;
}

export interface Judging {
  /** Resolves when all is judged, or the time is over; the rest goes on behind it. */
  work(signal?: AbortSignal): Promise<void>;
  stop(): void;
}

export function createJudging(options: JudgingOptions): Judging {
  const stop = new AbortController();
  let running: Promise<number> | undefined;
  let resting = false;
  const stretch = (ms: number, signal: AbortSignal): Promise<number> => {
    running ??= judgeStretch(options, ms, signal).finally(() => {
      running = undefined;
    });
    return running;
  };
  const rest = async () => {
    resting = true;
    try {
      while ((await stretch(STRETCH_MS, stop.signal)) > 0) await options.clock.sleep(0, stop.signal);
    } catch (error) {
      if (!stop.signal.aborted && !isAborted(error)) options.failed(error);
    } finally {
      resting = false;
    }
  };
  return {
    work: async (signal) => {
      const left = await stretch(WAIT_MS, signal ? AbortSignal.any([signal, stop.signal]) : stop.signal);
      if (left > 0 && !resting) void rest();
    },
    stop: () => stop.abort(),
  };
}

async function judgeStretch(options: JudgingOptions, ms: number, signal: AbortSignal): Promise<number> {
  const { cache, judge, clock, settled } = options;
  const { left, judged } = await judgeWaiting(options, ms, { signal, pause: workSlices(clock, signal) });
  if (judged === 0) return left;
  await cache.lightTransaction(() => {
    cache.exec("DELETE FROM problems WHERE reason = 'name-taken'; DELETE FROM indexes");
    for (const { path, reason, detail } of chooseWinners({ cache, judge }))
      cache.run('INSERT INTO problems VALUES(?, ?, ?)', path, reason, detail);
  }, signal);
  settled();
  return left;
}
