// Owns commands that run on while the conversation goes on: their names, output, end. One instance lives as long as the program.
// Knows no tool. Invariant: after `closeAll` no job runs; a job's memory is bounded; ended jobs are kept, but not without limit.
import type { Clock } from '#base/clock.ts';
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
}

export interface BackgroundJobs {
  start(
    request: ProcessRequest,
    about: { readonly command: string; readonly sessionId: string; readonly clock: Clock },
  ): Job;
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
    start(request, { command, sessionId, clock }) {
      count += 1;
      const control = new AbortController();
      const running = startProcess(request, control.signal);
      const job: Job = {
        id: `job${count}`,
        command,
        sessionId,
        startedAt: clock.now(),
        running,
        stop: () => control.abort(),
      };
      // The result never rejects: the promise only writes down the end.
      void running.result.then((result) => {
        job.result = result;
        forgetOldest(jobs);
      });
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
      await Promise.all(mine.map((job) => job.running.result));
    },
  };
}

function forgetOldest(jobs: Map<string, Job>): void {
  const ended = [...jobs.values()].filter((job) => job.result !== undefined);
  for (const job of ended.slice(0, Math.max(0, ended.length - KEPT_ENDED))) jobs.delete(job.id);
}
