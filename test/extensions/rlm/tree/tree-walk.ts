/** Random walks over a run: each command is tried, refused or made, and the tree is looked at after each. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  END_OF,
  NODE_MOVES,
  type NodeState,
  type RlmTree,
  RUN_MOVES,
  type RunState,
  RunTree,
  type TerminationReason,
  type Transition,
  type TreeLimits,
} from '#extensions/rlm/scaffold/run-tree.ts';
import { treeFaults } from './tree-faults.ts';

export const because = { decision: 'test', reason: 'test' };

export type Command =
  | { readonly do: 'run'; readonly to: RunState }
  | { readonly do: 'node'; readonly pick: number; readonly to: NodeState }
  | { readonly do: 'ahead'; readonly pick: number; readonly which: number }
  | { readonly do: 'take' }
  | { readonly do: 'grow'; readonly pick: number; readonly count: number }
  | { readonly do: 'end'; readonly reason: TerminationReason }
  | { readonly do: 'cancel' };

const keysOf = <Key extends string>(table: Readonly<Record<Key, unknown>>) => Object.keys(table) as Key[];
const pick = fc.nat({ max: 20 });
export const anyCommands = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('run' as const), to: fc.constantFrom(...keysOf(RUN_MOVES)) }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('node' as const), pick, to: fc.constantFrom(...keysOf(NODE_MOVES)) }),
    },
    { weight: 40, arbitrary: fc.record({ do: fc.constant('ahead' as const), pick, which: fc.nat({ max: 3 }) }) },
    { weight: 8, arbitrary: fc.constant({ do: 'take' as const }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('grow' as const), pick, count: fc.nat({ max: 3 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('end' as const), reason: fc.constantFrom(...keysOf(END_OF)) }),
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

export function freshTree(limits: Partial<TreeLimits> = {}): RunTree {
  return new RunTree('run', limits);
}

/** Why it was refused; `ok`: it was made. */
export function reasonOf(move: () => unknown): string {
  try {
    move();
    return 'ok';
  } catch (error) {
    return /refused a move: ([a-z_-]+):/.exec(String(error))?.[1] ?? String(error);
  }
}

/** False: refused, and the tree is as it was. */
export function attempt(tree: RunTree, command: Command): boolean {
  const before = JSON.stringify(tree.now);
  const done = reasonOf(() => make(tree, command)) === 'ok';
  if (!done) assert.equal(JSON.stringify(tree.now), before, JSON.stringify(command));
  return done;
}

function make(tree: RunTree, command: Command): unknown {
  const ids = Object.keys(tree.now.nodes);
  const node = 'pick' in command ? tree.node(ids[command.pick % ids.length]!) : undefined;
  switch (command.do) {
    case 'run':
      return tree.moveRun(command.to, because);
    case 'node':
      return tree.move(node!.id, command.to, because);
    case 'ahead': {
      const moves = NODE_MOVES[node!.state];
      return tree.move(node!.id, moves[command.which % Math.max(1, moves.length - 1)] ?? 'queued', because);
    }
    case 'take':
      return tree.takeNext(because);
    case 'grow': {
      const named = (_: unknown, at: number) => ({ id: `n${ids.length + at}`, ac_node_id: `a${ids.length + at}` });
      return tree.addChildren(node!.id, Array.from({ length: command.count }, named));
    }
    case 'end':
      return tree.end(command.reason, because);
    case 'cancel':
      return tree.end('cancelled', because);
  }
}

/** Each tree that is passed is checked, and shown to `look`. */
export function walk(tree: RunTree, commands: readonly Command[], look: (tree: RlmTree) => void = () => {}): void {
  tree.drain();
  look(tree.now);
  for (const command of commands) {
    const before = structuredClone(tree.now);
    if (!attempt(tree, command)) continue;
    assert.deepEqual(treeFaults(tree.now), [], JSON.stringify(command));
    const transitions = tree.drain();
    for (const move of transitions) assertAllowed(move);
    assertRecorded(before, tree.now, transitions);
    look(tree.now);
  }
}

function assertAllowed({ subject, from_state, to_state }: Transition): void {
  const moves: readonly string[] =
    subject === 'run' ? RUN_MOVES[from_state as RunState] : NODE_MOVES[from_state as NodeState];
  assert.ok(moves.includes(to_state), `${subject} ${from_state} -> ${to_state}`);
}

/** The records, replayed on the old states, give the new ones: nothing moves without a record. */
function assertRecorded(before: RlmTree, tree: RlmTree, transitions: readonly Transition[]): void {
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
