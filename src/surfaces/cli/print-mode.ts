// Owns `talaria -p`: what is piped in, one turn without a terminal or one for each line of input, its answer as text, JSON, or a stream of events.
// Knows no chat. Invariants: with JSON stdout holds nothing but JSON, also when nothing could be run; the exit code says how the turn ended;
// a pipe that nobody writes to never blocks a turn that has its text.

import { fstatSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { throwIfAborted } from '#base/abort.ts';
import { atomicWrite } from '#base/atomic-write.ts';
import { systemClock } from '#base/clock.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { newId } from '#base/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '#base/json.ts';
import { ok, type Result } from '#base/result.ts';
import { estimateTokens, headTail, sliceText } from '#base/text.ts';
import { absentAsker, denyingApprover, type Reach } from '#core/agent/approver.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import type { ReflexQuestion } from '#core/agent/reflex-rule.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { ImagePart, Message, TextPart, ToolResultPart, UserPart } from '#core/model/message.ts';
import { NO_USAGE, type Tier, type Usage } from '#core/model/model-client.ts';
import { MOST_IMAGES } from '#core/model/pictures.ts';
import { readPicture } from '#core/tools/files/text-file.ts';
import type { App } from '#surfaces/app/app.ts';
import { leftOutNotice } from '#surfaces/app/home/trust.ts';
import { withFix } from '#surfaces/app/wording.ts';
import type { OutputTarget } from './render-output.ts';
import { eventLines, oneLine, openProblem, plain } from './terminal-text.ts';

export type OutputFormat = 'text' | 'json' | 'stream-json';

export interface PrintRequest {
  /** Absent: what is piped in is the message, or the messages. */
  readonly text?: string;
  readonly format: OutputFormat;
  readonly resume?: string;
  readonly continueLast: boolean;
  /** Id of the new session. */
  readonly newId?: string;
  /** Files of pictures that go along. */
  readonly images?: readonly string[];
}

export interface PrintGround {
  readonly open: () => Promise<App>;
  readonly piped: () => Promise<PipedInput>;
  /** Present: each line is a message, and its turn runs as it comes. */
  readonly lines?: AsyncIterable<InputLine>;
}

type Target = OutputTarget & { readonly signal: AbortSignal };

const USAGE = 2;
const REFUSED = 3;

/** Throws what composing the agent throws; with JSON it has then been printed as the one object. */
export async function runPrintMode(ground: PrintGround, request: PrintRequest, target: Target): Promise<number> {
  const { lines } = ground;
  const [app, piped] = await Promise.all([openApp(ground, request, target), lines ? NO_INPUT : ground.piped()]);
  for (const notice of [...app.notices, ...app.modelNotices]) target.err(`talaria: ${notice}\n`);
  const problem = lines ? undefined : inputProblem(request, piped);
  if (problem !== undefined) return refuse(request, { code: 'usage', message: problem }, { target, exitCode: USAGE });
  if (piped.silent)
    target.err('talaria: nothing came through the pipe; going on without it (</dev/null skips the wait)\n');
  const pictures = readPictures(app, request.images ?? []);
  if (!pictures.ok)
    return refuse(request, { code: pictures.reason, message: pictures.detail }, { target, exitCode: REFUSED });
  const opened = await openFor(app, request);
  if (!opened.ok) return refuse(request, openProblem(opened), { target, exitCode: REFUSED });
  const print = { app, conversation: opened.value, request, target, pictures: pictures.value };
  const leftOut = opened.value.history.length === 0 ? leftOutNotice(app.home, app.environment.cwd) : undefined;
  if (leftOut !== undefined) target.err(`talaria: ${leftOut}\n`);
  try {
    sayStart(print);
    return await (lines ? playLines(print, lines) : playMessage(print, piped));
  } finally {
    await opened.value.close();
  }
}

function openFor(app: App, { resume, newId, continueLast }: PrintRequest) {
  return app.openConversation({
    source: 'cli',
    cwd: app.environment.cwd,
    approver: denyingApprover,
    asker: absentAsker,
    continueLast,
    ...(resume === undefined ? {} : { resume }),
    ...(newId === undefined ? {} : { newId }),
  });
}

function readPictures(app: App, files: readonly string[]): Result<readonly ImagePart[], string> {
  const parts: ImagePart[] = [];
  for (const file of files) {
    const bytes = readPicture(resolve(app.environment.cwd, file));
    const kept = bytes.ok ? app.keepImage(bytes.value, { name: basename(file), origin: 'foreign' }) : bytes;
    if (!kept.ok) return { ...kept, detail: `--image ${file}: ${kept.detail}` };
    parts.push(kept.value);
  }
  if (parts.length > MOST_IMAGES)
    return { ok: false, reason: 'too-many-images', detail: `one message takes ${MOST_IMAGES} pictures` };
  return ok(parts);
}

interface Print {
  readonly pictures: readonly ImagePart[];
  readonly app: App;
  readonly conversation: Conversation;
  readonly request: PrintRequest;
  readonly target: Target;
}

function sayStart({ app, conversation, request, target }: Print): void {
  if (request.format !== 'stream-json') return;
  const { id: session_id, cwd } = conversation.session;
  const tools = conversation.prompt.tools.map(({ name }) => name);
  sayJson(target, { type: 'session-start', session_id, model: app.model().id, cwd, tools });
}

function sayJson(target: Target, value: JsonObject | TurnEvent): void {
  target.out(`${JSON.stringify(value)}\n`);
}

async function openApp({ open }: PrintGround, request: PrintRequest, target: Target): Promise<App> {
  try {
    return await open();
  } catch (error) {
    if (request.format !== 'text') target.out(`${JSON.stringify(refusalResult(printError(error)))}\n`);
    throw error;
  }
}

function printError(error: unknown): PrintError {
  const message = errorText(error);
  return error instanceof TalariaError ? { code: error.code, message, fix: error.fix } : { code: 'failed', message };
}

export const BINARY = 'the piped input is binary, not text; name the file in the message instead';

function inputProblem({ text }: PrintRequest, piped: PipedInput): string | undefined {
  if (piped.binary) return BINARY;
  if ((text ?? piped.text).trim() === '') return '-p needs a text: talaria -p "list the files here"';
  return undefined;
}

async function playMessage(print: Print, piped: PipedInput): Promise<number> {
  const { app, conversation, request, pictures } = print;
  if (piped.text.trim() === '') return playTurn(print, { text: request.text ?? '', extra: pictures });
  const taken = forOneTurn(piped, app.model().contextWindow);
  if (taken.leftOut > 0) sayNotice(print, leftOutText(taken.leftOut, app.model().tier, request.text));
  if (request.text === undefined) return playTurn(print, { text: taken.text, extra: pictures });
  return playTurn(print, { text: request.text, extra: [...pictures, stdinPart(app, conversation, piped)] });
}

function sayNotice({ request, target }: Print, text: string): void {
  if (request.format === 'stream-json') sayJson(target, { type: 'notice', text });
  target.err(`talaria: ${text}\n`);
}

/** Turns in the order of the lines; the worst of them says how it went. */
async function playLines(print: Print, lines: AsyncIterable<InputLine>): Promise<number> {
  const codes = new Set<number>();
  for await (const input of lines) {
    if (print.target.signal.aborted) break;
    if ('text' in input) codes.add(await playTurn(print, { text: input.text, extra: [] }));
    else {
      const message = `line ${input.line} of the input: ${input.problem}`;
      sayJson(print.target, { type: 'error', line: input.line, error: { code: 'bad-input', message } });
      print.target.err(`talaria: ${message}\n`);
      codes.add(1);
    }
  }
  return [130, 1, REFUSED].find((code) => codes.has(code)) ?? 0;
}

interface Said {
  readonly text: string;
  readonly extra: readonly UserPart[];
}

async function playTurn(print: Print, { text, extra }: Said): Promise<number> {
  const { conversation, request, target } = print;
  const verdict = await watchEvents(print, conversation.send(text, { signal: target.signal, extra }));
  const { end, exitCode } = verdict;
  if (request.format !== 'text') sayJson(target, turnResult(conversation.session.id, verdict));
  else if (end.text !== '') target.out(`${plain(end.text)}\n`);
  if (exitCode !== 0) target.err(`talaria: ${endText(verdict, target.signal)}\n`);
  return exitCode;
}

/** Shows the events as they come; the last one as it was judged. */
async function watchEvents(print: Print, events: AsyncIterable<TurnEvent>): Promise<Verdict> {
  const { app, request, target } = print;
  const watch = new TurnWatch(approvalsOf(app));
  let verdict: Verdict | undefined;
  for await (const event of events) {
    watch.see(event);
    if (event.type === 'turn-end') verdict = await watch.judge(event, () => app.reflexQuestion(print.conversation));
    if (request.format === 'stream-json') sayJson(target, verdict?.end ?? event);
    else reportNotices(event, target);
  }
  if (!verdict) throw new TalariaError('the turn ended without its last event', { code: 'turn-endless' });
  return verdict;
}

function approvalsOf(app: App): ApprovalsOfRun {
  const { mode } = app.loaded.config.approvals;
  if (mode === 'deny') return mode;
  return mode === 'ask' && app.approvalMode() === 'off' ? 'auto' : 'ask';
}

function endText({ end, error }: Verdict, signal: AbortSignal): string {
  if (end.outcome === 'aborted') return signal.reason instanceof Error ? signal.reason.message : 'stopped on request';
  const text = error ? oneLine(withFix(error.message, error.fix), 600) : end.outcome;
  if (end.outcome === 'failed') return `failed: ${text}`;
  return end.outcome === 'stopped' && end.stopped === error?.code ? `stopped: ${end.stopped ?? 'a limit'}` : text;
}

function reportNotices(event: TurnEvent, target: OutputTarget): void {
  if (event.type === 'turn-end') return;
  for (const line of eventLines(event)) {
    if (line.kind === 'notice' || line.kind === 'error') target.err(`talaria: ${oneLine(line.text, 400)}\n`);
  }
}

/** What is cut, and what only fixed rules will look at, lies in a file for tools too. */
export function stdinPart(app: App, { session, history }: Conversation, piped: PipedInput): TextPart {
  const { tier, contextWindow } = app.model();
  const { text, leftOut } = forOneTurn(piped, contextWindow);
  const isForTools = leftOut > 0 || tier === 'T0' || app.isReflexFirst();
  const name = history.length === 0 ? 'stdin' : newId('stdin');
  const spill = isForTools ? join(app.home.spill, session.id, `${name}.txt`) : undefined;
  if (spill !== undefined) atomicWrite(spill, app.redact(piped.text));
  const share = piped.text.length < piped.total ? 'more' : 'all';
  const place = leftOut > 0 ? `; ${share} of it is in ${spill} (read_file with offset, or search_files)` : '';
  return {
    type: 'text',
    text: `[piped input${place}]\n${text}\n[end of piped input]`,
    origin: 'foreign',
    label: 'stdin',
    ...(spill === undefined ? {} : { spill }),
  };
}

export function leftOutText(leftOut: number, tier: Tier, question?: string): string {
  const asked = question === undefined ? 'QUESTION' : `'${question.replaceAll("'", "'\\''")}'`;
  // Fixed rules look into the file that holds all of it.
  const rules = 'the piped input is longer than a model reads in one turn; rules find in all of it';
  const cut = `the piped input is too long for one turn: ${leftOut} characters in its middle were left out`;
  const what = tier === 'T0' ? rules : cut;
  return `${what}; to have all of it read, pipe it into: talaria rlm ask --context - ${asked}`;
}

function refuse(
  request: PrintRequest,
  error: PrintError,
  { target, exitCode }: { readonly target: Target; readonly exitCode: number },
): number {
  if (request.format !== 'text') target.out(`${JSON.stringify(refusalResult(error))}\n`);
  target.err(`talaria: ${plain(error.message)}\n`);
  if (error.fix) target.err(`${plain(error.fix)}\n`);
  return exitCode;
}

// One judgement for scripts: was it done as asked? The refusal of reflex/1 is no answer, nor an act of its that was refused or
// failed; and whoever could approve a call was not there. Knows no printing.

/** The question with which reflex/1 ended the turn. */
type Asked = () => Promise<ReflexQuestion | undefined>;

/** What the configuration says of risky calls; `auto`: the run has `--yes` already. */
export type ApprovalsOfRun = 'ask' | 'deny' | 'auto';

const FAILED = 1;
const STOPPED = 130;

/** What would run, in full: the command, the path. */
interface MissingCall {
  readonly tool: string;
  readonly call: string;
}

type Missing = MissingCall & { readonly callId: string; readonly reach: Reach };

export class TurnWatch {
  readonly #approvals: ApprovalsOfRun;
  #last: Message | undefined;
  #result: ToolResultPart | undefined;
  /** Name by id of each call. */
  readonly #calls = new Map<string, string>();
  #missing: readonly Missing[] = [];

  constructor(approvals: ApprovalsOfRun) {
    this.#approvals = approvals;
  }

  see(event: TurnEvent): void {
    if (event.type === 'tool-start') this.#calls.set(event.callId, event.name);
    if (event.type === 'message') this.#last = event.message;
    if (event.type === 'tool-end') this.#takeResult(event.callId, event.result);
    if (event.type !== 'approval' || event.decision !== 'deny') return;
    const { callId, preview: call, reach = 'beyond' } = event;
    this.#missing = [...this.#missing, { callId, tool: this.#calls.get(callId) ?? '', call, reach }];
  }

  /** A host that stayed closed, and the command came to its end without it: a look for updates. The result names the host. */
  #takeResult(callId: string, result: ToolResultPart): void {
    this.#result = result;
    if (result.observed.exitCode !== 0) return;
    this.#missing = this.#missing.filter((one) => one.callId !== callId || one.reach !== 'network');
  }

  /** The turn's end as a script should read it. */
  async judge(end: TurnEnd, asked: Asked): Promise<Verdict> {
    const missing = this.#missing;
    if (end.outcome === 'aborted' || end.outcome === 'failed') return failure(end);
    if (missing.length > 0)
      return { end, exitCode: REFUSED, error: approvalMissing(missing, howTo(missing, this.#approvals)) };
    if (end.outcome !== 'done') return failure(end);
    return end.tier === 'T0' ? this.#judgeReflex(end, asked) : { end, exitCode: 0 };
  }

  /** Fixed rules have no second thought: how their last call ended is how the turn ended, and what they ask nobody answers. */
  async #judgeReflex(end: TurnEnd, asked: Asked): Promise<Verdict> {
    const [last, result] = [this.#last, this.#result];
    // The rules are in memory already when it was them that answered.
    const { isRefusal, isStopped } = await import('#core/reflex/answer.ts');
    if (last && isRefusal(last)) return failure({ ...end, text: '' }, NO_MODEL);
    if (last && isStopped(last)) return failure({ ...end, text: '' }, { code: 'refused', message: end.text });
    if (result?.observed.refused) return failure(end, { code: result.observed.refused, message: result.text });
    if (result?.isError) return failure(end, { code: 'call-failed', message: `${result.name}: ${result.text}` });
    const question = await asked();
    if (!question) return { end, exitCode: 0 };
    if (!question.confirms) return failure(end, QUESTION);
    const calls = question.choices.map((call) => ({ tool: end.model, call }));
    return { end, exitCode: REFUSED, error: approvalMissing(calls, CONFIRM) };
  }
}

/** @param found what we found; absent: the end says itself how it failed */
function failure(end: TurnEnd, found?: PrintError): Verdict {
  if (found) {
    const { code, message, fix } = found;
    const error = { code, message, ...(fix ? { fix } : {}) };
    return { end: { ...end, outcome: 'failed', error }, exitCode: FAILED, error: found };
  }
  if (end.outcome === 'length') return { end, exitCode: FAILED, error: CUT };
  const code = end.stopped ?? end.outcome;
  const exitCode = end.outcome === 'aborted' ? STOPPED : FAILED;
  return { end, exitCode, error: end.error ?? { code, message: `the turn ended early: ${code}` } };
}

/** Where fixed rules ask whether exactly that was meant. */
const CONFIRM = 'Answer the question: `talaria -p 1 --continue --yes`.';
const TERMINAL = 'needs a yes at a terminal: start `talaria` there';

/** The way to an approval that helps: `--yes` reaches no farther than the folder and the network. */
function howTo(missing: readonly Missing[], approvals: ApprovalsOfRun): string {
  const near = missing.filter(({ reach }) => reach !== 'beyond').length;
  const isNone = near === 0 || approvals === 'auto';
  if (approvals === 'deny')
    return `approvals.mode is deny: \`talaria config set approvals.mode ask\` lets ${isNone ? 'a yes at a terminal' : '--yes'} count.`;
  if (isNone) return `It ${TERMINAL}.`;
  if (near < missing.length) return `--yes approves what stays in the folder or the network; the rest ${TERMINAL}.`;
  return '--yes (or --permission-mode auto) approves such calls; or allow it for good in a chat: answer a = always.';
}

function approvalMissing(missing: readonly MissingCall[], fix: string): PrintError {
  const calls = missing.map(({ tool, call }) => ({ tool, call }));
  const what = calls.map(({ tool, call }) => (call === tool ? tool : `${tool}: ${call}`)).join('; ');
  return { code: 'approval-missing', message: `not approved, since nobody could answer: ${what}`, fix, calls };
}

const QUESTION: PrintError = {
  code: 'question',
  message: 'reflex/1 asked what was meant, and nobody could answer',
  fix: 'Say it so that it can mean one thing, or answer with a number: `talaria -p 1 --continue`.',
};

const CUT: PrintError = {
  code: 'length',
  message: 'cut off at the length limit of the model',
  fix: '-c -p "go on" gives the rest, or ask for less at once.',
};

const NO_MODEL: PrintError = {
  code: 'no-model',
  message: 'this needs a language model: reflex/1 was asked, and it has no rule for this',
  fix: '`talaria setup` adds a model, -m NAME uses another; `talaria -p help` shows what works without.',
};

export type TurnEnd = Extract<TurnEvent, { type: 'turn-end' }>;

interface PrintError {
  readonly code: string;
  readonly message: string;
  readonly fix?: string | undefined;
  /** What would have needed an approval. */
  readonly calls?: readonly MissingCall[];
}

/** How a turn ended, as a script should read it. */
interface Verdict {
  readonly end: TurnEnd;
  readonly exitCode: number;
  /** There when `exitCode` is not 0. */
  readonly error?: PrintError;
}

function turnResult(sessionId: string, { end, exitCode, error }: Verdict): JsonObject {
  return {
    ...resultOf({ session_id: sessionId, result: end.text, is_error: exitCode !== 0, outcome: end.outcome }),
    num_steps: end.steps,
    usage: usageObject(end.usage),
    cost: end.cost,
    model: end.model,
    tier: end.tier,
    ...(end.stopped ? { stopped: end.stopped } : {}),
    ...(error ? { error: errorObject(error) } : {}),
  };
}

/** No turn was run. */
function refusalResult(error: PrintError): JsonObject {
  const nothing = resultOf({ session_id: null, result: '', is_error: true, outcome: 'failed' });
  return { ...nothing, error: errorObject(error) };
}

function resultOf(said: JsonObject): JsonObject {
  return { type: 'result', ...said, num_steps: 0, usage: usageObject(NO_USAGE), cost: 0, model: null, tier: null };
}

function errorObject({ code, message, fix, calls }: PrintError): JsonObject {
  return { code, message, ...(fix ? { fix } : {}), ...(calls ? { calls: calls.map((call) => ({ ...call })) } : {}) };
}

function usageObject(usage: Usage): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cached_tokens: usage.cachedTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    reasoning_tokens: usage.reasoningTokens,
  };
}

/** Characters of piped input that are kept; tools can search what a turn does not take. */
const KEPT = 32_000_000;
/** Characters that a turn takes, and its share of a small window; more is cut in the middle, saying so. */
const LIMIT = 400_000;
const WINDOW_SHARE = 0.4;
/** What of a text tells how many characters a token has. */
const SAMPLE = 100_000;

export interface PipedInput {
  readonly text: string;
  /** Characters that came, also those that were not kept. */
  readonly total: number;
  /** Nothing came in time, and the pipe was still open. */
  readonly silent: boolean;
  /** It holds NUL characters: no text. */
  readonly binary: boolean;
}

export const NO_INPUT: PipedInput = { text: '', total: 0, silent: false, binary: false };

export function hasPipedInput(): boolean {
  try {
    const facts = fstatSync(0);
    return facts.isFIFO() || facts.isFile() || facts.isSocket();
  } catch {
    // A closed standard input is no input.
    return false;
  }
}

export interface ReadOptions {
  /** How long the first byte may take; without it the end of the stream is waited for. */
  readonly patienceMs?: number;
  readonly signal: AbortSignal;
}

/** All of `stream` as text. Throws the signal's reason. */
export async function readPipedInput(stream: Readable, { patienceMs, signal }: ReadOptions): Promise<PipedInput> {
  let silent = false;
  const stop = () => stream.destroy();
  const giveUp = () => {
    silent = true;
    stop();
  };
  const cancel = patienceMs === undefined ? () => undefined : systemClock.after(patienceMs, giveUp);
  const kept = createKept();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      cancel();
      kept.add(chunk);
    }
  } catch (error) {
    if (!silent && !signal.aborted) throw error;
  } finally {
    cancel();
    signal.removeEventListener('abort', stop);
  }
  throwIfAborted(signal);
  const { text, total } = kept.end();
  return { text, total, silent, binary: text.includes('\u0000') };
}

