// Owns the thread of a search that is too large to be done beside everything else: it can be ended from outside, whatever runs in it.
// Invariant: one search, one message, and it is over.
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '#base/clock.ts';
import { runSearch, type SearchJob, WHOLE_SEARCH } from './search-job.ts';

const whole = { bounds: WHOLE_SEARCH, clock: systemClock };
parentPort?.postMessage(await runSearch(workerData as SearchJob, whole, new AbortController().signal));
