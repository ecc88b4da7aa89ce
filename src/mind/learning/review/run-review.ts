// Owns one review by a model: a forked turn with proposing tools, its prompt, and what came of it (seed 001 ch 13).
// Knows no row and no trigger. Invariants: at most eight steps, and none after what is left of the budget; nothing is added to the
// conversation; whatever the model says but calls of these tools has no effect.
import { AbortedError } from '#base/abort.ts';
import { TalariaError } from '#base/errors.ts';
import type { ForkTurn } from '#core/agent/fork-turn.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import type { AnyTool } from '#core/agent/tool.ts';
import type { TurnEvent } from '#core/agent/turn-event.ts';
import type { Purpose } from '#core/model/model-client.ts';
import type { ProposalDraft } from '#mind/evidence/proposal.ts';
import { freshTokens } from '../budget/spent-tokens.ts';
import type { Kept } from '../keep/keep-proposal.ts';
import { citableMessages } from './citable-messages.ts';
import { countOutcomes } from './count-outcomes.ts';
import { proposingMemory, proposingSkillManage } from './proposing-tools.ts';
import type { ReviewKind, ReviewOutcome } from './review.ts';
import { REVIEW_PROMPTS } from './review-prompts.ts';

const REVIEW_STEPS = 8;

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

export interface ReviewRequest {
  readonly sessionId: string;
  readonly kind: ReviewKind;
  readonly hint?: string;
  /** Tokens that the budget has left, with what was spent by now; absent: as many as it takes. */
  readonly left?: () => Promise<number>;
}

export interface ReviewRun extends ReviewOutcome {
  readonly outcomes: readonly Kept[];
}

/** Throws when the turn fails: the model cannot be reached, the session is gone, the signal aborts. */
export async function runReview(parts: ReviewParts, request: ReviewRequest, signal: AbortSignal): Promise<ReviewRun> {
  const text = promptOf(request, citableMessages(await parts.messagesOf(request.sessionId), parts.window()));
  return runProposing(parts, { ...request, text, purpose: 'review', actor: 'review', maxSteps: REVIEW_STEPS }, signal);
}

export interface ProposingRun {
  readonly sessionId: string;
  readonly kind: ReviewKind;
  readonly text: string;
  readonly purpose: Purpose;
  readonly actor: 'review' | 'flush';
  readonly maxSteps: number;
  readonly left?: () => Promise<number>;
}

/** A forked turn in which nothing but proposals can be made; the flush is one too. */
export async function runProposing(
  parts: Omit<ReviewParts, 'messagesOf' | 'window'>,
  run: ProposingRun,
  signal: AbortSignal,
): Promise<ReviewRun> {
  const outcomes: Kept[] = [];
  const { sessionId, actor } = run;
  const messages = parts.citable(sessionId);
  const proposing = { sessionId, actor, keep: parts.keep, messages, outcome: (kept: Kept) => void outcomes.push(kept) };
  const tools = toolsOf(run.kind, proposing, parts.readingTools);
  const runnable = new Map(tools.map((tool) => [tool.name, tool]));
  const { text, purpose, maxSteps } = run;
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

function toolsOf(kind: ReviewKind, proposing: Parameters<typeof proposingMemory>[0], reading: readonly AnyTool[]) {
  const memory = kind === 'skills' ? [] : [proposingMemory(proposing)];
  const skills = kind === 'memory' ? [] : [proposingSkillManage(proposing), ...reading];
  return [...memory, ...skills];
}

interface Spent {
  tokens: number;
  cost: number | null;
  model: string;
}

function takeEvent(event: TurnEvent, spent: Spent): void {
  if (event.type !== 'turn-end') return;
  spent.tokens = freshTokens(event.usage);
  spent.cost = event.cost;
  spent.model = event.model;
  if (event.outcome === 'failed' || event.outcome === 'aborted') throw failureOf(event);
}

function failureOf({ outcome, error }: Extract<TurnEvent, { type: 'turn-end' }>): Error {
  if (outcome === 'aborted') return new AbortedError('the review was stopped');
  return new TalariaError(error?.message ?? 'the review failed', { code: error?.code ?? 'review-failed' });
}

function promptOf({ kind, hint = '' }: ReviewRequest, citable: string): string {
  const wish = hint.trim() === '' ? '' : `The owner asked for this review and said: "${hint.trim()}"`;
  return [REVIEW_PROMPTS[kind], wish, citable].filter((part) => part !== '').join('\n\n');
}
