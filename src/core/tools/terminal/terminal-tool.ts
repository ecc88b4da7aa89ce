// Owns the terminal tool: one shell command, in front or in the background, inside walls wherever they can be built.
// Knows no surface. Invariant: when a call ends, nothing that it started in front still runs; where there are walls nothing runs outside.
// Serves seed 001 ch 4 (the terminal tool).
import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { z } from 'zod';
import { type ProcessRequest, type ProcessResult, runProcess } from '#base/process.ts';
import { ellipsize, sliceText } from '#base/text.ts';
import { type AnyTool, defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import { isTainted } from '#core/model/message.ts';
import { realPath } from '../file/file-access.ts';
import { OUTPUT_LIMITS } from '../output-limits.ts';
import { lenientInput } from '../registry/lenient-input.ts';
import { commandRisk } from '../risk/command-risk.ts';
import { isInScratch, isWithin, makePlace, type PlaceOptions } from '../risk/place.ts';
import { onlyReads } from '../risk/read-only.ts';
import type { Opening, Walls } from '../walls/walls.ts';
import { type BackgroundJobs, createBackgroundJobs, createWaitingWalls } from './background-jobs.ts';
import { type Binding, bindApproval } from './bound-approval.ts';
import { createLauncher, folderOf, type LaunchOptions, spillPath } from './command-launcher.ts';
import { commandOutput, isFailed } from './command-output.ts';
import { removedNote, runEnclosed } from './enclosed-run.ts';
import { isAskedAnew, openingKey } from './openings.ts';
import { createProcessTool } from './process-tool.ts';
import { createSessionFiles } from './session-files.ts';
import { pathsWritten } from './written-paths.ts';

export interface TerminalOptions extends LaunchOptions {
  readonly walls: Walls;
  /** Walls that the owner opened by an answer, for the session or for good. */
  readonly opened?: () => readonly Opening[];
  /** The agent's own home. */
  readonly home?: string;
  /** Folders that commands may write without asking, beside the working folder. */
  readonly scratch?: readonly string[];
  /** Time-out of a call that gives none, seconds; default 180. */
  readonly timeout?: number;
}

export interface TerminalTools {
  /** terminal and process. */
  readonly tools: readonly AnyTool[];
  /** Ends background commands (of one session, or all) and what they had of their own; resolves when they are gone. */
  closeAll(sessionId?: string): Promise<void>;
}

const DEFAULT_SECONDS = 180;
const MAX_SECONDS = 600;

const input = lenientInput({
  command: z.string().min(1),
  timeout: z.number().positive().optional().describe(`seconds, default ${DEFAULT_SECONDS}, max ${MAX_SECONDS}`),
  background: z.boolean().optional(),
  workdir: z.string().min(1).optional(),
});

type TerminalInput = z.infer<typeof input>;

export function createTerminalTool(options: TerminalOptions): TerminalTools {
  const { walls } = options;
  const jobs = createBackgroundJobs();
  const launch = createLauncher(options);
  const files = createSessionFiles();
  /** What an answer was asked for, by the call's own input. */
  const marks = new WeakMap<TerminalInput, string>();
  const placeOf = (context: ToolContext) => placeFor(options, context, files.of(context.sessionId));
  const bind = (asked: TerminalInput, context: ToolContext): Binding =>
    bindApproval(movedCommand(asked, context), placeOf(context));
  const terminal = defineTool<TerminalInput>({
    name: 'terminal',
    description: 'Run a bash command; each call starts in the working folder. background for servers, then process.',
    input,
    toolset: 'terminal',
    effect: 'write',
    outputLimit: OUTPUT_LIMITS.terminalHeadBytes + OUTPUT_LIMITS.terminalTailBytes + 2_000,
    risk: (asked, context) => {
      const [command, place] = [movedCommand(asked, context), placeOf(context)];
      const risk = commandRisk(command, place);
      if (risk.level !== 'ask') return risk;
      const { key, mark } = bind(asked, context);
      marks.set(asked, mark);
      // With foreign words in the context an old yes is none for what goes beyond the folder: the words are the same, what they carry is not.
      if (key === '' || !isTainted(context.history()) || !goesBeyond(command, place)) return { ...risk, key };
      return {
        ...risk,
        key: '',
        reason: `${risk.reason}; asked each time, since the agent has read what you did not write`,
      };
    },
    writes: (asked, context) =>
      pathsWritten(movedCommand(asked, context), placeOf(context)).map((path) => realPath(path)),
    changes: (asked, context) =>
      onlyReads(movedCommand(asked, context), makePlace(placeOf(context))) ? undefined : realPath(context.cwd),
    summary: ({ command }) => `$ ${ellipsize(command.replace(/\s*\n\s*/g, ' ⏎ '), 200)}`,
    run: async (asked, context, signal) => {
      files.of(context.sessionId);
      const isEnclosed = walls.state().kind === 'walls';
      const launched = launch(asked, context);
      if (!launched.ok) return { text: launched.detail, isError: true };
      if (!(await isStillAllowed(marks.get(asked), () => bind(asked, context), { asked, context })))
        return { text: 'Not run: a script that it names was changed after it was allowed.', isError: true };
      const run = { asked, context, options, isEnclosed, request: launched.value };
      return asked.background ? runInBackground(run, jobs) : runInFront(run, signal);
    },
  });
  const closeAll = async (sessionId?: string) => {
    await jobs.closeAll(sessionId);
    await (sessionId === undefined ? walls.close() : walls.endSession(sessionId));
  };
  return { tools: [terminal, createProcessTool(jobs)], closeAll };
}

/** What was shown is what runs: a script that changed since is asked about anew, until it holds still. */
async function isStillAllowed(
  allowed: string | undefined,
  bind: () => Binding,
  { asked, context }: { readonly asked: TerminalInput; readonly context: ToolContext },
): Promise<boolean> {
  let mark = allowed;
  for (let round = 0; mark !== undefined && round < 3; round += 1) {
    const now = bind();
    if (now.mark === mark) return true;
    const reason = 'a script that it names was changed since you were asked';
    const question = { reason, key: now.key, preview: movedCommand(asked, context) };
    if (((await context.approve?.(question)) ?? 'deny') === 'deny') return false;
    mark = now.mark;
  }
  return mark === undefined;
}

/** By what is found in its words: where nothing keeps commands in, every one may go beyond, and that alone takes no yes back. */
function goesBeyond(command: string, { walls, ...place }: PlaceOptions): boolean {
  const open = walls?.kind === 'none' ? ({ ...walls, kind: 'machine' } as const) : walls;
  const risk = commandRisk(command, { ...place, ...(open ? { walls: open } : {}) });
  return risk.level === 'ask' && risk.reach === 'beyond';
}

/** As it would be typed in the session's folder. */
function movedCommand(asked: TerminalInput, { cwd }: Pick<ToolContext, 'cwd'>): string {
  const folder = folderOf(asked, { cwd });
  return folder === cwd ? asked.command : `cd ${quote(folder)} && ${asked.command}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A file that the session itself made may be emptied and deleted by it. */
function placeFor(
  { env, home, scratch = [], walls }: TerminalOptions,
  { cwd, isOwnFile, stoodBefore }: ToolContext,
  isOld: (path: string) => boolean,
): PlaceOptions {
  const isWalled = walls.state().kind === 'walls';
  const temporary = makePlace({ cwd, scratch });
  return {
    cwd,
    home: env.HOME ?? homedir(),
    path: env.PATH ?? '',
    dataHome: home,
    scratch,
    exists: existsSync,
    real: realPath,
    walls: walls.state(),
    isOld: (path) => {
      const real = realPath(path);
      // Without walls nothing is surely the session's own: others make files meanwhile.
      if (isOwnFile?.(real) === true || !(isOld(path) || stoodBefore?.(real) === true))
        return isWalled ? false : undefined;
      // Inside walls temporary folders are the session's own, whatever stands here.
      return isWalled && isInScratch(path, temporary) && !isWithin(path, cwd) ? undefined : true;
    },
    isFilled: (path) => isFilledFile(path) && !isOwnFile?.(realPath(path)),
  };
}

function isFilledFile(path: string): boolean {
  const facts = statSync(path, { throwIfNoEntry: false });
  return facts?.isFile() === true && facts.size > 0;
}

interface Launched {
  readonly asked: TerminalInput;
  readonly context: ToolContext;
  readonly options: TerminalOptions;
  readonly isEnclosed: boolean;
  readonly request: ProcessRequest;
}

async function runInFront(
  { asked, context, options, isEnclosed, request }: Launched,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const { command } = asked;
  const seconds = Math.min(MAX_SECONDS, asked.timeout ?? options.timeout ?? DEFAULT_SECONDS);
  const limits = {
    headBytes: OUTPUT_LIMITS.terminalHeadBytes,
    tailBytes: OUTPUT_LIMITS.terminalTailBytes,
    maxBytes: OUTPUT_LIMITS.terminalMaxBytes,
    spill: spillPath(context),
    redact: context.redact,
    timeoutMs: seconds * 1_000,
  };
  const execute = (one: ProcessRequest): Promise<ProcessResult> =>
    runProcess({ ...one, limits, onOutput: liveOutput(context), clock: context.clock }, signal);
  if (!isEnclosed) return commandOutput({ command, result: await execute(request), seconds });
  const opened = openedFor(options, context);
  const ended = await runEnclosed({ walls: options.walls, command, request, context, opened, execute });
  return commandOutput({ command, seconds, ...ended, isEnclosed });
}

function openedFor({ opened }: TerminalOptions, context: ToolContext): readonly Opening[] {
  return opened?.().filter((opening) => !isAskedAnew(opening, context)) ?? [];
}

/** In the background nobody can be asked: what a job waits at is asked in the next call that looks after it. */
async function runInBackground(
  { asked, context, options, isEnclosed, request }: Launched,
  jobs: BackgroundJobs,
): Promise<ToolOutput> {
  const { walls } = options;
  const { command } = asked;
  const { sessionId, clock, cwd: folder } = context;
  const waiting = createWaitingWalls();
  const askHost = (host: string) =>
    new Promise<boolean>((resolve) => {
      waiting.openings.set(host, resolve);
      waiting.next.resolve();
    });
  const openings = openedFor(options, context);
  const given = new Set(openings.map(openingKey));
  const ask = (host: string) => (given.has(openingKey({ kind: 'host', host })) ? Promise.resolve(true) : askHost(host));
  const enclosed = isEnclosed ? await walls.enclose(request, { sessionId, folder, openings, askHost: ask }) : undefined;
  const settle = async (result: ProcessResult): Promise<readonly string[]> => {
    const failed = isFailed(command, result);
    const met = await enclosed?.settle({ output: result.output.text, failed });
    return [...(met?.notes ?? []), ...(met && met.planted.length > 0 ? [removedNote(met)] : [])];
  };
  const job = jobs.start(enclosed?.request ?? request, { command, sessionId, clock, waiting, settle });
  const failed = job.running.pid === undefined ? (await job.running.result).error : undefined;
  if (failed !== undefined) return { text: failed, isError: true };
  const text = `${job.id} runs in the background (process: log, wait, kill)`;
  return { text, origin: 'observed', stillRuns: true };
}

/** A surface is not flooded: after a while it is told once that the rest is not shown live. */
function liveOutput({ progress }: ToolContext): (chunk: string) => void {
  let left: number = OUTPUT_LIMITS.liveChars;
  return (chunk) => {
    if (left <= 0) return;
    progress(sliceText(chunk, left));
    left -= chunk.length;
    if (left <= 0) progress('\n[more output follows; it is not shown here]\n');
  };
}
