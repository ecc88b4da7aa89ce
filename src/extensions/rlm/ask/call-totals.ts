// Owns what the calls of an ask came to. Pure. The judge's tokens are in the ledger of the house, by its purpose. Invariant: what some call did not tell is null, never guessed; a call that was not made counts for nothing.
import type { CallRecord } from '../call/call-record.ts';
import type { RunTotals } from '../run/run-outcome.ts';

export function callTotals(records: readonly CallRecord[]): RunTotals {
  const made = records.filter(wasMade);
  const told = made.filter(({ mode }) => mode !== 'judge');
  return {
    calls: made.length,
    input_tokens: sumOf(told.map(({ usage }) => usage?.input_tokens ?? null)),
    output_tokens: sumOf(told.map(({ usage }) => usage?.output_tokens ?? null)),
    cost: sumOf(told.map(({ cost }) => cost)),
  };
}

function wasMade({ adapter_error }: CallRecord): boolean {
  const type = adapter_error?.type ?? '';
  return !(type.startsWith('budget_') || type === 'no_model');
}

function sumOf(values: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const value of values) {
    if (value === null) return null;
    sum += value;
  }
  return sum;
}
