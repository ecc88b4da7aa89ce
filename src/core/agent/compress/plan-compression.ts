// Owns what one compression would do: which messages go, what stands for them, what it saves. Pure; knows no model and no store.
// Invariant: a plan never words anything itself, and its text merges with an earlier summary line by line. Seed 001 chapter 14.

import { isTainted, type UserMessage } from '#core/model/message.ts';
import { countTurns } from '../count-turns.ts';
import type { StoredMessage } from '../session-store.ts';
import { latestTasks } from './anchors/gather-work.ts';
import type { CompressionBudget } from './compression-budget.ts';
import { messageTokens } from './context-size.ts';
import { exactSections, plainSections } from './draft-sections.ts';
import { fitSections, mergeSections } from './merge-sections.ts';
import { splitContext } from './split-context.ts';
import { type Coverage, type Sections, type Summary, summaryMessage, summaryText } from './summary.ts';
import { parseSummary, renderSummary } from './summary-text.ts';

export interface CompressionPlan {
  /** Messages that leave, an earlier summary among them. */
  readonly ids: readonly number[];
  /** Those of them that nobody has summarised yet. */
  readonly middle: readonly StoredMessage[];
  readonly earlier: Summary | undefined;
  /** What is kept word for word, whoever words the rest. */
  readonly exact: Sections;
  readonly coverage: Coverage;
  /** Foreign words are among what leaves. */
  readonly tainted: boolean;
  /** Tokens of the messages that leave. */
  readonly leaving: number;
  readonly budget: CompressionBudget;
}

/** What a model has worded, and which lines of the earlier `Open` it found settled. */
export interface Worded {
  readonly sections: Sections;
  readonly closed: ReadonlySet<string>;
}

/** What a summary's first lines take beside its sections. */
const COVERAGE_TOKENS = 120;

/** Undefined when nothing lies between head and tail. */
export function planCompression(
  sessionId: string,
  messages: readonly StoredMessage[],
  budget: CompressionBudget,
): CompressionPlan | undefined {
  const { head, middle, earlier, tail } = splitContext(messages, budget);
  if (middle.length === 0) return undefined;
  const kept = [...head, ...tail];
  const known = earlier && parseSummary(summaryText(earlier.message) ?? '');
  const leaving = earlier ? [earlier, ...middle] : middle;
  return {
    ids: leaving.map((stored) => stored.id),
    middle,
    earlier: known && withoutStaleTasks(known, tail),
    exact: exactSections(middle, kept),
    coverage: coverageOf(sessionId, middle, known?.coverage),
    tainted: isTainted(leaving.map(({ message }) => message)),
    leaving: leaving.reduce((sum, stored) => sum + messageTokens(stored.message), 0),
    budget,
  };
}

/** The message that stands for what leaves. Without words of a model the plain lines stand in. */
export function summarise(plan: CompressionPlan, worded?: Worded): UserMessage {
  const { exact } = plan;
  const given = worded?.sections ?? plainSections(plan.middle);
  const fresh = { ...exact, ...given, Files: [...(exact.Files ?? []), ...(given.Files ?? [])] };
  const merged = mergeSections(plan.earlier?.sections ?? {}, fresh, worded?.closed);
  const sections = fitSections(merged, plan.budget.summary);
  return summaryMessage(renderSummary({ coverage: plan.coverage, sections }), plan.tainted ? 'foreign' : 'model');
}

/** Whether it can save `share` of `before` tokens, without a model's words. */
export function canSave(plan: CompressionPlan, before: number, share: number): boolean {
  const atLeast = plan.leaving - plan.budget.summary - COVERAGE_TOKENS;
  return atLeast >= share * before || savedShare(plan, summarise(plan), before) >= share;
}

/** Share of `before` tokens that goes when `message` stands for what leaves. */
export function savedShare(plan: CompressionPlan, message: UserMessage, before: number): number {
  return (plan.leaving - messageTokens(message)) / Math.max(1, before);
}

function withoutStaleTasks(earlier: Summary, tail: readonly StoredMessage[]): Summary {
  if (latestTasks(tail.map((stored) => stored.message)) === undefined) return earlier;
  const { Tasks: _, ...sections } = earlier.sections;
  return { ...earlier, sections };
}

function coverageOf(sessionId: string, middle: readonly StoredMessage[], earlier: Coverage | undefined): Coverage {
  const last = earlier?.stretches.at(-1);
  const extended = last?.sessionId === sessionId ? last : undefined;
  const ids = middle.map((stored) => stored.id).sort((a, b) => a - b);
  const stretch = {
    sessionId,
    fromId: Math.min(extended?.fromId ?? Number.POSITIVE_INFINITY, ids[0] ?? 0),
    toId: Math.max(extended?.toId ?? 0, ids.at(-1) ?? 0),
    messages: (extended?.messages ?? 0) + middle.length,
  };
  return {
    stretches: [...(earlier?.stretches ?? []).slice(0, extended ? -1 : undefined), stretch],
    turns: (earlier?.turns ?? 0) + countTurns(middle.map((stored) => stored.message)),
    compressions: (earlier?.compressions ?? 0) + 1,
  };
}
