// Owns the inner call that is a program of another agent: one request in, one reply out, in an empty folder of its own. Knows no family by
// name. Invariant: no shell; when it settles, the whole process group and the folder are gone; nothing of standard error is a completion; of the
// environment a program sees PATH, HOME and LANG, the names listed for it, its depth and the call id; memory is bounded by the longest reply; figures
// are what the program told, else null. Seed 003, live portability; notes 13.7.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { type Clock, systemClock } from '#base/clock.ts';
import { errorText } from '#base/errors.ts';
import { parseJsonObject } from '#base/json.ts';
import { findOnPath, isProgram, ownPath } from '#base/paths/typed-path.ts';
import { type ProcessResult, runProcess } from '#base/process.ts';
import { ok, refuse } from '#base/result.ts';
import { oneLine, plural, sliceText } from '#base/text.ts';
import { DEPTH_VARIABLE } from './call-limits.ts';
import {
  cancelledCall,
  type InnerCall,
  type InnerFailure,
  type InnerOutcome,
  type InnerReply,
  type InnerRequest,
  longestReply,
  tooLong,
} from './inner-call.ts';

export interface ProgramCommand {
  /** Program and arguments; `{prompt}`, `{system}` and `{max_output_tokens}` in an argument are filled in. */
  readonly command: readonly string[];
  /** Names of variables that it gets beside PATH, HOME and LANG. */
  readonly env: readonly string[];
  /** Standard input, when no argument has the prompt: one line of JSON `{call_id, system, prompt, max_output_tokens}`, or system and prompt. */
  readonly input: 'json' | 'prompt';
}

export interface ProcessSurroundings {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Recursions that this process stands in. */
  readonly outside: number;
  readonly redact: (text: string) => string;
  readonly clock?: Clock;
}

export interface ProcessCallParts extends ProgramCommand {
  readonly family: string;
  /** Shown when the program does not name its model. Default: the program. */
  readonly model?: string;
  /** The answer stands in a frame of a chat program. */
  readonly framed?: boolean;
  readonly surroundings: ProcessSurroundings;
}

export function createProcessCall(parts: ProcessCallParts): InnerCall {
  return { family: parts.family, call: (request, signal) => callOnce(parts, request, signal) };
}

