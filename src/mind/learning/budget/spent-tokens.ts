// Owns counting tokens by what they were for. Knows no table: the session store sums.
// Invariant: what came out of a provider's cache is not counted, on either side of the balance.
import type { CostRow, SessionStore } from '#core/agent/session-store.ts';
import type { Purpose, Usage } from '#core/model/model-client.ts';
import {
  type BudgetRules,
  type BudgetState,
  budgetState,
  DAY_MS,
  HOUR_MS,
  type TokensSpent,
} from './learning-budget.ts';

export type Costs = Pick<SessionStore, 'costs'>;

const LEARNING: ReadonlySet<Purpose> = new Set(['review', 'flush', 'recall', 'judge']);

export async function spentTokens(store: Costs, since: number): Promise<TokensSpent> {
  const rows = await store.costs({ since });
  const sum = (isOurs: boolean) => sumOf(rows.filter(({ purpose }) => LEARNING.has(purpose) === isOurs));
  return { learning: sum(true), other: sum(false) };
}

export async function readBudget(store: Costs, now: number, rules: BudgetRules): Promise<BudgetState> {
  return budgetState(await spentTokens(store, now - HOUR_MS), await spentTokens(store, now - DAY_MS), rules);
}

/** What a step of this conversation costs in the mean: little where the provider keeps its beginning, all of it where none does. */
export async function tokensOfStep(store: Costs, sessionId: string): Promise<number> {
  const answers = (await store.costs({ sessionId })).filter(({ purpose }) => purpose === 'answer');
  const calls = answers.reduce((sum, row) => sum + row.calls, 0);
  return calls === 0 ? 0 : Math.ceil(sumOf(answers) / calls);
}

/** Tokens that were worked on: prompt without its cached part, and answer. */
export function freshTokens({ inputTokens, cachedTokens, outputTokens }: Usage): number {
  return Math.max(0, inputTokens - cachedTokens) + outputTokens;
}

function sumOf(rows: readonly CostRow[]): number {
  return rows.reduce((total, { usage }) => total + freshTokens(usage), 0);
}
