// Owns whether every node that was scheduled came to an end that the outcome's tree tells too (notes 13.3, 16). Pure.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { RunEvent } from '../run-event.ts';
import type { RunRecord } from '../run-record.ts';
import { type Problem, problem } from './problem.ts';

export function checkNodes({ row, events }: Pick<RunRecord, 'row' | 'events'>): readonly Problem[] {
  if (row.ended_at === null) return [];
  const scheduled = new Set(nodesOf(events, 'rlm.node.scheduled'));
  const ends = nodesOf(events, 'rlm.node.terminal');
  const ended = new Set(ends);
  const twice = new Set(ends.filter((node, at) => ends.indexOf(node) !== at));
  return [
    ...[...scheduled]
      .filter((node) => !ended.has(node))
      .map((node) => problem('node-not-terminal', `node ${node}`, 'It was scheduled and never ended.')),
    ...[...twice].map((node) => problem('node-terminal-twice', `node ${node}`, 'It ended more than once.')),
    ...checkTree(row.outcome, ended),
  ];
}

function nodesOf(events: readonly RunEvent[], type: RunEvent['type']): readonly string[] {
  return events.flatMap((event) => (event.type === type && event.node_id !== null ? [event.node_id] : []));
}

function checkTree(outcome: JsonObject | null, ended: ReadonlySet<string>): readonly Problem[] {
  const tree = outcome?.tree;
  if (!isJsonObject(tree) || !isJsonObject(tree.nodes)) return [];
  const nodes = tree.nodes;
  return [...ended]
    .filter((node) => !Object.hasOwn(nodes, node))
    .map((node) => problem('node-unknown', `node ${node}`, 'It ended, and the tree of the outcome has no such node.'));
}
