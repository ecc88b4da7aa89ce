// Owns commands that run on while the conversation goes on: their names, output, end. One instance lives as long as the program.
// Knows no tool. Invariant: after `closeAll` no job runs; a job's memory is bounded; ended jobs are kept, but not without limit.
import type { Clock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { type ProcessRequest, type ProcessResult, type RunningProcess, startProcess } from '#base/process.ts';

export interface Job {
  readonly id: string;
  readonly command: string;
  readonly sessionId: string;
  readonly startedAt: number;
  readonly running: RunningProcess;
  readonly stop: () => void;
  /** Set when it has ended. */
  result?: ProcessResult;
  /** What walls did, when it has ended. */
  notes: readonly string[];
  /** Resolves when it has ended and `notes` is whole; never rejects. */
  readonly settled: Promise<void>;
  /** Walls that it waits at: only in a later call is there somebody to ask. */
  readonly waiting: WaitingWalls;
}

export interface WaitingWalls {
  readonly openings: Map<string, (mayOpen: boolean) => void>;
  /** Resolves at the next one. */
  next: PromiseWithResolvers<void>;
}

export function createWaitingWalls(): WaitingWalls {
  return { openings: new Map(), next: Promise.withResolvers<void>() };
}

export interface AboutJob {
  readonly command: string;
  readonly sessionId: string;
  readonly clock: Clock;
  readonly waiting?: WaitingWalls;
  /** Tells what walls did, once it has ended. */
  readonly settle?: (result: ProcessResult) => Promise<readonly string[]>;
}

export interface BackgroundJobs {
  start(request: ProcessRequest, about: AboutJob): Job;
  get(id: string, sessionId: string): Job | undefined;
  list(sessionId: string): readonly Job[];
  /** Ends the jobs of a session, or all; resolves when they are gone. */
  closeAll(sessionId?: string): Promise<void>;
}

const KEPT_ENDED = 20;

export function createBackgroundJobs(): BackgroundJobs {
  const jobs = new Map<string, Job>();
  let count = 0;
  return {
    start(request, { command, sessionId, clock, settle, waiting = createWaitingWalls() }) {
      count += 1;
      const control = new AbortController();
      const running = startProcess(request, control.signal);
      const job: Job = {
        id: `job${count}`,
        command,
        sessionId,
        startedAt: clock.now(),
        running,
        notes: [],
        waiting,
        stop: () => control.abort(),
        settled: running.result.then(async (result) => {
          for (const answer of waiting.openings.values()) answer(false);
          waiting.openings.clear();
          job.notes = await notesOf(settle, result);
          job.result = result;
          forgetOldest(jobs);
        }),
      };
      jobs.set(job.id, job);
      return job;
    },
    get: (id, sessionId) => {
      const job = jobs.get(id);
      return job?.sessionId === sessionId ? job : undefined;
    },
    list: (sessionId) => [...jobs.values()].filter((job) => job.sessionId === sessionId),
    async closeAll(sessionId) {
      const mine = [...jobs.values()].filter((job) => sessionId === undefined || job.sessionId === sessionId);
      for (const job of mine) job.stop();
      await Promise.all(mine.map((job) => job.settled));
    },
  };
}

async function notesOf(settle: AboutJob['settle'], result: ProcessResult): Promise<readonly string[]> {
  try {
    return (await settle?.(result)) ?? [];
  } catch (error) {
    return [`[what it left could not be looked at: ${errorText(error)}]`];
  }
}

function forgetOldest(jobs: Map<string, Job>): void {
  const ended = [...jobs.values()].filter((job) => job.result !== undefined);
  for (const job of ended.slice(0, Math.max(0, ended.length - KEPT_ENDED))) jobs.delete(job.id);
}
