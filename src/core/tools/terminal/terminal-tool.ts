// Owns the terminal tool: one shell command, in front or in the background, inside walls wherever they can be built; the shell and environment
// that it gets, and whether a file was there before the session. Knows no surface. Invariants: when a call ends, nothing that it started in front
// still runs; where there are walls nothing runs outside; keys never reach a command's environment. Serves seed 001 ch 4 (the terminal tool).
import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import { systemClock } from '#base/clock.ts';
import { known } from '#base/errors.ts';
import { type ProcessRequest, type ProcessResult, runProcess, withoutVariables } from '#base/process.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { ellipsize, sliceText } from '#base/text.ts';
import { type AnyTool, defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import { isTainted } from '#core/model/message.ts';
import { fullPath, realPath } from '../files/file-access.ts';
import { commandRisk, onlyReads } from '../risk/command-risk.ts';
import { isInScratch, isWithin, makePlace, type PlaceOptions } from '../risk/place.ts';
import { OUTPUT_LIMITS, TERMINAL, TIMEOUT } from '../tool-cards.ts';
import type { Opening, Walls } from '../walls/walls.ts';
import { type BackgroundJobs, createBackgroundJobs, createProcessTool, createWaitingWalls } from './background.ts';
import { type Binding, bindApproval, pathsWritten } from './bound-command.ts';
import { commandOutput, isFailed } from './command-output.ts';
import { removedNote, runEnclosed } from './enclosed-run.ts';
import { isAskedAnew, openingKey } from './openings.ts';

export interface TerminalOptions {
  /** The environment that commands get, as the program got it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names of variables that commands must not see: keys, and what only concerns this program. */
  readonly secretNames?: readonly string[];
  readonly walls: Walls;
  /** Walls that the owner opened by an answer, for the session or for good. */
  readonly opened?: () => readonly Opening[];
  /** The agent's own home. */
  readonly home?: string;
  /** Time-out of a call that gives none, seconds; default 180. */
  readonly timeout?: number;
}

export interface TerminalTools {
  /** terminal and process. */
  readonly tools: readonly AnyTool[];
  /** Ends background commands (of one session, or all) and what they had of their own; resolves when they are gone. */
  closeAll(sessionId?: string): Promise<void>;
}

type TerminalInput = z.infer<typeof TERMINAL.input>;

export function createTerminalTool(options: TerminalOptions): TerminalTools {
  const { walls } = options;
  const jobs = createBackgroundJobs();
  const launch = createLauncher(options);
  const filesOf = createSessionFiles();
  /** What an answer was asked for, by the call's own input. */
  const marks = new WeakMap<TerminalInput, string>();
  const placeOf = (context: ToolContext) => placeFor(options, context, filesOf(context.sessionId));
  const bind = (asked: TerminalInput, context: ToolContext): Binding =>
    bindApproval(movedCommand(asked, context), placeOf(context));
  const terminal = defineTool<TerminalInput>({
    ...TERMINAL,
    summary: ({ command }) => `$ ${ellipsize(command.replace(/\s*\n\s*/g, ' ⏎ '), 200)}`,
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
    run: async (asked, context, signal) => {
      filesOf(context.sessionId);
      const isEnclosed = walls.state().kind === 'walls';
      const launched = launch(asked, context);
      if (!launched.ok) return { text: launched.detail, isError: true };
      if (!(await isStillAllowed(marks.get(asked), () => bind(asked, context), asked, context)))
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
  asked: TerminalInput,
  context: ToolContext,
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
  { env, home, walls }: TerminalOptions,
  { cwd, isOwnFile, stoodBefore }: ToolContext,
  isOld: (path: string) => boolean,
): PlaceOptions {
  const isWalled = walls.state().kind === 'walls';
  const temporary = makePlace({ cwd });
  return {
    cwd,
    home: env.HOME ?? homedir(),
    path: env.PATH ?? '',
    dataHome: home,
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
  const seconds = Math.min(TIMEOUT.most, asked.timeout ?? options.timeout ?? TIMEOUT.usual);
  const { terminalHeadBytes, terminalTailBytes } = OUTPUT_LIMITS;
  const limits = { ...limitsFor(context, terminalHeadBytes, terminalTailBytes), timeoutMs: seconds * 1_000 };
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

const MOST_ENTRIES = 2_000;

/** Was a path, or anything in it, there before the session? It begins with its first call here. */
function createSessionFiles(): (sessionId: string) => (path: string) => boolean {
  const starts = new Map<string, number>();
  return (sessionId) => {
    // Times of files are real, whatever clock a session has.
    const start = starts.get(sessionId) ?? systemClock.now();
    starts.set(sessionId, start);
    return (path) => isBornBefore(path, start, { left: MOST_ENTRIES });
  };
}

function isBornBefore(path: string, start: number, budget: { left: number }): boolean {
  const isBefore = known(() => {
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts === undefined) return false;
    budget.left -= 1;
    if (budget.left < 0 || facts.birthtimeMs === 0 || facts.birthtimeMs < start) return true;
    return facts.isDirectory() && readdirSync(path).some((name) => isBornBefore(join(path, name), start, budget));
  });
  return isBefore ?? true;
}

/** Variables that make programs behave without a person: no pager, no colours, no question for a password. */
const QUIET = { TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0', NO_COLOR: '1' } as const;
/** What only reads runs no hook and no monitor, also none that the settings of the account name in whatever folder git is. */
const PLAIN_GIT = {
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'core.hooksPath',
  GIT_CONFIG_VALUE_0: '/dev/null',
  GIT_CONFIG_KEY_1: 'core.fsmonitor',
  GIT_CONFIG_VALUE_1: 'false',
} as const;
/** What Node was told about itself does not concern the programs that a command starts. */
const OURS = ['NODE_COMPILE_CACHE', 'NODE_OPTIONS', 'NODE_TEST_CONTEXT', 'NODE_CHANNEL_FD'];

/** Both streams become one in the order in which they were written; the command's own lines keep their numbers. */
const WRAPPER = 'exec 2>&1; eval "set --; $1"';

function createLauncher({ env: given, secretNames = [] }: TerminalOptions) {
  const shell =
    ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash', '/opt/homebrew/bin/bash'].find(existsSync) ?? '/bin/sh';
  const env = { ...withoutVariables(given, [...OURS, ...secretNames]), ...QUIET };
  return (asked: TerminalInput, context: ToolContext): Result<ProcessRequest, 'bad-command' | 'no-folder'> => {
    if (asked.command.includes('\0')) return refuse('bad-command', 'a command cannot hold a zero byte');
    const cwd = folderOf(asked, context);
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      return refuse('no-folder', `there is no folder ${cwd} to run in`);
    const place = makePlace({ cwd, path: given.PATH ?? '', exists: existsSync, real: realPath });
    const plain = onlyReads(asked.command, place) ? PLAIN_GIT : {};
    const limits = limitsFor(context, 4_000, OUTPUT_LIMITS.jobBytes);
    return ok({
      argv: [shell, '-c', WRAPPER, 'bash', asked.command],
      cwd,
      env: { ...env, ...plain, PWD: cwd },
      limits,
    });
  };
}

function folderOf({ workdir }: TerminalInput, { cwd }: Pick<ToolContext, 'cwd'>): string {
  return workdir === undefined ? cwd : fullPath(workdir, cwd, {});
}

/** One folder a session: call ids are the model's, and those of another session may be the same. */
function limitsFor({ spillFolder, sessionId, callId, redact }: ToolContext, headBytes: number, tailBytes: number) {
  const fileName = (id: string) => id.replace(/[^\w-]/g, '_').slice(0, 100) || '_';
  const spill = join(spillFolder, fileName(sessionId), `${fileName(callId)}.txt`);
  return { headBytes, tailBytes, maxBytes: OUTPUT_LIMITS.terminalMaxBytes, spill, redact };
}
