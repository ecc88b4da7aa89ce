// Owns the sums over the calls of a run. Invariant: what some call did not tell is not told by the sum either; nothing is estimated.
import { wasNotSent } from '../../call/call-meter.ts';
import type { CallRecord } from '../../call/call-record.ts';
import type { RunTotals } from '../run-outcome.ts';

export class CallTotals {
  #calls = 0;
  #input: number | null = 0;
  #output: number | null = 0;
  #cost: number | null = 0;

  add(record: CallRecord): void {
    if (wasNotSent(record) || record.adapter_error?.type === 'no_model') return;
    this.#calls += 1;
    // The judge tells the house what it took.
    if (record.mode === 'judge') return;
    this.#input = sum(this.#input, record.usage?.input_tokens);
    this.#output = sum(this.#output, record.usage?.output_tokens);
    this.#cost = sum(this.#cost, record.cost);
  }

  totals(): RunTotals {
    return { calls: this.#calls, input_tokens: this.#input, output_tokens: this.#output, cost: this.#cost };
  }
}

function sum(total: number | null, more: number | null | undefined): number | null {
  return total === null || more === null || more === undefined ? null : total + more;
}