/** Head and tail of a stream of any length, in memory of a fixed size. */
function createKept() {
  const decoder = new TextDecoder();
  let head = '';
  let tail = '';
  let total = 0;
  const put = (text: string) => {
    total += text.length;
    if (head.length < KEPT) head += text;
    tail = (tail + text).slice(-LIMIT);
  };
  const end = () => {
    put(decoder.decode());
    return { text: total <= KEPT ? head : joined(head, tail, total), total };
  };
  return { add: (chunk: Uint8Array) => put(decoder.decode(chunk, { stream: true })), end };
}

function joined(head: string, tail: string, total: number): string {
  const kept = sliceText(head, KEPT - LIMIT);
  const last = tail.toWellFormed();
  return `${kept}\n[… ${total - kept.length - last.length} characters left out …]\n${last}`;
}

/** What a turn takes of it, for a model that reads `window` tokens at once, and how many characters it does not take. */
export function forOneTurn(
  { text, total }: PipedInput,
  window: number,
): { readonly text: string; readonly leftOut: number } {
  const sample = text.slice(0, SAMPLE);
  const room = (window * WINDOW_SHARE * sample.length) / Math.max(1, estimateTokens(sample));
  const limit = Math.min(LIMIT, Math.max(1_000, Math.floor(room)));
  if (text.length <= limit) return { text: text.replace(/\n$/, ''), leftOut: 0 };
  const tail = Math.floor(limit / 4);
  return { text: headTail(text, limit - tail, tail), leftOut: total - limit };
}

