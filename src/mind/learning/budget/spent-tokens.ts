// Owns counting tokens of the last 7 days by what they were for. Knows no table: the session store sums.
// Invariant: what came out of a provider's cache is not counted, on either side of the balance.
import type { CostRow, SessionStore } from '#core/agent/session-store.ts';
import type { Purpose, Usage } from '#core/model/model-client.ts';
import { BUDGET_MS, type TokensSpent } from './learning-budget.ts';

const LEARNING: ReadonlySet<Purpose> = new Set(['review', 'flush', 'recall', 'judge']);

export async function spentTokens(store: Pick<SessionStore, 'costs'>, now: number): Promise<TokensSpent> {
  const rows = await store.costs({ since: now - BUDGET_MS });
  const sum = (isOurs: boolean) =>
    rows.filter((row) => LEARNING.has(row.purpose) === isOurs).reduce((total, row) => total + freshOf(row), 0);
  return { learning: sum(true), other: sum(false) };
}

/** Tokens that were worked on: prompt without its cached part, and answer. */
export function freshTokens({ inputTokens, cachedTokens, outputTokens }: Usage): number {
  return Math.max(0, inputTokens - cachedTokens) + outputTokens;
}

function freshOf({ usage }: CostRow): number {
  return freshTokens(usage);
}
