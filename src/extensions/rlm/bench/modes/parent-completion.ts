// Owns which reply is the parent's: that of the last synthesis that brought one. Pure.
import type { CallRecord } from '../../call/call-record.ts';

/** Null: none was asked or none answered. */
export function parentCompletion(calls: readonly CallRecord[]): string | null {
  return calls.findLast((call) => call.mode === 'synthesize_parent' && call.completion !== null)?.completion ?? null;
}