/** One line of `--input-format stream-json`: a message of the owner, or what is wrong with the line. */
export type InputLine =
  | { readonly line: number; readonly text: string }
  | { readonly line: number; readonly problem: string };

/** The lines of `stream` as they come, to its end or until the signal aborts; empty ones do not count. */
export async function* readInputLines(stream: Readable, signal: AbortSignal): AsyncGenerator<InputLine, void> {
  const reader = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY, signal });
  let line = 0;
  for await (const typed of reader) {
    line += 1;
    if (typed.trim() !== '') yield { line, ...readInputLine(typed) };
  }
}

const SHAPE = '{"type":"user","message":{"content":"…"}}';

function readInputLine(typed: string): { readonly text: string } | { readonly problem: string } {
  const parsed = parseJson(typed);
  if (!parsed.ok) return { problem: `it is no JSON (${parsed.detail}); a line is ${SHAPE}` };
  if (!isJsonObject(parsed.value)) return { problem: `it is no JSON object; a line is ${SHAPE}` };
  const { type, text, message } = parsed.value;
  if (type !== 'user')
    return { problem: `its "type" is ${JSON.stringify(type) ?? 'missing'}, and only "user" is taken` };
  const said = contentText(isJsonObject(message) ? message.content : text);
  if (said === undefined) return { problem: `it has no text; a line is ${SHAPE} or {"type":"user","text":"…"}` };
  return said.trim() === '' ? { problem: 'its text is empty' } : { text: said };
}

/** A string, or a list of text blocks. */
function contentText(content: JsonValue | undefined): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  const texts = content.map((block) => (isJsonObject(block) && block.type === 'text' ? block.text : undefined));
  return texts.every((text) => typeof text === 'string') ? texts.join('\n') : undefined;
}
