// Owns what a reply is measured against: who was asked, for what, and which evidence was supplied (notes 15). Derived from the input alone.
import type { CallMode } from './call-mode.ts';
import type { HermesInput } from './input-schema.ts';

export interface Asked {
  readonly mode: CallMode;
  readonly rlm_node_id: string;
  readonly ac_node_id: string;
  /** Chunks, summaries and the chunks of child results: what evidence may name. */
  readonly evidence_ids: readonly string[];
  readonly child_result_ids: readonly string[];
}

export function askedOf(input: HermesInput): Asked {
  const { chunks, summaries, child_results } = input.context;
  const ofChildren = child_results.flatMap((child) => child.chunk_id ?? []);
  const evidence = [
    ...chunks.map((chunk) => chunk.chunk_id),
    ...summaries.map((summary) => summary.summary_id),
    ...ofChildren,
  ];
  return {
    mode: input.mode,
    rlm_node_id: input.rlm_node.id,
    ac_node_id: input.ac_node.id,
    evidence_ids: [...new Set(evidence)],
    child_result_ids: child_results.map((child) => childResultId(input.rlm_node.id, child.order)),
  };
}

/** `<parent node>:child_result:NNN` (notes 13.1). */
export function childResultId(parentNodeId: string, order: number): string {
  return `${parentNodeId}:child_result:${String(order).padStart(3, '0')}`;
}
