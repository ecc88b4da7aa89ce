// Owns the forked turns in which a model may only propose, a review and the flush before a compression (seed 001 ch 13), and what came of them.

import { z } from 'zod';
import { AbortedError } from '#base/abort.ts';
import type { Database } from '#base/database/connection.ts';
import { TalariaError } from '#base/errors.ts';
import { canonicalJson, type JsonObject } from '#base/json.ts';
import { estimateTokens, oneLine, sliceText } from '#base/text.ts';
import type { ForkTurn } from '#core/agent/conversation.ts';
import { messageTokens } from '#core/agent/history.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import { type AnyTool, defineTool, type ToolOutput } from '#core/agent/tool.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import { type Message, messageText, toolCalls } from '#core/model/message.ts';
import { readEvidence, withoutEvidence } from '#mind/evidence/citations.ts';
import type { Actor, ProposalDraft } from '#mind/evidence/proposal.ts';
import { memoryTarget } from '#mind/memory/kept-entries.ts';
import type { Kept, LearningParts } from './keep-proposal.ts';
import { FLUSH_PROMPT, REVIEW_PROMPTS } from './learning.rules.ts';
import type { ReviewKind, ReviewOutcome } from './learning.ts';
import { freshTokens } from './learning-budget.ts';

export interface ReviewParts {
  readonly forkTurn: ForkTurn;
  /** Live messages of a session, oldest first. */
  readonly messagesOf: (sessionId: string) => Promise<readonly StoredMessage[]>;
  /** The session's own reading tools that a review may run: `skill_view`, `skills_list`. */
  readonly readingTools: readonly AnyTool[];
  readonly keep: (draft: ProposalDraft, signal: AbortSignal) => Promise<Kept>;
  /** All messages of a session, those that were compressed away too: what can be cited. */
  readonly citable: (sessionId: string) => readonly StoredMessage[];
  /** Context window of the conversation's model, tokens. */
  readonly window: () => number;
}

export interface ReviewRun extends ReviewOutcome {
  readonly outcomes: readonly Kept[];
}

interface ProposingRun {
  readonly sessionId: string;
  readonly kind: ReviewKind;
  readonly text: string;
  /** And who proposes. */
  readonly purpose: 'review' | 'flush';
  readonly maxSteps: number;
  /** Tokens that the budget has left, with what was spent by now; absent: as many as it takes. */
  readonly left?: () => Promise<number>;
}

/** Throws when the turn fails: the model cannot be reached, the session is gone, the signal aborts. */
export async function runReview(
  parts: ReviewParts,
  request: Pick<ProposingRun, 'sessionId' | 'kind' | 'left'> & { readonly hint?: string },
  signal: AbortSignal,
): Promise<ReviewRun> {
  const { sessionId, kind, hint = '' } = request;
  const wish = hint.trim() === '' ? '' : `The owner asked for this review and said: "${hint.trim()}"`;
  const citable = citableMessages(await parts.messagesOf(sessionId), parts.window());
  const text = [REVIEW_PROMPTS[kind], wish, citable].filter((part) => part !== '').join('\n\n');
  return runProposing(parts, { ...request, text, purpose: 'review', maxSteps: 8 }, signal);
}

/** A forked turn in which nothing but proposals can be made; the flush is one too. */
async function runProposing(
  parts: Omit<ReviewParts, 'messagesOf' | 'window'>,
  run: ProposingRun,
  signal: AbortSignal,
): Promise<ReviewRun> {
  const outcomes: Kept[] = [];
  const { sessionId, kind, text, purpose, maxSteps } = run;
  const proposing = { sessionId, actor: purpose, messages: parts.citable(sessionId), keep: parts.keep, outcomes };
  const tools = [
    ...(kind === 'skills' ? [] : [proposingTool('memory', proposing)]),
    ...(kind === 'memory' ? [] : [proposingTool('skill_manage', proposing), ...parts.readingTools]),
  ];
  const runnable = new Map(tools.map((tool) => [tool.name, tool]));
  const room = { left: Number.POSITIVE_INFINITY, step: Number.POSITIVE_INFINITY };
  const stop = () =>
    room.left < room.step ? { code: 'over-budget', detail: 'learning.budget has no room for another step' } : undefined;
  const events = parts.forkTurn({ sessionId, text, purpose, runnable, maxSteps, stop: [stop] }, signal);
  const spent = { tokens: 0, cost: 0 as number | null, model: '' };
  for await (const event of events) {
    takeEvent(event, spent);
    // The next step costs what the cheapest one before it did, or more; a message is sent when its cost is in the store.
    if (event.type === 'step-end') room.step = Math.min(room.step, freshTokens(event.usage));
    if (event.type === 'message' && run.left) room.left = await run.left();
  }
  if (spent.model.startsWith('reflex/'))
    throw new TalariaError('no language model could be reached', { code: 'model-unreachable', retryable: true });
  return { ...countOutcomes(outcomes), ...spent, outcomes };
}

