// Owns the two variables of a semantic search (curator notes 1): how much of a text a model reads, and on which device. Pure.
import type { SearchRuntime } from './search-result.ts';

const DEFAULT_LIMIT = 512;
const LEAST_LIMIT = 200;

/** Talaria's own names win over the original's. What is no whole number counts as not set. */
export function semanticRuntime(variables: Readonly<Record<string, string | undefined>>): SearchRuntime {
  const named = (name: string) =>
    variables[`TALARIA_CURATOR_${name}`]?.trim() || variables[`HERMES_CURATOR_EVOLVER_${name}`]?.trim() || '';
  const limit = named('SEMANTIC_TEXT_LIMIT');
  return {
    device: named('SEMANTIC_DEVICE') || 'auto',
    text_limit_chars: /^[+-]?\d{1,9}$/.test(limit) ? Math.max(LEAST_LIMIT, Number(limit)) : DEFAULT_LIMIT,
  };
}
