// Owns the process tool: looking after commands that run in the background.
// Knows jobs and nothing of how they were started. Invariant: a session sees and ends only its own jobs.
import { z } from 'zod';
import { isoTime } from '#base/clock.ts';
import { ellipsize } from '#base/text.ts';
import { defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import { lenientInput } from '../registry/lenient-input.ts';
import type { BackgroundJobs, Job } from './background-jobs.ts';
import { plainOutput } from './command-output.ts';
import { createWallDesk } from './openings.ts';

const input = lenientInput({
  action: z.enum(['list', 'log', 'wait', 'kill']),
  id: z.string().optional(),
});

type ProcessInput = z.infer<typeof input>;

const WAIT_MS = 60_000;

export function createProcessTool(jobs: BackgroundJobs) {
  return defineTool<ProcessInput>({
    name: 'process',
    description: 'Look after background commands.',
    input,
    toolset: 'terminal',
    effect: 'write',
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
