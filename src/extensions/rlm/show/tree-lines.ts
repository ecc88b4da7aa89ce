// Owns the tree of a run as indented lines: each node with its state, what it was over, and how often it was asked again. Pure.
// Invariant: every node of the tree has a line, also one whose parent is not there.
import type { CallRecord } from '../call/call-record.ts';
import type { RlmNode, RlmTree } from '../tree/rlm-tree.ts';
import { oneLine } from './lines.ts';

export function treeLines({ root_id, nodes }: RlmTree, calls: readonly CallRecord[]): readonly string[] {
  const chunks = new Map(calls.map((call) => [call.rlm_node_id, call.selected_chunk_ids]));
  const lines: string[] = [];
  const shown = new Set<string>();
  const show = (first: string): void => {
    const open: (readonly [id: string, depth: number])[] = [[first, 0]];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [id, depth] = next;
      const node = Object.hasOwn(nodes, id) ? nodes[id] : undefined;
      if (node === undefined || shown.has(id)) continue;
      shown.add(id);
      lines.push(`${'  '.repeat(depth)}${nodeLine(node, chunks.get(id) ?? [])}`);
      open.push(...node.children_ids.toReversed().map((child) => [child, depth + 1] as const));
    }
  };
  show(root_id);
  for (const id of Object.keys(nodes)) show(id);
  return lines;
}

function nodeLine({ id, state, retries }: RlmNode, chunks: readonly string[]): string {
  const again = retries === 0 ? '' : `, asked again ${retries === 1 ? 'once' : `${retries} times`}`;
  const over = chunks.length === 0 ? '' : `  ${oneLine(chunks.join(', '), 80)}`;
  return `${id.replace(/^rlm_node_/, '')}  ${state}${again}${over}`;
}