function takeEvent(event: TurnEvent, spent: { tokens: number; cost: number | null; model: string }): void {
  if (event.type !== 'turn-end') return;
  const { usage, cost, model, outcome, error } = event;
  Object.assign(spent, { tokens: freshTokens(usage), cost, model });
  if (outcome === 'aborted') throw new AbortedError('the review was stopped');
  if (outcome === 'failed')
    throw new TalariaError(error?.message ?? 'the review failed', { code: error?.code ?? 'review-failed' });
}

interface Proposing {
  readonly sessionId: string;
  readonly actor: Actor;
  readonly keep: ReviewParts['keep'];
  /** All of the session, oldest first: what can be cited. */
  readonly messages: readonly StoredMessage[];
  /** Grows by each outcome. */
  readonly outcomes: Kept[];
}

/** Loose: the shown schemas are the session's own, and `evidence` is read beside them. */
const input = z.looseObject({});

function draftOf(
  kind: ProposalDraft['kind'],
  { actor, sessionId }: Proposing,
  change: JsonObject,
  citations: ProposalDraft['citations'],
): ProposalDraft {
  const whose = { kind, actor, sessionId, citations };
  const action = String(change.action ?? '');
  if (kind === 'skill') return { ...whose, target: String(change.name ?? '').trim(), action, change };
  const isBatch = Array.isArray(change.operations) && change.operations.length > 0;
  return {
    ...{ ...whose, target: memoryTarget(change), action: isBatch ? 'batch' : action },
    change: { target: 'memory', ...change },
  };
}

/** Verdicts that go back to the model once; a second one of the same skill, or of the same cited words, drops it. */
const SENT_BACK: ReadonlySet<string> = new Set(['contradicts', 'one-off']);
const DROPPED = 'Dropped: what was cited did not carry it twice. Leave it.';

function proposingTool(name: 'memory' | 'skill_manage', proposing: Proposing): AnyTool {
  const isMemory = name === 'memory';
  const kind = isMemory ? 'memory' : 'skill';
  const seen = new Set<string>();
  const sentBack = new Map<string, number>();
  return defineTool<z.infer<typeof input>>({
    name,
    description: name,
    input,
    toolset: isMemory ? 'memory' : 'skills',
    effect: 'write',
    run: async (given, _context, signal) => {
      const change = given as JsonObject;
      const key = canonicalJson(change);
      if (seen.has(key)) return answer({ success: false, error: 'This was proposed already; do not repeat it.' });
      seen.add(key);
      const cited = readEvidence(change.evidence, proposing.messages);
      const draft = draftOf(kind, proposing, withoutEvidence(change), cited);
      const subject = isMemory ? canonicalJson(cited.map(({ quote, handle }) => [handle, quote])) : draft.target;
      if ((sentBack.get(subject) ?? 0) > 1) return answer({ success: false, error: DROPPED });
      const kept = await proposing.keep(draft, signal);
      proposing.outcomes.push(kept);
      if (kept.status === 'refused' && SENT_BACK.has(kept.reason))
        sentBack.set(subject, (sentBack.get(subject) ?? 0) + 1);
      return answerOf(kept);
    },
  });
}

function answerOf(kept: Kept): ToolOutput {
  switch (kept.status) {
    case 'applied':
      return answer({ success: true, done: true, message: 'Kept. Do not repeat this call.' });
    case 'pending': {
      const message = 'It waits for the owner. Do not repeat this call.';
      return answer({ success: true, staged: true, pending_id: kept.proposal.id, message });
    }
    case 'refused':
      return answer({ success: false, reason: kept.reason, error: kept.detail });
  }
}

