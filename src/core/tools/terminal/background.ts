// Owns commands that run on while the conversation goes on (their names, output, end), and the process tool that looks after them.
// Knows not how they were started. Invariants: after `closeAll` no job runs; a job's memory is bounded; ended jobs are kept, but not without
// limit; a session sees and ends only its own jobs.

import type { z } from 'zod';
import { type Clock, isoTime } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { type ProcessRequest, type ProcessResult, type RunningProcess, startProcess } from '#base/process.ts';
import { ellipsize } from '#base/text.ts';
import { defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import { PROCESS } from '../tool-cards.ts';
import { plainOutput } from './command-output.ts';
import { createWallDesk } from './openings.ts';

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

export type BackgroundJobs = ReturnType<typeof createBackgroundJobs>;

const KEPT_ENDED = 20;

export function createBackgroundJobs() {
  const jobs = new Map<string, Job>();
  let count = 0;
  return {
    start(request: ProcessRequest, about: AboutJob): Job {
      const { command, sessionId, clock, settle, waiting = createWaitingWalls() } = about;
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
    get: (id: string, sessionId: string): Job | undefined => {
      const job = jobs.get(id);
      return job?.sessionId === sessionId ? job : undefined;
    },
    list: (sessionId: string): readonly Job[] => [...jobs.values()].filter((job) => job.sessionId === sessionId),
    /** Ends the jobs of a session, or all; resolves when they are gone. */
    async closeAll(sessionId?: string): Promise<void> {
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

const WAIT_MS = 60_000;

export function createProcessTool(jobs: BackgroundJobs) {
  return defineTool<z.infer<typeof PROCESS.input>>({
    ...PROCESS,
    summary: ({ action, id }) => `process ${action}${id === undefined ? '' : ` ${id}`}`,
    run: async (request, context, signal) => {
      if (request.action === 'list') return listJobs(jobs.list(context.sessionId), context);
      const job = jobs.get(request.id ?? '', context.sessionId);
      if (!job) return unknownJob(request.id, jobs.list(context.sessionId));
      if (request.action === 'kill') {
        job.stop();
        await job.settled;
      }
      await answerWaiting(job, context);
      if (request.action === 'wait') await waitForEnd(job, context, signal);
      return describeJob(job, context);
    },
  });
}

function unknownJob(id: string | undefined, all: readonly Job[]): ToolOutput {
  const known = all.map((job) => job.id).join(', ') || 'none';
  return { text: `there is no background command ${id ?? 'without an id'}; known: ${known}`, isError: true };
}

/** What it waits for is asked now: here somebody may be there. */
async function answerWaiting(job: Job, context: ToolContext): Promise<void> {
  const desk = createWallDesk(job.command, context);
  for (const [host, answer] of job.waiting.openings) {
    job.waiting.openings.delete(host);
    answer(await desk.mayOpen({ kind: 'host', host }));
  }
}

async function waitForEnd(job: Job, context: ToolContext, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const stop = () => over.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const isOver = Promise.race([job.settled, context.clock.sleep(WAIT_MS, over.signal)]).then(() => true);
    while (!(await Promise.race([isOver, job.waiting.next.promise.then(() => false)]))) {
      job.waiting.next = Promise.withResolvers<void>();
      await answerWaiting(job, context);
    }
  } finally {
    signal.removeEventListener('abort', stop);
    over.abort();
  }
}

function listJobs(all: readonly Job[], context: ToolContext): ToolOutput {
  if (all.length === 0) return { text: 'no background commands', origin: 'observed' };
  return { text: all.map((job) => headline(job, context)).join('\n') };
}

function headline(job: Job, context: ToolContext): string {
  return `${job.id}  ${stateOf(job, context)}  $ ${ellipsize(job.command.replaceAll('\n', ' '), 100)}`;
}

function stateOf(job: Job, { clock }: ToolContext): string {
  const { result } = job;
  if (!result)
    return `running for ${Math.round((clock.now() - job.startedAt) / 1_000)} s since ${isoTime(job.startedAt)}`;
  if (result.ended === 'not-started') return result.error ?? 'could not be started';
  const how = result.exitCode === undefined ? `ended by ${result.signal ?? result.ended}` : `exit ${result.exitCode}`;
  return `${result.ended === 'aborted' ? 'stopped' : how} after ${Math.round(result.ms / 1_000)} s`;
}

function describeJob(job: Job, context: ToolContext): ToolOutput {
  const output = job.result?.output ?? job.running.output();
  const text = plainOutput(output.text);
  const whole = output.spill === undefined ? [] : [`[whole output: ${output.spill}]`];
  const exitCode = job.result?.exitCode;
  return {
    text: [headline(job, context), text, ...whole, ...job.notes].filter((part) => part !== '').join('\n'),
    ...(exitCode === undefined ? {} : { exitCode }),
  };
}
