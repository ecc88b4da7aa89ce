// Owns `talaria -p`: one turn without a terminal, or one for each line of input, its answer as text, JSON, or a stream of events.
// Knows no chat. Invariant: with JSON stdout holds nothing but JSON, also when nothing could be run; the exit code says how the turn ended.
import { join } from 'node:path';
import { atomicWrite } from '#base/atomic-write.ts';
import { errorText, TalariaError } from '#base/errors.ts';
import { newId } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import { absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { TextPart } from '#core/model/message.ts';
import type { Tier } from '#core/model/model-client.ts';
import type { App } from '#surfaces/app/app.ts';
import { leftOutNotice } from '#surfaces/app/home/trust.ts';
import { withFix } from '#surfaces/app/with-fix.ts';
import { eventLines } from '../event-lines.ts';
import { openProblem } from '../open-problem.ts';
import type { OutputTarget } from '../render-output.ts';
import { oneLine, plain } from '../terminal-text.ts';
import { forOneTurn, type InputLine, NO_INPUT, type PipedInput } from './piped-input.ts';
import { type PrintError, refusalResult, turnResult, type Verdict } from './print-result.ts';
import { type ApprovalsOfRun, watchTurn } from './unanswered.ts';

export type OutputFormat = 'text' | 'json' | 'stream-json';

export interface PrintRequest {
  /** Absent: what is piped in is the message, or the messages. */
  readonly text?: string;
  readonly format: OutputFormat;
  readonly resume?: string;
  readonly continueLast: boolean;
  /** Id of the new session. */
  readonly newId?: string;
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
  const { resume, newId, continueLast } = request;
  const opened = await app.openConversation({
    source: 'cli',
    cwd: app.environment.cwd,
    approver: denyingApprover,
    asker: absentAsker,
    continueLast,
    ...(resume === undefined ? {} : { resume }),
    ...(newId === undefined ? {} : { newId }),
  });
  if (!opened.ok) return refuse(request, openProblem(opened), { target, exitCode: REFUSED });
  const print = { app, conversation: opened.value, request, target };
  const leftOut = opened.value.history.length === 0 ? leftOutNotice(app.home, app.environment.cwd) : undefined;
  if (leftOut !== undefined) target.err(`talaria: ${leftOut}\n`);
  try {
    sayStart(print);
    return await (lines ? playLines(print, lines) : playMessage(print, piped));
  } finally {
    await opened.value.close();
  }
}

interface Print {
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
  const { app, conversation, request } = print;
  if (piped.text.trim() === '') return playTurn(print, { text: request.text ?? '', extra: [] });
  const taken = forOneTurn(piped, app.model().contextWindow);
  if (taken.leftOut > 0) sayNotice(print, leftOutText(taken.leftOut, app.model().tier, request.text));
  if (request.text === undefined) return playTurn(print, { text: taken.text, extra: [] });
  return playTurn(print, { text: request.text, extra: [stdinPart(app, conversation, piped)] });
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
  readonly extra: readonly TextPart[];
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
  const watch = watchTurn(approvalsOf(app));
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
