// Owns the clockwork of one extension's jobs. Knows no job.
// Invariant: jobs of one queue run one at a time; one that is late runs once, not once for every time it missed; none runs after `stop`.
import type { Clock } from '#base/clock.ts';
import type { ScheduledJob } from '#core/agent/extension-host.ts';

export interface JobQueue {
  add(job: ScheduledJob): void;
  /** Aborts the job that runs and waits for it. */
  stop(): Promise<void>;
}

export function createJobQueue(clock: Clock, onFailure: (job: string, error: unknown) => void): JobQueue {
  const controller = new AbortController();
  const timers = new Map<string, () => void>();
  let tail = Promise.resolve();

  const run = async (job: ScheduledJob): Promise<void> => {
    if (controller.signal.aborted) return;
    try {
      await job.run(controller.signal);
    } catch (error) {
      if (!controller.signal.aborted) onFailure(job.name, error);
    }
  };
  const schedule = (job: ScheduledJob, dueAt: number): void => {
    const cancel = clock.after(Math.max(0, dueAt - clock.monotonic()), () => {
      tail = tail
        .then(() => run(job))
        .then(() => {
          // Times that passed while the job waited or ran are skipped.
          const missed = Math.floor(Math.max(0, clock.monotonic() - dueAt) / job.everyMs);
          if (!controller.signal.aborted) schedule(job, dueAt + (missed + 1) * job.everyMs);
        });
    });
    timers.set(job.name, cancel);
  };
  return {
    add(job) {
      if (timers.has(job.name)) throw new Error(`there is a job ${job.name} already`);
      schedule(job, clock.monotonic() + job.everyMs);
    },
    async stop() {
      controller.abort();
      for (const cancel of timers.values()) cancel();
      await tail;
    },
  };
}
