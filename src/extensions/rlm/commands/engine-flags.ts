// Owns the flags that `rlm ask` and `rlm run` have in common, and what they mean. Reads nothing.
import type { CallBudget } from '../call/call-record.ts';

interface EngineFlags {
  readonly maxCalls?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly maxCost?: number | undefined;
  /** Seconds. */
  readonly timeout?: number | undefined;
}

export function budgetOf({ maxCalls, maxTokens, maxCost, timeout }: EngineFlags): CallBudget {
  const max_ms = timeout === undefined ? undefined : timeout * 1_000;
  return given({ max_calls: maxCalls, max_tokens: maxTokens, max_cost: maxCost, max_ms });
}

/** `NAME,NAME`, each once. */
export function familiesOf({ family = '' }: { readonly family?: string | undefined }): readonly string[] {
  const names = family.split(',').map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

/** What was typed. */
export function given<T extends object>(flags: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const typed = Object.entries(flags).filter(([, value]) => value !== undefined);
  return Object.fromEntries(typed) as { [Name in keyof T]?: Exclude<T[Name], undefined> };
}
