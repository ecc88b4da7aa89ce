// Owns the terminal tool: one shell command, in front or in the background, sandboxed when the configuration asks for it.
// Knows no surface. Invariant: when a call ends, nothing that it started in front still runs; keys never reach a command's environment.
// Serves seed 001 ch 4 (the terminal tool).
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type ProcessRequest, runProcess, withoutVariables } from '#base/process.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import { ellipsize, sliceText } from '#base/text.ts';
import { type AnyTool, defineTool, type ToolContext, type ToolOutput } from '#core/agent/tool.ts';
import { fullPath, realPath } from '../file/file-access.ts';
import { OUTPUT_LIMITS } from '../output-limits.ts';
import { lenientInput } from '../registry/lenient-input.ts';
import { commandRisk, pathsWritten } from '../risk/command-risk.ts';
import type { PlaceOptions } from '../risk/place.ts';
import { createBackgroundJobs } from './background-jobs.ts';
import { commandOutput } from './command-output.ts';
import { createProcessTool } from './process-tool.ts';
import { findBubblewrap, type SandboxOptions, sandboxArguments } from './sandbox.ts';

export interface TerminalOptions {
  /** The environment that commands get, as the program got it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names of variables that commands must not see: keys, and what only concerns this program. */
  readonly secretNames?: readonly string[];
  /** The agent's own home. */
  readonly home?: string;
  readonly sandbox?: SandboxOptions | undefined;
  /** Folders that commands may write without asking, beside the working folder. */
  readonly scratch?: readonly string[];
  /** Time-out of a call that gives none, seconds; default 180. */
  readonly timeout?: number;
}

export interface TerminalTools {
  /** terminal and process. */
  readonly tools: readonly AnyTool[];
  /** Ends background commands (of one session, or all) and resolves when they are gone. */
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
  const jobs = createBackgroundJobs();
  const launcher = createLauncher(options);
  const terminal = defineTool<TerminalInput>({
    name: 'terminal',
    description: 'Run a bash command; each call starts in the working folder. background for servers, then process.',
    input,
    toolset: 'terminal',
    effect: 'write',
    outputLimit: OUTPUT_LIMITS.terminalHeadBytes + OUTPUT_LIMITS.terminalTailBytes + 2_000,
    available: () => launcher.available(),
    risk: (request, context) => {
      const moved = movedCommand(request, context.cwd);
      const risk = commandRisk(moved, placeOf(options, context));
      return risk.level === 'ask' ? { ...risk, preview: moved } : risk;
    },
    writes: (request, context) =>
      pathsWritten(movedCommand(request, context.cwd), placeOf(options, context)).map((path) => realPath(path)),
    summary: ({ command }) => `$ ${ellipsize(command.replace(/\s*\n\s*/g, ' ⏎ '), 200)}`,
    run: async (request, context, signal) => {
      const launch = launcher.prepare(request, context);
      if (!launch.ok) return { text: launch.detail, isError: true };
      if (!request.background) return runInFront(request, launch.value, { context, options }, signal);
      const job = jobs.start(launch.value, {
        command: request.command,
        sessionId: context.sessionId,
        clock: context.clock,
      });
      const failed = job.running.pid === undefined ? (await job.running.result).error : undefined;
      if (failed !== undefined) return { text: failed, isError: true };
      const text = `${job.id} runs in the background (process: log, wait, kill)`;
      return { text, origin: 'observed', stillRuns: true };
    },
  });
  const closeAll = async (sessionId?: string) => {
    await jobs.closeAll(sessionId);
    if (sessionId === undefined) launcher.close();
  };
  return { tools: [terminal, createProcessTool(jobs)], closeAll };
}

/** As it would be typed in the session's folder. */
function movedCommand({ command, workdir }: TerminalInput, cwd: string): string {
  const folder = workdir === undefined ? cwd : fullPath(workdir, cwd, {});
  return folder === cwd ? command : `cd ${quote(folder)} && ${command}`;
}

/** A file that the session itself made may be emptied by it. */
function placeOf(options: TerminalOptions, { cwd, isOwnFile }: ToolContext): PlaceOptions {
  return {
    cwd,
    home: homeOf(options),
    ...(options.home === undefined ? {} : { dataHome: options.home }),
    scratch: options.scratch ?? [],
    exists: existsSync,
    isFilled: (path) => isFilledFile(path) && !isOwnFile?.(realPath(path)),
  };
}

