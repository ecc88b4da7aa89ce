// Owns `talaria -p`: one turn without a terminal, its answer as text, JSON, or a stream of events.
// Knows no chat. Invariant: with JSON stdout holds nothing but JSON, also when nothing could be run; the exit code says how the turn ended.
import { errorText, TalariaError } from '#base/errors.ts';
import { type Approver, absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { TextPart } from '#core/model/message.ts';
import type { App } from '#surfaces/app/app.ts';
import { eventLines, failureText } from '../event-lines.ts';
import { openProblem } from '../open-problem.ts';
import type { OutputTarget } from '../render-output.ts';
import { oneLine, plain } from '../terminal-text.ts';
import type { PipedInput } from './piped-input.ts';
import { type PrintError, refusalResult, type TurnEnd, turnResult } from './print-result.ts';
import { watchTurn } from './unanswered.ts';

export type OutputFormat = 'text' | 'json' | 'stream-json';

export interface PrintRequest {
  /** Absent: what is piped in is the message. */
  readonly text?: string;
  readonly format: OutputFormat;
  readonly resume?: string;
  readonly continueLast: boolean;
  /** Answers every question about risky calls with yes; what is never run stays never run. */
  readonly yes: boolean;
}

export interface PrintGround {
  readonly open: () => Promise<App>;
  readonly piped: () => Promise<PipedInput>;
}

type Target = OutputTarget & { readonly signal: AbortSignal };

/** Exit codes of a turn by outcome. */
const EXIT = { done: 0, failed: 1, stopped: 1, length: 1, aborted: 130 } as const;
const USAGE = 2;
const REFUSED = 3;

const approveAll: Approver = { approve: async () => ({ decision: 'once', reason: 'started with --yes' }) };

/** Throws what composing the agent throws; with JSON it has then been printed as the one object. */
export async function runPrintMode(ground: PrintGround, request: PrintRequest, target: Target): Promise<number> {
  const [app, piped] = await Promise.all([openApp(ground, request, target), ground.piped()]);
  for (const notice of [...app.notices, ...app.modelNotices]) target.err(`talaria: ${notice}\n`);
  const problem = inputProblem(request, piped);
  if (problem !== undefined) return refuse(request, { code: 'usage', message: problem }, { target, exitCode: USAGE });
  if (piped.silent)
    target.err('talaria: nothing came through the pipe; going on without it (</dev/null skips the wait)\n');
  const opened = await app.openConversation({
    source: 'cli',
    cwd: app.environment.cwd,
    approver: request.yes ? approveAll : denyingApprover,
    asker: absentAsker,
    continueLast: request.continueLast,
    ...(request.resume === undefined ? {} : { resume: request.resume }),
  });
  if (!opened.ok) return refuse(request, openProblem(opened), { target, exitCode: REFUSED });
  try {
    return await playTurn(opened.value, { request, piped }, target);
  } finally {
    await opened.value.close();
  }
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

function inputProblem({ text }: PrintRequest, piped: PipedInput): string | undefined {
  if (piped.binary) return 'the piped input is binary, not text; name the file in the message instead';
  if ((text ?? piped.text).trim() === '') return '-p needs a text: talaria -p "list the files here"';
  return undefined;
}

interface Material {
  readonly request: PrintRequest;
  readonly piped: PipedInput;
}

async function playTurn(conversation: Conversation, { request, piped }: Material, target: Target): Promise<number> {
  const isContext = request.text !== undefined && piped.text !== '';
  const extra = isContext ? { extra: [stdinPart(piped.text)] } : {};
  const events = conversation.send(request.text ?? piped.text, { signal: target.signal, ...extra });
  const end = await watchEvents(events, request, target);
  if (request.format !== 'text') target.out(`${JSON.stringify(turnResult(conversation.session.id, end))}\n`);
  else if (end.text !== '') target.out(`${plain(end.text)}\n`);
  if (end.outcome !== 'done') target.err(`talaria: ${endText(end, target.signal)}\n`);
  return EXIT[end.outcome];
}

/** Shows the events as they come; the last one as it was judged. */
async function watchEvents(events: AsyncIterable<TurnEvent>, request: PrintRequest, target: Target): Promise<TurnEnd> {
  const watch = watchTurn();
  const show = (event: TurnEvent) => {
    if (request.format === 'stream-json') target.out(`${JSON.stringify(event)}\n`);
    else reportNotices(event, target);
  };
  let end: TurnEnd | undefined;
  for await (const event of events) {
    watch.see(event);
    if (event.type === 'turn-end') end = await watch.judge(event);
    show(end ?? event);
  }
  if (!end) throw new TalariaError('the turn ended without its last event', { code: 'turn-endless' });
  return end;
}

function endText(end: TurnEnd, signal: AbortSignal): string {
  if (end.outcome === 'failed') return `failed: ${failureText(end)}`;
  if (end.outcome === 'aborted') return signal.reason instanceof Error ? signal.reason.message : 'stopped on request';
  if (end.outcome === 'length')
    return 'cut off at the length limit of the model; -c -p "go on" gives the rest, or ask for less at once';
  return `stopped: ${end.stopped ?? 'a limit'}`;
}

function reportNotices(event: TurnEvent, target: OutputTarget): void {
  if (event.type === 'turn-end') return;
  for (const line of eventLines(event)) {
    if (line.kind === 'notice' || line.kind === 'error') target.err(`talaria: ${oneLine(line.text, 400)}\n`);
  }
}

function stdinPart(text: string): TextPart {
  return { type: 'text', text: `[piped input]\n${text}\n[end of piped input]`, origin: 'foreign', label: 'stdin' };
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
