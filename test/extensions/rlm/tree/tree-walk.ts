/** Random walks over a run: each command is tried, refused or made, and the tree is looked at after each. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { addChildren } from '#extensions/rlm/tree/add-children.ts';
import { cancelRun, endRun } from '#extensions/rlm/tree/end-run.ts';
import { moveNode } from '#extensions/rlm/tree/move-node.ts';
import { moveRun } from '#extensions/rlm/tree/move-run.ts';
import { NODE_MOVES, NODE_STATES, type NodeState } from '#extensions/rlm/tree/node-state.ts';
import { newRlmTree, type RlmTree, type TreeLimits } from '#extensions/rlm/tree/rlm-tree.ts';
import {
  RUN_MOVES,
  RUN_STATES,
  type RunState,
  TERMINATION_REASONS,
  type TerminationReason,
} from '#extensions/rlm/tree/run-state.ts';
import { takeNext } from '#extensions/rlm/tree/take-next.ts';
import type { Transition } from '#extensions/rlm/tree/transition.ts';
import { treeFaults } from '#extensions/rlm/tree/tree-faults.ts';

export const because = { decision: 'test', reason: 'test' };

export type Command =
  | { readonly do: 'run'; readonly to: RunState }
  | { readonly do: 'node'; readonly pick: number; readonly to: NodeState }
  | { readonly do: 'ahead'; readonly pick: number; readonly which: number }
  | { readonly do: 'take' }
  | { readonly do: 'grow'; readonly pick: number; readonly count: number }
  | { readonly do: 'end'; readonly reason: TerminationReason }
  | { readonly do: 'cancel' };

const pick = fc.nat({ max: 20 });
export const anyCommands = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('run' as const), to: fc.constantFrom(...RUN_STATES) }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('node' as const), pick, to: fc.constantFrom(...NODE_STATES) }),
    },
    { weight: 40, arbitrary: fc.record({ do: fc.constant('ahead' as const), pick, which: fc.nat({ max: 3 }) }) },
    { weight: 8, arbitrary: fc.constant({ do: 'take' as const }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('grow' as const), pick, count: fc.nat({ max: 3 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('end' as const), reason: fc.constantFrom(...TERMINATION_REASONS) }),
    },
    { weight: 1, arbitrary: fc.constant({ do: 'cancel' as const }) },
  ),
  { minLength: 50, maxLength: 120 },
);

export const anyTreeLimits = fc.record({
  max_depth: fc.nat({ max: 5 }),
  max_iterations: fc.integer({ min: 1, max: 20 }),
  max_in_flight: fc.integer({ min: 1, max: 3 }),
  max_retries: fc.nat({ max: 2 }),
});

export function freshTree(limits: Partial<TreeLimits> = {}): RlmTree {
  const tree = newRlmTree({ run_id: 'run', limits });
  assert.ok(tree.ok);
  return tree.value;
}

interface Made {
  readonly tree: RlmTree;
  readonly transitions: readonly Transition[];
}

/** null: refused. */
export function attempt(tree: RlmTree, command: Command): Made | null {
  const ids = Object.keys(tree.nodes);
  const node = 'pick' in command ? tree.nodes[ids[command.pick % ids.length]!]! : undefined;
  switch (command.do) {
    case 'run':
      return made(moveRun(tree, command.to, because));
    case 'node':
      return made(moveNode(tree, { node_id: node!.id, to: command.to }, because));
    case 'ahead': {
      const moves = NODE_MOVES[node!.state];
      const to = moves[command.which % Math.max(1, moves.length - 1)] ?? 'queued';
      return made(moveNode(tree, { node_id: node!.id, to }, because));
    }
    case 'take':
      return made(takeNext(tree, because));
    case 'grow': {
      const children = Array.from({ length: command.count }, (_, at) => ({
        id: `n${ids.length + at}`,
        ac_node_id: `a${ids.length + at}`,
      }));
      const grown = addChildren(tree, { parent_id: node!.id, children });
      return grown.ok ? { tree: grown.value, transitions: [] } : null;
    }
    case 'end':
      return made(endRun(tree, command.reason, because));
    case 'cancel':
      return cancelRun(tree, because);
  }
}

function made(result: { readonly ok: true; readonly value: Made } | { readonly ok: false }): Made | null {
  return result.ok ? result.value : null;
}

/** The trees that a walk passes, each checked. */
export function walk(start: RlmTree, commands: readonly Command[]): readonly RlmTree[] {
  const trees = [deepFreeze(start)];
  let tree = start;
  for (const command of commands) {
    const next = attempt(tree, command);
    if (next === null) continue;
    assert.deepEqual(treeFaults(next.tree), [], JSON.stringify(command));
    for (const move of next.transitions) assertAllowed(move);
    assertRecorded(tree, next);
    tree = deepFreeze(next.tree);
    trees.push(tree);
  }
  return trees;
}

function assertAllowed({ subject, from_state, to_state }: Transition): void {
  const moves: readonly string[] =
    subject === 'run' ? RUN_MOVES[from_state as RunState] : NODE_MOVES[from_state as NodeState];
  assert.ok(moves.includes(to_state), `${subject} ${from_state} -> ${to_state}`);
}

/** The records, replayed on the old states, give the new ones: nothing moves without a record. */
function assertRecorded(before: RlmTree, { tree, transitions }: Made): void {
  const states = new Map<string, string>(Object.values(before.nodes).map((node) => [`node ${node.id}`, node.state]));
  states.set('run run', before.run_state);
  for (const move of transitions) {
    const key = `${move.subject} ${move.subject_id}`;
    assert.equal(states.get(key), move.from_state);
    states.set(key, move.to_state);
  }
  assert.equal(states.get('run run'), tree.run_state);
  for (const node of Object.values(tree.nodes)) assert.equal(states.get(`node ${node.id}`) ?? 'queued', node.state);
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}