/** Details quote what the model wrote and what it cited. */
function answer(value: JsonObject): ToolOutput {
  const failed = value.success === false;
  return { text: JSON.stringify(value), origin: failed ? 'foreign' : 'observed', ...(failed ? { isError: true } : {}) };
}

const SHOWN = 160;
/** Share of a window that the list may take. */
const SHARE = 0.08;
const MOST_TOKENS = 6_000;

export function citableMessages(messages: readonly StoredMessage[], window: number): string {
  const room = Math.min(MOST_TOKENS, Math.floor(window * SHARE));
  const lines: string[] = [];
  let used = 0;
  for (const { id, message } of messages.toReversed()) {
    const line = lineOf(id, message);
    used += line === undefined ? 0 : estimateTokens(line) + 1;
    if (used > room) break;
    if (line !== undefined) lines.unshift(line);
  }
  return lines.length === 0 ? '' : `Messages that can be cited (number, who, first words):\n${lines.join('\n')}`;
}

function lineOf(id: number, message: Message): string | undefined {
  const calls = toolCalls(message).map((call) => `${call.name} ${JSON.stringify(call.arguments)}`);
  const text = oneLine([messageText(message), ...calls].join(' '));
  return text === '' ? undefined : `#${id} ${whoOf(message)}: ${sliceText(text, SHOWN)}`;
}

function whoOf(message: Message): string {
  if (message.role !== 'tool') return message.role;
  const [{ name, isError, observed }] = message.parts;
  const exit = observed.exitCode === undefined ? '' : ` exit ${observed.exitCode}`;
  return `tool ${name}${exit}${isError ? ' failed' : ''}`;
}

export function countOutcomes(
  outcomes: readonly Kept[],
): Required<Pick<ReviewOutcome, 'kept' | 'refused' | 'pending' | 'drafts' | 'refusals'>> {
  const drafts = outcomes.flatMap((one) => (one.status === 'pending' ? [one.proposal.id] : []));
  const refusals = outcomes.flatMap((one) => (one.status === 'refused' ? [one.reason] : []));
  const kept = outcomes.length - drafts.length - refusals.length;
  return { kept, refused: refusals.length, pending: drafts.length, drafts, refusals };
}

/** By a model: one call and its tools, for the flush is no conversation. Undefined: too little is new. */
export async function flushMemory(
  review: ReviewParts,
  { store: { database }, clock }: LearningParts,
  sessionId: string,
  signal: AbortSignal,
): Promise<ReviewRun | undefined> {
  const messages = await review.messagesOf(sessionId);
  if (!isFlushDue(database, sessionId, messages, review.window())) return undefined;
  const text = `${FLUSH_PROMPT}\n\n${citableMessages(messages, review.window())}`.trimEnd();
  const run = await runProposing(review, { sessionId, kind: 'memory', text, purpose: 'flush', maxSteps: 1 }, signal);
  const through = messages.at(-1)?.id;
  const sql = `INSERT INTO flushes(session_id, through_message, at) VALUES(?, ?, ?)
    ON CONFLICT(session_id) DO UPDATE SET through_message = excluded.through_message, at = excluded.at`;
  if (through !== undefined) await database.transaction(() => database.run(sql, sessionId, through, clock.now()));
  return run;
}

/** New text under this, in tokens and as a share of the window, is not worth a call over the whole conversation. */
const LEAST_NEW = { tokens: 20_000, share: 0.2 };

/** What is left out is about what a compression leaves at the end as it is. */
function isFlushDue(
  database: Database,
  sessionId: string,
  messages: readonly StoredMessage[],
  window: number,
): boolean {
  const sql = 'SELECT through_message AS through FROM flushes WHERE session_id = ?';
  const flushed = database.get<{ through: number }>(sql, sessionId);
  if (flushed === undefined) return true;
  const isSummary = ({ parts }: Message) => parts.some((part) => part.type === 'text' && part.label === 'summary');
  const fresh = messages.filter(({ id, message }) => id > flushed.through && !isSummary(message));
  const tokens = fresh.reduce((sum, { message }) => sum + messageTokens(message), 0);
  return tokens >= Math.min(LEAST_NEW.tokens, window * LEAST_NEW.share);
}
