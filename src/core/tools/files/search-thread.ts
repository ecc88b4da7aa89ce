// Owns the thread that a large search runs in. Knows no tool. Invariant: an abort, or a time-out, ends it whatever it hangs in.
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { deadline, raceAbort } from '#base/abort.ts';
import { systemClock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { threadVariables } from '#base/process/holder.ts';
import type { ToolOutput } from '#core/agent/tool.ts';
import type { SearchJob } from './search-job.ts';

/** A thread that gives no answer for so long hangs in the system or in one line: it is ended. */
const THREAD_MS = 60_000;
const MEMORY = { maxOldGenerationSizeMb: 512 };

export async function searchInThread(job: SearchJob, signal: AbortSignal): Promise<ToolOutput> {
  const late = () => new TalariaError(`no end after ${THREAD_MS / 1000} s`, { code: 'search-timeout' });
  const limit = deadline(systemClock, signal, THREAD_MS, late);
  const options = { workerData: job, env: threadVariables(), execArgv: [], stdin: false, stdout: true, stderr: true };
  const worker = new Worker(workerFile(), { ...options, resourceLimits: MEMORY });
  const answer = new Promise<ToolOutput>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new TalariaError('its thread ended', { code: 'search-failed' })));
  });
  try {
    return await raceAbort(answer, limit.signal);
  } catch (error) {
    signal.throwIfAborted();
    return { text: `the search was stopped: ${errorText(error)}; narrow it with path or file_glob`, isError: true };
  } finally {
    limit.clear();
    // Not waited for: a thread that hangs in the system ends when the system lets it.
    worker.terminate().catch(() => undefined);
  }
}

/** In the source beside us; in the bundle an entry of its own, beside or above the chunk that we are in. */
function workerFile(): URL {
  const places = ['./search.worker.ts', './search.worker.js', '../search.worker.js'];
  const found = places.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(url));
  if (found === undefined)
    throw new TalariaError('the file of the search thread is missing', {
      code: 'search-failed',
      fix: 'Install Talaria anew.',
    });
  return found;
}
