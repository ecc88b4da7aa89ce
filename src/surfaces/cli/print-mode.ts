// Owns `talaria -p`: one turn without a terminal, its answer as text, JSON, or a stream of events.
// Knows no chat. Invariant: with JSON stdout holds nothing but JSON; the exit code says how the turn ended.
import type { JsonObject } from '#base/json.ts';
import { type Approver, absentAsker, denyingApprover } from '#core/agent/approver.ts';
import type { Conversation } from '#core/agent/conversation.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { TextPart } from '#core/model/message.ts';
import type { App } from '#surfaces/app/app.ts';
import { eventLines, failureText } from './event-lines.ts';
import type { OutputTarget } from './render-output.ts';
import { oneLine, plain } from './terminal-text.ts';

export type OutputFormat = 'text' | 'json' | 'stream-json';

export interface PrintRequest {
  readonly text: string;
  readonly stdin: string;
  readonly format: OutputFormat;
  readonly resume?: string;
  readonly continueLast: boolean;
  /** Answers every question about risky calls with yes; what is never run stays never run. */
  readonly yes: boolean;
}

/** Exit codes of a turn by outcome. */
const EXIT = { done: 0, failed: 1, stopped: 1, aborted: 130 } as const;
const REFUSED = 3;

type TurnEnd = Extract<TurnEvent, { type: 'turn-end' }>;

const approveAll: Approver = { approve: async () => ({ decision: 'once', reason: 'started with --yes' }) };

export async function runPrintMode(
  app: App,
  request: PrintRequest,
  target: OutputTarget & { readonly signal: AbortSignal },
): Promise<number> {
  const opened = await app.openConversation({
    source: 'cli',
    cwd: app.environment.cwd,
    approver: request.yes ? approveAll : denyingApprover,
    asker: absentAsker,
    continueLast: request.continueLast,
    ...(request.resume === undefined ? {} : { resume: request.resume }),
  });
  if (!opened.ok) return refuse(request.format, { code: opened.reason, message: opened.detail }, target);
  const conversation = opened.value;
  try {
    return await playTurn(conversation, request, target);
  } finally {
    await conversation.close();
  }
}

async function playTurn(
  conversation: Conversation,
  request: PrintRequest,
  target: OutputTarget & { readonly signal: AbortSignal },
): Promise<number> {
  const extra = request.stdin === '' ? {} : { extra: [stdinPart(request.stdin)] };
  let end: TurnEnd | undefined;
  for await (const event of conversation.send(request.text, { signal: target.signal, ...extra })) {
    if (request.format === 'stream-json') target.out(`${JSON.stringify(event)}\n`);
    else reportNotices(event, target);
    if (event.type === 'turn-end') end = event;
  }
  if (!end) return 1;
  if (request.format !== 'text') target.out(`${JSON.stringify(summary(conversation, end))}\n`);
  else if (end.text !== '') target.out(`${plain(end.text)}\n`);
  if (end.outcome !== 'done') target.err(`talaria: ${end.outcome}: ${end.stopped ?? failureText(end)}\n`);
  return EXIT[end.outcome];
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

/** The object of `--output-format json`; the last line of `stream-json`. */
function summary(conversation: Conversation, end: TurnEnd): JsonObject {
  const { usage } = end;
  return {
    session_id: conversation.session.id,
    result: end.text,
    is_error: end.outcome !== 'done',
    outcome: end.outcome,
    num_steps: end.steps,
    usage: {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      reasoning_tokens: usage.reasoningTokens,
    },
    cost: end.cost,
    model: end.model,
    tier: end.tier,
    ...(end.stopped ? { stopped: end.stopped } : {}),
    ...(end.error ? { error: { ...end.error } } : {}),
  };
}

function refuse(
  format: OutputFormat,
  error: { readonly code: string; readonly message: string },
  target: OutputTarget,
): number {
  if (format !== 'text') target.out(`${JSON.stringify({ is_error: true, error })}\n`);
  target.err(`talaria: ${error.message}\n`);
  return REFUSED;
}
