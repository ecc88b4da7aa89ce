// Owns the inner call that is a program of another agent: one request in, one reply out, in an empty folder of its own. Knows no family by
// name. Invariant: no shell; when it settles, the whole process group and the folder are gone; nothing of standard error is a completion.
// Seed 003, live portability; notes 13.7.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Clock, systemClock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { type ProcessResult, runProcess } from '#base/process.ts';
import { type Ok, ok, refuse } from '#base/result.ts';
import type { InnerCall, InnerFailure, InnerReply, InnerRequest } from './inner-call.ts';
import { findProgram, programMissing } from './program/find-program.ts';
import {
  type ProgramCommand,
  type ProgramSurroundings,
  programCall,
  programEnvironment,
  tooLongArgument,
} from './program/process-input.ts';
import { readProcessReply, withoutFrame } from './program/process-reply.ts';
import { type ProcessWatch, watchProcess } from './program/process-watch.ts';
import { longestReply, tooLong } from './reply-size.ts';

export interface ProcessCallParts extends ProgramCommand {
  readonly family: string;
  /** Shown when the program does not name its model. Default: the program. */
  readonly model?: string;
  /** The answer stands in a frame of a chat program. */
  readonly framed?: boolean;
  readonly surroundings: ProcessSurroundings;
}

export interface ProcessSurroundings extends ProgramSurroundings {
  /** Until it prints its first byte, and between two bytes, ms. */
  readonly patience: { readonly startup_ms: number; readonly idle_ms: number };
  readonly redact: (text: string) => string;
  readonly clock?: Clock;
}

type Outcome = Ok<InnerReply> | InnerFailure;

export function createProcessCall(parts: ProcessCallParts): InnerCall {
  return { family: parts.family, call: (request, signal) => callOnce(parts, request, signal) };
}

async function callOnce(parts: ProcessCallParts, request: InnerRequest, signal: AbortSignal): Promise<Outcome> {
  if (signal.aborted) return cancelled();
  const { family, command, surroundings } = parts;
  const [name = ''] = command;
  const program = findProgram(name, surroundings.variables.PATH);
  if (program === undefined) return refuse('no_model', programMissing(family, name));
  const { argv, stdin } = programCall(parts, request);
  const bytes = tooLongArgument(argv);
  if (bytes !== undefined) return refuse('runtime_error', argumentTooLong(family, bytes));
  const made = await emptyFolder(family);
  if (!made.ok) return made;
  const cwd = made.value;
  try {
    return await runOnce(parts, request, { program, argv, stdin, cwd }, signal);
  } finally {
    await rm(cwd, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function emptyFolder(family: string): Promise<Ok<string> | InnerFailure> {
  try {
    return ok(await mkdtemp(join(tmpdir(), 'talaria-rlm-')));
  } catch (error) {
    return refuse('runtime_error', `cannot make an empty folder for the program of ${family}: ${errorText(error)}`);
  }
}

interface Start {
  readonly program: string;
  readonly argv: readonly string[];
  readonly stdin: string;
  readonly cwd: string;
}

/** TERM to KILL; together with the pipes it must stay below a second. */
const GRACE_MS = 400;
/** Of both streams: a program that floods its standard error is ended too. */
const MAX_BYTES = 64 * 1024 * 1024;

async function runOnce(
  parts: ProcessCallParts,
  request: InnerRequest,
  { program, argv, stdin, cwd }: Start,
  signal: AbortSignal,
): Promise<Outcome> {
  const { surroundings, env } = parts;
  const clock = surroundings.clock ?? systemClock;
  const longest = longestReply(request.max_output_tokens);
  const watch = watchProcess({ clock, longest, ...surroundings.patience }, signal);
  try {
    const result = await runProcess(
      {
        argv: [program, ...argv.slice(1)],
        cwd,
        env: programEnvironment(env, surroundings, request.call_id),
        stdin,
        limits: { timeoutMs: request.timeout_ms, maxBytes: MAX_BYTES, graceMs: GRACE_MS, headBytes: 0, tailBytes: 0 },
        onOutput: watch.hear,
        clock,
      },
      watch.signal,
    );
    return outcomeOf({ parts, request, watch, result });
  } finally {
    watch.clear();
  }
}

interface Ended {
  readonly parts: ProcessCallParts;
  readonly request: InnerRequest;
  readonly watch: ProcessWatch;
  readonly result: ProcessResult;
}

function outcomeOf(ended: Ended): Outcome {
  const { parts, request, watch, result } = ended;
  const { ended: how, exitCode, signal: killer, error = 'it could not be started' } = result;
  const said = watch.complaint(parts.surroundings.redact);
  const who = `${parts.family} (${basename(parts.command[0] ?? '')})`;
  if (how === 'not-started' || how === 'lost') return refuse('runtime_error', error);
  if (how === 'timeout')
    return refuse('timeout', `${who} gave no whole reply within ${seconds(request.timeout_ms)}${said}`);
  if (how === 'too-much-output') return refuse('reply_too_large', `${who} printed more than ${MAX_BYTES} bytes${said}`);
  if (how === 'aborted') return stoppedBy(ended, who, said);
  if (exitCode === undefined) return refuse('runtime_error', `${who} was ended by ${killer ?? 'a signal'}${said}`);
  if (exitCode !== 0)
    return {
      ...refuse('runtime_unsuccessful' as const, `${who} ended with exit code ${exitCode}${said}`),
      exit_code: exitCode,
    };
  return replyOf(ended, who, said);
}

function stoppedBy({ parts, request, watch }: Ended, who: string, said: string): InnerFailure {
  const { startup_ms, idle_ms } = parts.surroundings.patience;
  switch (watch.cause()) {
    case 'startup':
      return refuse('timeout', `${who} printed nothing for ${seconds(startup_ms)} after its start${said}`);
    case 'idle':
      return refuse('timeout', `${who} printed nothing more for ${seconds(idle_ms)}${said}`);
    case 'too-long':
      return refuse('reply_too_large', tooLong(longestReply(request.max_output_tokens), request.max_output_tokens));
    case undefined:
      return cancelled();
  }
}

function replyOf({ parts, request, watch, result }: Ended, who: string, said: string): Outcome {
  const printed = parts.framed ? withoutFrame(watch.printed()) : watch.printed();
  const { completion, model, usage, cost } = readProcessReply(printed);
  if (completion.trim() === '')
    return { ...refuse('runtime_error' as const, `${who} printed no answer${said}`), exit_code: 0 };
  const longest = longestReply(request.max_output_tokens);
  if (completion.length > longest) return refuse('reply_too_large', tooLong(longest, request.max_output_tokens));
  const named = model ?? parts.model ?? basename(parts.command[0] ?? '');
  return ok({ completion, model: named, usage, cost, elapsed_ms: result.ms, exit_code: 0 });
}

function argumentTooLong(family: string, bytes: number): string {
  return `the prompt of ${bytes} bytes is too long for an argument; let the command of ${family} read it from standard input (no {prompt} in rlm.families.${family}.command), or use smaller chunks`;
}

function cancelled(): InnerFailure {
  return refuse('cancelled', 'the call was stopped on request');
}

function seconds(ms: number): string {
  const count = Math.ceil(ms / 1_000);
  return `${count} second${count === 1 ? '' : 's'}`;
}
