// Owns running the calls of one assistant message: validate, permit, run, cap, record. Read-only neighbours run at the same time.
// Knows no tool and no surface. Invariant: every call gets exactly one result, in the order of the calls, whatever fails.

import { join } from 'node:path';
import { throwIfAborted } from '#base/abort.ts';
import { atomicWrite } from '#base/atomic-write.ts';
import type { Blobs } from '#base/blobs.ts';
import type { Clock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { createAsyncQueue } from '#base/fabric.ts';
import { SPILL_FOLDER_BYTES, spillRoom } from '#base/process/spill-file.ts';
import type { Refusal } from '#base/result.ts';
import { headTail } from '#base/text.ts';
import type { ImagePart, Message, Observation, ToolCallPart, ToolResultPart } from '#core/model/message.ts';
import { keepImage, MOST_IMAGES } from '#core/model/pictures.ts';
import type { Asker } from '../approver.ts';
import type { TurnInfo } from '../hooks.ts';
import type { FileKeeper, ToolContext, ToolOutput } from '../tool.ts';
import type { TurnEvent } from '../turn-event.ts';
import type { HookRunner, SpanRecorder } from './hook-runner.ts';
import {
  askOwner,
  checkCall,
  type Permitted,
  permitCall,
  realCall,
  runnableNames,
  type ToolAccess,
} from './permit-call.ts';

/** Where and how tools run in one session; the same for all its turns. */
export interface ToolPlace {
  readonly cwd: string;
  readonly clock: Clock;
  readonly asker: Asker;
  /** Folder for outputs that are over the cap. */
  readonly spillFolder: string;
  /** Characters one result may show; small windows give less. Default RESULT_LIMIT. */
  readonly resultLimit?: number;
  /** Takes known secrets out of a result before anything sees it. */
  readonly redact: (text: string) => string;
  /** Keeps the pictures of results; absent: they are named, and not kept. */
  readonly blobs?: Pick<Blobs, 'keep'>;
  /** Keeps what calls change; absent: nothing can be taken back. */
  readonly files?: FileKeeper;
  /** US dollars that one turn may cost; absent: no limit. */
  readonly maxCost?: number;
}

export interface ToolRun {
  readonly turn: TurnInfo;
  readonly access: ToolAccess;
  readonly place: ToolPlace;
  readonly hooks: HookRunner;
  readonly spans: SpanRecorder;
  readonly history: () => readonly Message[];
  /** What the turn has cost so far, as far as it is known, and what its calls add. */
  readonly bill?: { readonly spent: () => number; readonly add: (dollars: number | null) => void };
  /** Why a call may not run in this step, whatever it is. */
  readonly refuse?: (call: ToolCallPart) => { readonly reason: string; readonly detail: string } | undefined;
}

/** Each `result` comes in call order and before the next writing call starts, so that the caller can make it durable and then show it. */
export async function* executeTools(
  run: ToolRun,
  calls: readonly ToolCallPart[],
  signal: AbortSignal,
): AsyncGenerator<
  TurnEvent | { readonly type: 'result'; readonly result: ToolResultPart; readonly call: ToolCallPart }
> {
  const made = calls.map((call) => ({ call, real: realCall(call, run.access) }));
  for (const group of groupCalls(made, run.access)) {
    const queue = createAsyncQueue<TurnEvent>();
    const work = Promise.all(
      group.map(({ call, real }) => runCall(run, real, { said: call, emit: queue.push, signal })),
    ).finally(() => queue.close());
    work.catch(() => undefined);
    yield* queue;
    const results = await work;
    for (const [i, result] of results.entries()) {
      const call = group[i]?.real;
      if (call) yield { type: 'result', result, call };
    }
  }
}

/** Consecutive calls of read-only tools form one group; every other call is alone. */
function groupCalls(calls: readonly MadeCall[], access: ToolAccess): readonly (readonly MadeCall[])[] {
  const groups: MadeCall[][] = [];
  let reading = false;
  for (const call of calls) {
    const isRead = access.tools.get(call.real.name)?.effect === 'read';
    const last = groups.at(-1);
    if (isRead && reading && last) last.push(call);
    else groups.push([call]);
    reading = isRead;
  }
  return groups;
}

/** As the model said it, and what it stands for. */
interface MadeCall {
  readonly call: ToolCallPart;
  readonly real: ToolCallPart;
}

interface CallScope {
  readonly said: ToolCallPart;
  readonly emit: (event: TurnEvent) => void;
  readonly signal: AbortSignal;
}

async function runCall(run: ToolRun, call: ToolCallPart, scope: CallScope): Promise<ToolResultPart> {
  const { clock } = run.place;
  const from = clock.monotonic();
  const span = run.spans.start('tool', call.name);
  const checked = await checkedCall(run, call, scope.said);
  const summary = run.place.redact(checked.ok ? summaryOf(call, checked) : call.name);
  scope.emit({ type: 'tool-start', callId: call.callId, name: call.name, arguments: call.arguments, summary });
  const draft = await outcomeOf(run, call, checked, scope);
  const result = finishResult(run, call, draft, clock.monotonic() - from);
  span.end(draft.aborted ? 'aborted' : result.isError ? 'error' : 'ok', { detail: result.observed.refused ?? summary });
  await run.hooks.afterTool(run.turn, call, result);
  return result;
}

type CheckedCall = Permitted | Refusal<string>;

async function checkedCall({ access, refuse }: ToolRun, call: ToolCallPart, said: ToolCallPart): Promise<CheckedCall> {
  const refused = refuse?.(said);
  return refused ? { ok: false, ...refused } : checkCall(call, access);
}

interface Draft {
  readonly output: ToolOutput;
  readonly refused?: string;
  readonly aborted?: boolean;
  readonly limit?: number;
}

async function outcomeOf(run: ToolRun, call: ToolCallPart, checked: CheckedCall, scope: CallScope): Promise<Draft> {
  if (!checked.ok) return refusal(checked.reason, checked.detail);
  try {
    throwIfAborted(scope.signal);
    const context = contextOf(run, call, scope);
    const verdict = await run.hooks.beforeTool(run.turn, call, scope.signal);
    const refused = await permitCall(
      { call, permitted: checked, verdict, context, emit: scope.emit },
      run.access,
      scope.signal,
    );
    if (refused) return refusal(refused.reason, refused.detail);
    const output = await runKept(run, checked, context, scope);
    const limit = checked.tool.outputLimit;
    if (output.cost !== undefined) run.bill?.add(output.cost);
    return { output, aborted: scope.signal.aborted, ...(limit === undefined ? {} : { limit }) };
  } catch (error) {
    if (scope.signal.aborted)
      return { ...refusal('aborted', 'Stopped by the owner before it finished.'), aborted: true };
    return { output: { text: `${call.name} failed: ${errorText(error)}`, isError: true, origin: 'foreign' } };
  }
}

/** What the call may change is kept before it runs, and told when it has ended, however it ends. */
async function runKept(
  { turn, place }: ToolRun,
  { tool, input }: Permitted,
  context: ToolContext,
  { emit, signal }: CallScope,
): Promise<ToolOutput> {
  const { callId } = context;
  const paths = place.files ? (tool.writes?.(input, context) ?? []) : [];
  const folder = place.files && tool.changes?.(input, context);
  if (paths.length === 0 && folder === undefined) return tool.run(input, context, signal);
  const tell = (text: string) => emit({ type: 'notice', text });
  const settle = await place.files?.keep({ ...turn, callId, tell }, paths, folder);
  let output: ToolOutput | undefined;
  try {
    output = await tool.run(input, context, signal);
    return output;
  } finally {
    for (const change of (await settle?.(output?.stillRuns === true)) ?? [])
      emit({ type: 'file-change', callId, ...change, diff: place.redact(change.diff) });
  }
}

function refusal(reason: string, detail: string): Draft {
  return { refused: reason, output: { text: detail, isError: true, origin: 'observed' } };
}

function contextOf(run: ToolRun, call: ToolCallPart, scope: CallScope): ToolContext {
  const { cwd, clock, asker, spillFolder, redact, files, maxCost } = run.place;
  const { sessionId } = run.turn;
  return {
    sessionId,
    callId: call.callId,
    cwd,
    clock,
    asker,
    spillFolder,
    redact,
    history: run.history,
    ...{ approver: run.access.approver, runnable: runnableNames(run.access) },
    approve: async (asked) => (await askOwner({ call, emit: scope.emit, asked }, run.access, scope.signal)).decision,
    ...(files ? filesOf(files, sessionId) : {}),
    ...(maxCost === undefined ? {} : { dollarsLeft: Math.max(0, maxCost - (run.bill?.spent() ?? 0)) }),
    progress: (chunk) => scope.emit({ type: 'tool-output', callId: call.callId, chunk: run.place.redact(chunk) }),
  };
}

function filesOf(files: FileKeeper, sessionId: string): Pick<ToolContext, 'isOwnFile' | 'stoodBefore'> {
  return {
    isOwnFile: (path) => files.isOwn(sessionId, path),
    stoodBefore: (path) => files.stoodBefore(sessionId, path),
  };
}

function finishResult(run: ToolRun, call: ToolCallPart, draft: Draft, ms: number): ToolResultPart {
  const { output } = draft;
  const { images, notes } = keptImages(run.place, output);
  const text = [run.place.redact(output.text.toWellFormed()), ...notes].filter((one) => one !== '').join('\n');
  const limit = Math.min(draft.limit ?? RESULT_LIMIT, run.place.resultLimit ?? RESULT_LIMIT);
  const { sessionId } = run.turn;
  const cap = { limit, spillFolder: run.place.spillFolder, sessionId, callId: call.callId };
  const bytes = output.totalBytes ?? Buffer.byteLength(text);
  const capped =
    output.spill === undefined
      ? safeCap(text, cap)
      : showSpilled(text, limit, { file: output.spill, size: `${bytes} bytes`, savedBytes: output.spillBytes });
  const observed: Observation = {
    ms: Math.round(ms),
    bytes,
    ...(output.exitCode === undefined ? {} : { exitCode: output.exitCode }),
    ...(capped.spill === undefined ? {} : { spill: capped.spill }),
    ...(draft.refused ? { refused: draft.refused } : {}),
  };
  return {
    type: 'tool-result',
    callId: call.callId,
    name: call.name,
    text: capped.text === '' ? '(no output)' : capped.text,
    isError: output.isError ?? false,
    origin: output.origin ?? 'foreign',
    ...(images.length > 0 ? { images } : {}),
    observed,
  };
}

/** What is no picture, too large or too much is said in a line each. */
function keptImages({ blobs }: ToolPlace, { images = [] }: ToolOutput) {
  const kept: ImagePart[] = [];
  const notes: string[] = [];
  for (const { bytes, ...named } of images.slice(0, MOST_IMAGES)) {
    if (!blobs) break;
    const image = keepImage(bytes, { ...named, origin: 'foreign' }, blobs);
    if (image.ok) kept.push(image.value);
    else notes.push(`[${image.detail}]`);
  }
  if (images.length > kept.length + notes.length)
    notes.push(`[${images.length - kept.length - notes.length} more pictures are not kept]`);
  return { images: kept, notes };
}

function showSpilled(text: string, limit: number, whole: Whole): CappedOutput {
  return { text: previewOf(text, limit, whole), spill: whole.file };
}

/** A disk that cannot take the spill must not lose the turn: the model is told what is missing. */
function safeCap(text: string, cap: OutputCap): CappedOutput {
  try {
    return capOutput(text, cap);
  } catch (error) {
    return {
      text: `${text.slice(0, cap.limit).toWellFormed()}\n[cut after ${cap.limit} of ${text.length} characters; the rest could not be saved: ${errorText(error)}]`,
    };
  }
}

function summaryOf(call: ToolCallPart, permitted: Permitted): string {
  const own = permitted.tool.summary?.(permitted.input);
  if (own !== undefined) return own;
  const first = Object.values(call.arguments).find((value) => typeof value === 'string');
  return first === undefined ? call.name : `${call.name} ${String(first).slice(0, 120)}`;
}

/** Characters of one result that a model sees at most. */
const RESULT_LIMIT = 50_000;
const PREVIEW = 1_500;
/** Share of a context window, in characters, that one result may show. */
const WINDOW_SHARE = 0.6;

/** Characters that one result may show to a model with a window of so many tokens. */
export function resultLimitFor(contextWindow: number): number {
  return Math.min(RESULT_LIMIT, Math.max(2_000, Math.floor(contextWindow * WINDOW_SHARE)));
}

interface OutputCap {
  /** Characters this result may show. */
  readonly limit: number;
  readonly spillFolder: string;
  /** Call ids are unique in a session only. */
  readonly sessionId: string;
  readonly callId: string;
}

interface CappedOutput {
  readonly text: string;
  readonly spill?: string;
}

export function capOutput(text: string, cap: OutputCap): CappedOutput {
  if (text.length <= cap.limit) return { text };
  const folder = join(cap.spillFolder, cap.sessionId);
  const spill = join(folder, `${cap.callId.replace(/[^\w-]/g, '_')}.txt`);
  if (Buffer.byteLength(text) > spillRoom(folder))
    throw new TalariaError(SPENT, { code: 'spill-full', fix: 'Start a new session.' });
  atomicWrite(spill, text);
  return { text: previewOf(text, cap.limit, { file: spill, size: `${text.length} characters` }), spill };
}

const SPENT = `the saved outputs of a session may take ${SPILL_FOLDER_BYTES / 1024 ** 2} MB`;

interface Whole {
  readonly file: string;
  readonly size: string;
  /** Set when the file has no more than the start. */
  readonly savedBytes?: number | undefined;
}

/** A preview for output that is already in a file. */
function previewOf(text: string, limit: number, { file, size, savedBytes }: Whole): string {
  const room = Math.max(200, Math.min(PREVIEW * 2, limit));
  const shown = headTail(text, Math.ceil(room / 2), Math.floor(room / 2));
  const what = savedBytes === undefined ? 'whole output' : `the first ${savedBytes} bytes, since ${SPENT}`;
  return `${shown}\n[${size} in all; ${what}: ${file} (read_file with offset, or search_files)]`;
}