function isFilledFile(path: string): boolean {
  const facts = statSync(path, { throwIfNoEntry: false });
  return facts?.isFile() === true && facts.size > 0;
}

interface InFront {
  readonly context: ToolContext;
  readonly options: TerminalOptions;
}

async function runInFront(
  request: TerminalInput,
  launch: ProcessRequest,
  { context, options }: InFront,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const seconds = Math.min(MAX_SECONDS, request.timeout ?? options.timeout ?? DEFAULT_SECONDS);
  const limits = {
    headBytes: OUTPUT_LIMITS.terminalHeadBytes,
    tailBytes: OUTPUT_LIMITS.terminalTailBytes,
    maxBytes: OUTPUT_LIMITS.terminalMaxBytes,
    spill: spillPath(context),
    redact: context.redact,
    timeoutMs: seconds * 1_000,
  };
  const result = await runProcess({ ...launch, limits, onOutput: liveOutput(context), clock: context.clock }, signal);
  return commandOutput(request.command, result, seconds);
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

/** One folder a session: call ids are the model's, and those of another session may be the same. */
function spillPath({ spillFolder, sessionId, callId }: ToolContext): string {
  return join(spillFolder, fileName(sessionId), `${fileName(callId)}.txt`);
}

function fileName(id: string): string {
  return id.replace(/[^\w-]/g, '_').slice(0, 100) || '_';
}

function homeOf(options: TerminalOptions): string {
  return options.env.HOME ?? homedir();
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Variables that make programs behave without a person: no pager, no colours, no question for a password. */
const QUIET = { TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0', NO_COLOR: '1' } as const;
/** What Node was told about itself does not concern the programs that a command starts. */
const OURS = ['NODE_COMPILE_CACHE', 'NODE_OPTIONS', 'NODE_TEST_CONTEXT', 'NODE_CHANNEL_FD'];

/** Both streams become one in the order in which they were written; the command's own lines keep their numbers. */
const WRAPPER = 'exec 2>&1; eval "set --; $1"';

function createLauncher(options: TerminalOptions) {
  const shell =
    ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash', '/opt/homebrew/bin/bash'].find(existsSync) ?? '/bin/sh';
  const env = { ...withoutVariables(options.env, [...OURS, ...(options.secretNames ?? [])]), ...QUIET };
  let temp: string | undefined;
  const tempFolder = () => {
    temp ??= mkdtempSync(join(tmpdir(), 'talaria-sandbox-'));
    return temp;
  };
  const wrap = (sandbox: SandboxOptions, cwd: string): Result<readonly string[], 'no-sandbox'> => {
    const program = findBubblewrap(options.env.PATH);
    if (!program.ok) return program;
    const place = { cwd, userHome: homeOf(options), dataHome: options.home, tempFolder: tempFolder() };
    return ok([program.value, ...sandboxArguments(sandbox, place)]);
  };
  return {
    available: (): Result<true> => {
      const program = options.sandbox ? findBubblewrap(options.env.PATH) : ok(shell);
      return program.ok ? ok(true) : program;
    },
    prepare(
      request: TerminalInput,
      context: ToolContext,
    ): Result<ProcessRequest, 'bad-command' | 'no-folder' | 'no-sandbox'> {
      if (request.command.includes('\0')) return refuse('bad-command', 'a command cannot hold a zero byte');
      const cwd = request.workdir === undefined ? context.cwd : fullPath(request.workdir, context.cwd, {});
      if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
        return refuse('no-folder', `there is no folder ${cwd} to run in`);
      const before = options.sandbox ? wrap(options.sandbox, cwd) : ok([]);
      if (!before.ok) return before;
      const limits = {
        headBytes: 4_000,
        tailBytes: OUTPUT_LIMITS.jobBytes,
        maxBytes: OUTPUT_LIMITS.terminalMaxBytes,
        spill: spillPath(context),
        redact: context.redact,
      };
      return ok({
        argv: [...before.value, shell, '-c', WRAPPER, 'bash', request.command],
        cwd,
        env: { ...env, PWD: cwd },
        limits,
      });
    },
    close(): void {
      if (temp !== undefined) rmSync(temp, { recursive: true, force: true });
      temp = undefined;
    },
  };
}