async function callOnce(parts: ProcessCallParts, request: InnerRequest, signal: AbortSignal): Promise<InnerOutcome> {
  if (signal.aborted) return cancelledCall();
  const { family, command, surroundings } = parts;
  const [name = ''] = command;
  const program = findProgram(name, surroundings.variables.PATH);
  if (program === undefined) return refuse('no_model', programMissing(family, name));
  const { argv, stdin } = programCall(parts, request);
  const bytes = argv.map((argument) => Buffer.byteLength(argument)).find((size) => size > ARGUMENT_BYTES);
  if (bytes !== undefined)
    return refuse(
      'runtime_error',
      `the prompt of ${bytes} bytes is too long for an argument; let the command of ${family} read it from standard input (no {prompt} in rlm.families.${family}.command), or use smaller chunks`,
    );
  let cwd: string;
  try {
    cwd = await mkdtemp(join(tmpdir(), 'talaria-rlm-'));
  } catch (error) {
    return refuse('runtime_error', `cannot make an empty folder for the program of ${family}: ${errorText(error)}`);
  }
  try {
    return await runOnce(parts, request, { argv: [program, ...argv.slice(1)], stdin, cwd }, signal);
  } finally {
    await rm(cwd, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** One argument may be 128 KiB on Linux, its end counted in; other systems refuse the whole when they start it. */
const ARGUMENT_BYTES = 131_071;
/** TERM to KILL; together with the pipes it must stay below a second. */
const GRACE_MS = 400;
/** Of both streams: a program that floods its standard error is ended too. */
const MAX_BYTES = 64 * 1024 * 1024;

async function runOnce(
  parts: ProcessCallParts,
  request: InnerRequest,
  start: { readonly argv: readonly string[]; readonly stdin: string; readonly cwd: string },
  signal: AbortSignal,
): Promise<InnerOutcome> {
  const { surroundings, env } = parts;
  const { redact, clock = systemClock } = surroundings;
  const { timeout_ms: timeoutMs, max_output_tokens, call_id } = request;
  const heard = listenTo(longestReply(max_output_tokens), signal);
  const limits = { timeoutMs, maxBytes: MAX_BYTES, graceMs: GRACE_MS, headBytes: 0, tailBytes: 0 };
  const program = {
    ...start,
    env: programEnvironment(env, surroundings, call_id),
    limits,
    onOutput: heard.hear,
    clock,
  };
  const result = await runProcess(program, heard.signal);
  const who = `${parts.family} (${basename(parts.command[0] ?? '')})`;
  const said = heard.complaint(redact);
  if (result.ended === 'exit' && result.exitCode === 0) return replyOf(parts, request, { heard, result, who, said });
  return stopped(request, result, { who, said, isTooLong: heard.isTooLong() });
}

interface Ended {
  readonly heard: ReturnType<typeof listenTo>;
  readonly result: ProcessResult;
  readonly who: string;
  /** The end of what it complained of. */
  readonly said: string;
}

function replyOf(
  { command, framed, model }: ProcessCallParts,
  { max_output_tokens }: InnerRequest,
  { heard, result, who, said }: Ended,
): InnerOutcome {
  const printed = framed ? withoutFrame(heard.printed()) : heard.printed();
  const { completion, ...told } = readProcessReply(printed);
  if (completion.trim() === '')
    return { ...refuse('runtime_error' as const, `${who} printed no answer${said}`), exit_code: 0 };
  const longest = longestReply(max_output_tokens);
  if (completion.length > longest) return refuse('reply_too_large', tooLong(longest, max_output_tokens));
  const named = told.model ?? model ?? basename(command[0] ?? '');
  return ok({ completion, ...told, model: named, elapsed_ms: result.ms, exit_code: 0 });
}

/** Of a program that did not end well by itself. */
function stopped(
  { timeout_ms, max_output_tokens }: InnerRequest,
  { ended, exitCode, signal, error = 'it could not be started' }: ProcessResult,
  { who, said, isTooLong }: Pick<Ended, 'who' | 'said'> & { readonly isTooLong: boolean },
): InnerFailure {
  switch (ended) {
    case 'exit':
      if (exitCode === undefined) return refuse('runtime_error', `${who} was ended by ${signal ?? 'a signal'}${said}`);
      return {
        ...refuse('runtime_unsuccessful' as const, `${who} ended with exit code ${exitCode}${said}`),
        exit_code: exitCode,
      };
    case 'aborted':
      if (!isTooLong) return cancelledCall();
      return refuse('reply_too_large', tooLong(longestReply(max_output_tokens), max_output_tokens));
    case 'timeout':
      return refuse(
        'timeout',
        `${who} gave no whole reply within ${plural(Math.ceil(timeout_ms / 1_000), 'second')}${said}`,
      );
    case 'too-much-output':
      return refuse('reply_too_large', `${who} printed more than ${MAX_BYTES} bytes${said}`);
    default:
      return refuse('runtime_error', error);
  }
}

/** As `command -v`: absolute path of a program that can be run. A relative path is none: there is no folder that it would start from. */
export function findProgram(name: string, path: string | undefined): string | undefined {
  if (isAbsolute(name)) return isProgram(name) ? name : undefined;
  return findOnPath(name, path);
}

export function programMissing(family: string, name: string): string {
  return isAbsolute(name) || name.includes('/')
    ? `the family ${family} needs the program ${name}, which is no program that can be run; name it by its absolute path in rlm.families.${family}.command`
    : `the family ${family} needs the program ${name}, which is not on the PATH; install it, or name it by its absolute path in rlm.families.${family}.command`;
}

export function programCall(
  { command, input }: ProgramCommand,
  { call_id, system, prompt, max_output_tokens }: InnerRequest,
): { readonly argv: readonly string[]; readonly stdin: string } {
  const named = (name: string) => command.some((argument) => argument.includes(`{${name}}`));
  const whole = named('system') || system.trim() === '' ? prompt : `${system}\n\n${prompt}`;
  const values = { prompt: whole, system, max_output_tokens: String(max_output_tokens) };
  // One pass: a placeholder in a prompt is text.
  const fill = (argument: string) =>
    argument.replace(/\{(prompt|system|max_output_tokens)\}/g, (_, name: keyof typeof values) => values[name]);
  const [program = '', ...rest] = command;
  const argv = [program, ...rest.map(fill)];
  if (named('prompt')) return { argv, stdin: '' };
  const line = `${JSON.stringify({ call_id, system, prompt, max_output_tokens })}\n`;
  return { argv, stdin: input === 'prompt' ? whole : line };
}

export function programEnvironment(
  names: readonly string[],
  { variables, outside }: Pick<ProcessSurroundings, 'variables' | 'outside'>,
  call_id: string,
): Readonly<Record<string, string>> {
  const given = ['PATH', 'HOME', 'LANG', ...names].flatMap((name) => {
    const value = variables[name];
    return value === undefined ? [] : [[name, name === 'PATH' ? ownPath(value) : value] as const];
  });
  return { ...Object.fromEntries(given), [DEPTH_VARIABLE]: String(outside + 1), TALARIA_RLM_CALL_ID: call_id };
}

const count = z.int().min(0);
const told = z.object({
  completion: z.string(),
  model: z.string().min(1).max(200).nullish().catch(null),
  usage: z.object({ input_tokens: count, output_tokens: count }).nullish().catch(null),
  cost: z.number().min(0).nullish().catch(null),
});

/** One JSON object `{completion, model?, usage?, cost?}`, else everything as the completion; what is printed around is never guessed at. */
export function readProcessReply(
  printed: string,
): Pick<InnerReply, 'completion' | 'usage' | 'cost'> & { readonly model: string | null } {
  const text = printed.toWellFormed();
  const object = parseJsonObject(text.trim());
  const read = object.ok ? told.safeParse(object.value) : undefined;
  if (!read?.success) return { completion: text.replace(/\r?\n$/, ''), model: null, usage: null, cost: null };
  const { completion, model = null, usage = null, cost = null } = read.data;
  return { completion: completion.toWellFormed(), model, usage, cost };
}

/** A chat program's frame around an answer: its box of reasoning, and the line that names the session (notes 13.7). */
export function withoutFrame(printed: string): string {
  return printed
    .replace(/^[ \t]*[┌╭][─━ ]*Reasoning\b[^\n]*\n(?:(?![ \t]*[└╰])[^\n]*\n)*[ \t]*[└╰][^\n]*(?:\n|$)/gm, '')
    .replace(/^[ \t]*session_id:[^\n]*(?:\n|$)/gm, '')
    .trim();
}

/** A reply as JSON may take twice its characters, and some for the object around it. */
const ESCAPED = 2;
const AROUND = 4_096;
const COMPLAINT = 400;
/** Cut after redaction, so that no secret loses its beginning first. */
const KEPT = 8_192;

/** What a program printed and complained of; its signal aborts when the parent does, or when a reply has become too long. */
function listenTo(longest: number, parent: AbortSignal) {
  const own = new AbortController();
  const pieces: string[] = [];
  let length = 0;
  let complained = '';
  return {
    signal: AbortSignal.any([parent, own.signal]),
    isTooLong: () => own.signal.aborted,
    hear(chunk: string, stream: 'out' | 'err') {
      if (own.signal.aborted || parent.aborted) return;
      if (stream === 'err') {
        complained = (complained + chunk).slice(-KEPT);
        return;
      }
      length += chunk.length;
      if (length > longest * ESCAPED + AROUND) own.abort();
      else pieces.push(chunk);
    },
    printed: () => pieces.join(''),
    /** `: <end of its standard error>`, in one line, or nothing. */
    complaint(redact: (text: string) => string) {
      const line = oneLine(redact(complained.toWellFormed()));
      if (line === '') return '';
      const end = line.slice(-COMPLAINT).toWellFormed();
      return `: ${line.length > COMPLAINT ? `…${sliceText(end, COMPLAINT)}` : line}`;
    },
  };
}
