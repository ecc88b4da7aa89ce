/**
 * Owns the block in which priors enter a prompt (notes 5): marked as policy, with its three rules, absent when there is nothing.
 * Invariant: it holds listed words, numbers and the caller's own family and category; equal priors stand once; its size is bounded,
 * however long the memory file is. Serves seed 003: memory is not evidence, it is a prior over how to ask for evidence.
 */
import type { MemoryPrior } from './recall-priors.ts';

export interface PriorBlock {
  readonly scope: 'operational_policy_only';
  readonly rules: readonly string[];
  readonly priors: readonly MemoryPrior[];
}

/** Its bytes are part of prompts: changing them costs the users' cache. */
const RULES: readonly string[] = [
  'Memory priors are not evidence.',
  'Do not use memory priors as a source of facts, fact ids or chunk ids.',
  'Use memory priors only for schema shape, routing and retry policy.',
];
const MOST_PRIORS = 64;

/** `{}` when nothing was recalled, so that it can be spread into a prompt. */
export function priorBlock(priors: readonly MemoryPrior[]): { readonly memory_priors?: PriorBlock } {
  const distinct = new Map(priors.map((prior) => [keyOf(prior), prior]));
  if (distinct.size === 0) return {};
  const kept = [...distinct.values()].slice(0, MOST_PRIORS);
  return { memory_priors: { scope: 'operational_policy_only', rules: RULES, priors: kept } };
}

function keyOf(prior: MemoryPrior): string {
  return JSON.stringify([
    prior.task,
    prior.kind,
    prior.family_id,
    prior.fixture_category,
    prior.recommendation,
    prior.confidence,
  ]);
}
