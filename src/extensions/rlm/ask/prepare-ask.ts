// Owns everything before the first call of an ask: the question, the limits, the nesting, the families, the context: a file, a folder, a text, what is
// piped in; and opening the context again for a run that named it. Asks no model. Invariant: what is wrong with what was typed is one clear refusal
// before a run is written; what is piped in lies in a folder of the run's own below the home; a context that has changed since is refused, never
// read. Seed 003: max depth 5.

import { stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { TalariaError } from '#base/errors.ts';
import { ok, type Result, refuse } from '#base/result.ts';
import type { Ground, Mind } from '#core/agent/room.ts';
import { defaultWindow, type NestingRefusal, openNesting } from '../call/call-limits.ts';
import type { CallBudget } from '../call/call-record.ts';
import { checkFamilies, type FamilyRefusal } from '../call/families.ts';
import { textSource } from '../repl/file-bytes.ts';
import { type ContextRefusal, createFileSource, spoolInput } from '../repl/file-source.ts';
import type { ContextSource } from '../repl/parted-source.ts';
import { readRlmConfig } from '../rlm-config.ts';
import { newRunId, type RunRow, textHash } from '../trace/run-record.ts';
import { contextFolder } from '../trace/trace-store.ts';
import {
  ASK_RANGES,
  ASK_REQUEST_VERSION,
  type AskRequest,
  DEFAULT_ASK_LIMITS,
  LEAST_WINDOW,
  replLimits,
} from './ask-request.ts';

/** `path` is absolute. A text is held in memory; who keeps a run keeps it in the trace. */
export type AskContext =
  | { readonly path: string; readonly root: string; readonly leaveOut?: (file: string) => boolean }
  | { readonly text: string }
  | { readonly input: AsyncIterable<Uint8Array | string> };

export interface AskOptions {
  readonly max_steps?: number;
  readonly depth?: number;
  readonly concurrency?: number;
  readonly window_tokens?: number;
  readonly families?: readonly string[];
  /** Only quotations count; no model reads the rest. Default false. */
  readonly strict?: boolean;
  /** `max_calls` has a default, the others have none. */
  readonly budget?: CallBudget;
}

export interface PreparedAsk extends OpenedContext {
  readonly run_id: string;
  readonly request: AskRequest;
}

export type AskRefusal =
  | 'question-missing'
  | 'question-too-long'
  | 'limit-out-of-range'
  | NestingRefusal
  | FamilyRefusal
  | ContextRefusal;

/** The caller closes the source. Throws the signal's reason. */
export async function prepareAsk(
  { ground, mind }: { readonly ground: Ground; readonly mind: Mind },
  asked: { readonly context: AskContext; readonly question: string },
  options: AskOptions,
  signal: AbortSignal,
): Promise<Result<PreparedAsk, AskRefusal>> {
  const question = asked.question.trim();
  const wrong = wrongQuestion(question) ?? wrongLimit(options);
  if (wrong !== undefined) return wrong;
  const limits = { ...DEFAULT_ASK_LIMITS, ...options };
  const nesting = openNesting(ground.variables, limits.depth);
  if (!nesting.ok) return nesting;
  const checked = checkFamilies(options.families ?? [], ground, mind);
  if (!checked.ok) return checked;
  const families = checked.value;
  const run_id = newRunId('ask', ground.clock);
  const opened = await openContext(asked.context, contextFolder({ home: ground.places.home, run_id }), signal);
  if (!opened.ok) return opened;
  const { max_steps, concurrency, max_calls, strict = false } = limits;
  const window_tokens = options.window_tokens ?? defaultWindow(mind, { families, least: LEAST_WINDOW });
  const budget = { max_calls, ...options.budget };
  // Who asks for rules alone asks no model.
  const isReflex = families.length > 0 && families.every((family) => family === 'reflex');
  const request: AskRequest = {
    schema_version: ASK_REQUEST_VERSION,
    question,
    depth: nesting.value.depth,
    families,
    skipped: opened.value.skipped,
    models: Object.keys(readRlmConfig(mind).families),
    judge: !strict && mind.judge.isThere() && !isReflex,
    strict,
    max_steps,
    concurrency,
    window_tokens,
    budget,
    repl: replLimits(window_tokens, Math.min(1_000, budget.max_calls), budget.max_ms),
    ...('text' in asked.context ? { text_hash: textHash(asked.context.text) } : {}),
  };
  return ok({ ...opened.value, run_id, request });
}

const LONGEST_QUESTION = 4_000;

function wrongQuestion(question: string) {
  if (!/[\p{L}\p{N}]/u.test(question)) return refuse('question-missing', 'there is no question');
  if (question.length <= LONGEST_QUESTION) return undefined;
  const detail = `the question has ${question.length} characters, ${LONGEST_QUESTION} are read`;
  return refuse('question-too-long', `${detail}: put long material into the context`);
}

function wrongLimit(options: AskOptions) {
  for (const [name, [least, most]] of Object.entries(ASK_RANGES)) {
    const value = options[name as keyof typeof ASK_RANGES];
    if (value !== undefined && !(Number.isInteger(value) && value >= least && value <= most))
      return refuse('limit-out-of-range', `${name} is ${value}; a whole number from ${least} to ${most} is needed`);
  }
  const wrong = Object.entries(options.budget ?? {}).find(([, value]) => value !== undefined && !(value > 0));
  if (wrong === undefined) return undefined;
  return refuse('limit-out-of-range', `${wrong[0]} is ${wrong[1]}; more than 0 is needed`);
}

interface OpenedContext {
  readonly source: ContextSource;
  /** Absolute; stamps are relative to it. */
  readonly root: string;
  readonly skipped: AskRequest['skipped'];
  /** File in which piped input is kept; null: none was. */
  readonly spooled: string | null;
}

/** How what was piped in is named in stamps and places. */
const PIPED = '-';

async function openContext(
  context: AskContext,
  folder: string,
  signal: AbortSignal,
): Promise<Result<OpenedContext, ContextRefusal>> {
  if ('text' in context) {
    if (context.text.trim() === '') return refuse('context-empty', 'the text is empty');
    return ok({ source: textSource(context.text), root: '', skipped: [], spooled: null });
  }
  if ('input' in context) {
    const spooled = await spoolInput(context.input, folder, signal);
    if (!spooled.ok) return spooled;
    const opened = await createFileSource(spooled.value, { root: folder, name: PIPED, signal });
    return opened.ok ? ok({ ...opened.value, root: folder, spooled: spooled.value }) : opened;
  }
  const { path, leaveOut } = context;
  const root = await rootOf(path, context.root);
  const opened = await createFileSource(path, { root, signal, ...(leaveOut === undefined ? {} : { leaveOut }) });
  return opened.ok ? ok({ ...opened.value, root, spooled: null }) : opened;
}

/** The folder that was given holds it, else its own: a place is told as short as it stays clear. */
async function rootOf(path: string, root: string): Promise<string> {
  const way = relative(root, path);
  if (way !== '' && !way.startsWith('..') && !isAbsolute(way)) return root;
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ? path : dirname(path);
}

/** The caller closes it. @throws TalariaError `context-changed` when a source is gone or another now */
export async function reopenContext(
  { root, sources }: Pick<RunRow, 'root' | 'sources'>,
  signal: AbortSignal,
): Promise<ContextSource> {
  if (root === '') throw changed('it was a text that nobody kept');
  const [only] = sources;
  const outside = sources.find(({ path }) => relative(root, join(root, path)).startsWith('..'));
  if (outside !== undefined) throw changed(`${outside.path} leads out of its folder`);
  const isPiped = sources.length === 1 && only?.path === PIPED;
  const spooled = join(root, `${only?.hash.replace('sha256:', '')}.txt`);
  const paths = sources.map(({ path }) => path);
  const opened = await createFileSource(isPiped ? spooled : paths, {
    root,
    signal,
    ...(isPiped ? { name: PIPED } : {}),
  });
  if (!opened.ok) throw changed(opened.detail);
  const { source } = opened.value;
  const other = sources.find((stamp, at) => source.stamps[at]?.hash !== stamp.hash);
  if (other === undefined && source.stamps.length === sources.length) return source;
  source.close();
  throw changed(`${other?.path ?? root} is not what it was`);
}

function changed(detail: string): TalariaError {
  const fix = 'Ask again: the run that read it stays as a record.';
  return new TalariaError(`The context of the run cannot be read again: ${detail}.`, { code: 'context-changed', fix });
}
