// Owns which stretch of a session a review by rule looks at, and asks for it. Knows no rule and no row's form.
// Invariant: what an earlier review looked at is not looked at again, unless the owner asks.
import type { SessionStore, StoredMessage } from '#core/agent/session-store.ts';
import { gateProposal } from '#mind/evidence/gate/gate-proposal.ts';
import { MEMORY_TARGETS, type MemoryFiles } from '#mind/memory/memory-files.ts';
import { creationTriggers } from '../counters/creation-triggers.ts';
import { workCalls } from '../counters/done-calls.ts';
import type { KeepDoors } from '../keep/keep-proposal.ts';
import { repeatedCalls } from '../procedure/traces.ts';
import type { Review } from '../review/review.ts';
import type { ReviewRows } from '../review/review-rows.ts';
import type { ReviewParts, ReviewRun } from '../review/run-review.ts';
import { reflexReview } from './reflex-review.ts';

export interface ByRuleParts {
  readonly store: Pick<SessionStore, 'messages'>;
  readonly reviews: Pick<ReviewRows, 'list'>;
  readonly doors: KeepDoors;
  readonly keep: ReviewParts['keep'];
}

export type RuleOrder = Pick<Review, 'sessionId' | 'kind' | 'reasons' | 'hint'>;

export async function reviewByRule(parts: ByRuleParts, order: RuleOrder, signal: AbortSignal): Promise<ReviewRun> {
  const { sessionId, kind, reasons, hint } = order;
  const stored = await parts.store.messages(sessionId);
  const messages = stretchOf(parts, order, stored);
  const { doors } = parts;
  const all = doors.messagesOf(sessionId);
  const isAsked = reasons.includes('asked');
  const isRepeated = reasons.includes('repeated');
  const wantsSkill = isAsked || isRepeated || hasTrigger(messages);
  await doors.skills.ready?.();
  return reflexReview(
    {
      skillBody: (name) => doors.skills.reader.get(name)?.body,
      keep: parts.keep,
      judge: (draft) => gateProposal(draft, all).decision,
      keptEntries: () => keptEntries(doors.memory),
    },
    { sessionId, kind, messages, wantsSkill, isRepeated, ...(hint === undefined ? {} : { hint }) },
    signal,
  );
}

/** Of both memory files. */
export function keptEntries(files: Pick<MemoryFiles, 'read'>): readonly string[] {
  return MEMORY_TARGETS.flatMap((target) => {
    const state = files.read(target);
    return state.ok ? state.value.entries : [];
  });
}

function hasTrigger(messages: readonly StoredMessage[]): boolean {
  return (
    creationTriggers(
      messages.map(({ message }) => message),
      { acrossTurns: true },
    ).length > 0
  );
}

function stretchOf(
  { reviews }: ByRuleParts,
  { sessionId, reasons }: RuleOrder,
  stored: readonly StoredMessage[],
): readonly StoredMessage[] {
  if (reasons.includes('repeated')) return repeatedStretch(stored);
  if (reasons.includes('asked')) return stored;
  const done = reviews.list({ sessionId }).filter(({ status }) => status === 'done');
  const through = Math.max(0, ...done.map((one) => one.through));
  return stored.filter(({ id }) => id > through);
}

/** From the owner's line of the first repeated call on. */
function repeatedStretch(stored: readonly StoredMessage[]): readonly StoredMessage[] {
  const messages = stored.map(({ message }) => message);
  const calls = workCalls(messages);
  const run = repeatedCalls(calls) ?? calls;
  const first = run[0]?.at ?? 0;
  const from = messages.slice(0, first + 1).findLastIndex(({ role }) => role === 'user');
  return stored.slice(Math.max(0, from));
}
