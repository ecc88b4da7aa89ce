// Owns what calls cost, summed: null as soon as one of them did not tell, never 0 by default. Pure.
import type { CallRecord } from '../../call/call-record.ts';

export interface MeasuredCalls {
  readonly calls: number;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  /** US dollars. */
  readonly cost: number | null;
  /** Of the calls, one after the other. */
  readonly elapsed_ms: number;
  readonly models: readonly string[];
}

export function measuredCalls(calls: readonly CallRecord[]): MeasuredCalls {
  return {
    calls: calls.length,
    input_tokens: sumOf(calls.map(({ usage }) => usage?.input_tokens ?? null)),
    output_tokens: sumOf(calls.map(({ usage }) => usage?.output_tokens ?? null)),
    cost: sumOf(calls.map(({ cost }) => cost)),
    elapsed_ms: Math.round(calls.reduce((sum, { elapsed_ms }) => sum + elapsed_ms, 0)),
    models: [...new Set(calls.flatMap(({ model }) => model ?? []))],
  };
}

function sumOf(values: readonly (number | null)[]): number | null {
  if (values.length === 0 || values.includes(null)) return null;
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}
