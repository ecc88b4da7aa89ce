// Owns writing nodes into a tree: a new table for each write, but for a draft, whose one holder keeps no earlier step. Knows no move.
// Invariant: a tree that is no draft is never changed; a draft holds the same nodes as the copies would, and is plain data as they are.
import type { RlmNode, RlmTree } from './rlm-tree.ts';

type NodeTable = RlmTree['nodes'];

const drafts = new WeakSet<NodeTable>();

/** Copying a table of a thousand nodes at each of ten thousand moves is what a long run would spend its time on. */
export function draftTree(tree: RlmTree): RlmTree {
  const nodes = { ...tree.nodes };
  drafts.add(nodes);
  return { ...tree, nodes };
}

/** New ones behind, in order. */
export function withNodes(nodes: NodeTable, written: readonly RlmNode[]): NodeTable {
  const table: Record<string, RlmNode> = drafts.has(nodes) ? nodes : { ...nodes };
  for (const node of written) table[node.id] = node;
  return table;
}
