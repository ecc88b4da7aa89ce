// Owns when reviews run: one after the other beside the conversations, at start what is due, at the end what is left goes back to due.
// Knows no model and no trigger. Invariants: a review is a row before it runs and a decided row after; nothing here throws at a turn.
import { isAborted } from '#base/abort.ts';
import type { Clock } from '#base/clock.ts';
import { errorCode, errorText } from '#base/errors.ts';
import type { Review, ReviewOrder, ReviewOutcome } from './review.ts';
import type { ReviewRows } from './review-rows.ts';
import { withUnattendedLease } from './unattended-lease.ts';

/** Where work goes on beside the turns; the app holds and drains it. */
export interface Background {
  /** Aborts when the program ends. */
  readonly signal: AbortSignal;
  hold(name: string, work: Promise<unknown>): void;
}

export interface ReviewDeskParts {
  readonly rows: ReviewRows;
  readonly run: (review: Review, signal: AbortSignal) => Promise<ReviewOutcome>;
  /** Is there budget for one more of this session? Asked before each review that nobody asked for by hand. */
  readonly mayRun: (sessionId: string) => Promise<boolean>;
  readonly background: Background;
  readonly clock: Clock;
  /** File of the home's lease for unattended writers. */
  readonly leasePath: string;
  readonly log: (event: string, text: string) => void;
  /** How long an ordered review waits before it asks a model, ms: a program that ends right away leaves it due instead of half done. */
  readonly delayMs: () => number;
}

export interface ReviewDesk {
  /** Records the review and starts it beside the conversation; without budget, or at the end of the program, it stays due. */
  order(order: ReviewOrder): Promise<void>;
  /** Runs it now. Throws what the review throws; the row is decided. */
  runNow(
    order: ReviewOrder,
    signal: AbortSignal,
  ): Promise<{ readonly review: Review; readonly outcome: ReviewOutcome }>;
  runDue(signal: AbortSignal): Promise<number>;
  drain(signal: AbortSignal): Promise<void>;
}

/** Due reviews that one start takes on. */
const MOST_DUE = 5;

export function createReviewDesk(parts: ReviewDeskParts): ReviewDesk {
  const { rows, background } = parts;
  const ending = new AbortController();
  const closing = new AbortController();
  const stop = AbortSignal.any([background.signal, ending.signal]);
  let line: Promise<unknown> = Promise.resolve();
  /** After the reviews that wait before it. */
  const inLine = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = line.then(work);
    line = mine.catch(() => undefined);
    return mine;
  };
  const quietly = async (review: Review, signal: AbortSignal): Promise<boolean> => {
    if (signal.aborted) return false;
    try {
      return (await parts.mayRun(review.sessionId)) && (await takeAndRun(parts, review, signal)) !== undefined;
    } catch (error) {
      parts.log('review-failed', `${review.id} of ${review.sessionId}: ${errorText(error)}`);
      return false;
    }
  };
  return {
    async order(order) {
      const review = await rows.order(order);
      const early = AbortSignal.any([background.signal, closing.signal]);
      background.hold(
        'review',
        inLine(async () => (await waited(parts, early)) && (await quietly(review, stop))),
      );
    },
    async runNow(order, signal) {
      const review = await rows.order(order);
      const outcome = await inLine(() => takeAndRun(parts, review, AbortSignal.any([signal, stop])));
      return { review, outcome: outcome ?? NOTHING };
    },
    async runDue(signal) {
      const both = AbortSignal.any([signal, stop]);
      let ran = 0;
      try {
        await withUnattendedLease(
          parts.leasePath,
          async () => {
            for (const review of rows.due().slice(0, MOST_DUE))
              ran += (await inLine(() => quietly(review, both))) ? 1 : 0;
          },
          parts.clock,
        );
      } catch (error) {
        parts.log('review-failed', `due reviews: ${errorText(error)}`);
      }
      return ran;
    },
    async drain(signal) {
      closing.abort();
      await untilAborted(line, signal);
      ending.abort();
      await line;
    },
  };
}

const NOTHING: ReviewOutcome = { kept: 0, refused: 0, pending: 0, tokens: 0, cost: 0, model: '' };

/** Undefined when another process has it, or it was tried too often. Throws what the run throws, after the row is given back. */
async function takeAndRun(
  parts: ReviewDeskParts,
  due: Review,
  signal: AbortSignal,
): Promise<ReviewOutcome | undefined> {
  const review = await parts.rows.take(due.id);
  if (review === undefined) return undefined;
  try {
    const outcome = await parts.run(review, signal);
    await parts.rows.finish(review.id, outcome);
    return outcome;
  } catch (error) {
    const stopped = signal.aborted || isAborted(error);
    await parts.rows.giveBack(review.id, {
      detail: stopped ? 'it was stopped when the program ended' : errorText(error),
      final: errorCode(error) === 'no-such-session',
    });
    throw error;
  }
}

/** False when the program ended meanwhile. */
async function waited({ clock, delayMs }: ReviewDeskParts, signal: AbortSignal): Promise<boolean> {
  const ms = delayMs();
  if (ms === 0) return true;
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return !signal.aborted;
}

function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  return Promise.race([work, promise]);
}
