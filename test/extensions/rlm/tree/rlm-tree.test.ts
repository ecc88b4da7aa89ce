import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  hasEnded,
  isTerminal,
  NODE_MOVES,
  type NodeState,
  type RlmTree,
  RUN_MOVES,
  type RunState,
  type RunTree,
} from '#extensions/rlm/scaffold/run-tree.ts';
import { runs } from '../../../property-runs.ts';
import { verifies } from '../../../verifies.ts';
import { treeFaults } from './tree-faults.ts';
import { anyCommands, anyTreeLimits, attempt, because, freshTree, reasonOf, walk } from './tree-walk.ts';

const ROOT = 'rlm_node_root';

function runTo(tree: RunTree, ...states: RunState[]): RunTree {
  for (const to of states) tree.moveRun(to, because);
  return tree;
}

function nodeTo(tree: RunTree, id: string, ...states: readonly NodeState[]): RunTree {
  for (const to of states) tree.move(id, to, because);
  return tree;
}

function take(tree: RunTree): RunTree {
  tree.takeNext(because);
  return tree;
}

const scheduled = (limits: object = {}) => runTo(freshTree(limits), 'guarding', 'scheduling');
const states = (tree: RunTree) => Object.values(tree.now.nodes).map(({ state }) => state);

const CALL: readonly NodeState[] = [
  'context_bound',
  'awaiting_hermes',
  'validating_response',
  'committing',
  'atomic_complete',
];

function withChildren(limits: object = {}): RunTree {
  const tree = nodeTo(take(scheduled(limits)), ROOT, 'context_bound');
  const children = ['n1', 'n2'].map((id) => ({ id, ac_node_id: `ac_${id}` }));
  tree.addChildren(ROOT, children);
  return runTo(tree, 'scheduling');
}

verifies('rlm:tree:moves', 'the moves of runs and nodes are those of the notes, and no other', () => {
  const arrows = (moves: Readonly<Record<string, readonly string[]>>) =>
    Object.entries(moves).map(([from, to]) => `${from}>${to.join('|')}`);
  assert.deepEqual(arrows(RUN_MOVES), [
    'initialized>guarding|cancelled',
    'guarding>scheduling|failed|cancelled',
    'scheduling>running_node|synthesizing|completed|cancelled',
    'running_node>scheduling|synthesizing|failed|cancelled',
    'synthesizing>scheduling|completed|failed|cancelled',
    'completed>',
    'failed>',
    'cancelled>',
  ]);
  assert.deepEqual(arrows(NODE_MOVES), [
    'queued>preparing|cancelled',
    'preparing>context_bound|failed|cancelled',
    'context_bound>awaiting_hermes|cancelled',
    'awaiting_hermes>validating_response|blocked_retry|failed|cancelled',
    'validating_response>committing|blocked_retry|failed|cancelled',
    'blocked_retry>queued|failed|cancelled',
    'committing>decomposed|atomic_complete|summary_complete|synthesis_complete|failed|cancelled',
    'decomposed>',
    'atomic_complete>',
    'summary_complete>',
    'synthesis_complete>',
    'failed>',
    'cancelled>',
  ]);
});

verifies(['rlm:tree:moves', 'rlm:tree:fifo'], 'a whole run: root, two children in order, synthesis', () => {
  const tree = withChildren();
  for (const id of ['n1', 'n2']) {
    assert.equal(tree.takeNext(because), id);
    assert.equal(
      reasonOf(() => take(tree)),
      id === 'n1' ? 'in-flight-limit' : 'queue-empty',
    );
    assert.equal(
      reasonOf(() => runTo(tree, 'scheduling')),
      'nodes-in-flight',
    );
    assert.equal(
      reasonOf(() => nodeTo(tree, ROOT, 'awaiting_hermes')),
      'children-alive',
    );
    runTo(nodeTo(tree, id, ...CALL), 'scheduling');
  }
  const end = () => tree.end('parent_synthesis_completed', { ...because, causal_parent_event_id: 'e1' });
  assert.equal(reasonOf(end), 'not-converged');
  nodeTo(runTo(tree, 'synthesizing'), ROOT, 'awaiting_hermes', 'validating_response', 'committing');
  nodeTo(tree, ROOT, 'synthesis_complete');
  tree.drain();
  end();
  const { run_state, termination_reason, iteration } = tree.now;
  assert.deepEqual([run_state, termination_reason, iteration], ['completed', 'parent_synthesis_completed', 3]);
  const move = { subject: 'run', subject_id: 'run', from_state: 'synthesizing', to_state: 'completed' };
  assert.deepEqual(tree.drain(), [{ iteration: 3, ...move, ...because, causal_parent_event_id: 'e1' }]);
});

verifies('rlm:run:max-depth', 'no node is deeper than the limit, which is five at most', () => {
  assert.equal(freshTree().now.limits.max_depth, 5);
  assert.equal(
    reasonOf(() => freshTree({ max_depth: 6 })),
    'tree-limit-invalid',
  );
  const flat = nodeTo(take(scheduled({ max_depth: 0 })), ROOT, 'context_bound');
  assert.equal(
    reasonOf(() => flat.addChildren(ROOT, [{ id: 'x', ac_node_id: 'x' }])),
    'max_depth_reached',
  );
  const tree = runTo(freshTree(), 'guarding');
  for (let depth = 0; depth < 6; depth += 1) {
    const id = `${runTo(tree, 'scheduling').takeNext(because)}`;
    nodeTo(tree, id, 'context_bound');
    const grow = () => tree.addChildren(id, [{ id: `d${depth + 1}`, ac_node_id: 'a' }]);
    assert.equal(reasonOf(grow), depth < 5 ? 'ok' : 'max_depth_reached');
  }
});

test('when the iterations are used up the run has failed and nothing is alive', () => {
  const tree = withChildren({ max_iterations: 1 });
  assert.equal(tree.takeNext(because), null);
  assert.deepEqual([tree.now.run_state, tree.now.termination_reason], ['failed', 'max_iterations_reached']);
  assert.ok(states(tree).every(isTerminal));
  assert.deepEqual(treeFaults(tree.now), []);
});

test('a blocked node goes to the end of the queue, a limited number of times', () => {
  const tree = nodeTo(take(withChildren()), 'n1', 'context_bound', 'awaiting_hermes', 'blocked_retry', 'queued');
  assert.deepEqual(tree.now.work_queue, ['n2', 'n1']);
  nodeTo(take(runTo(tree, 'scheduling')), 'n2', ...CALL);
  nodeTo(take(runTo(tree, 'scheduling')), 'n1', 'context_bound', 'awaiting_hermes', 'blocked_retry');
  assert.equal(
    reasonOf(() => nodeTo(tree, 'n1', 'queued')),
    'retries-exhausted',
  );
  assert.equal(nodeTo(tree, 'n1', 'failed').node('n1').state, 'failed');
});

test('several nodes work at once when they may', () => {
  const tree = withChildren({ max_in_flight: 2 });
  assert.deepEqual([tree.takeNext(because), tree.takeNext(because)], ['n1', 'n2']);
});

test('a dry run ends before anything is taken, its queue as it was', () => {
  const dry = (tree: RunTree) => tree.end('dry_run_ready', because);
  const ended = scheduled();
  dry(ended);
  assert.deepEqual([ended.now.run_state, ended.now.work_queue, treeFaults(ended.now)], ['completed', [ROOT], []]);
  assert.equal(
    reasonOf(() => dry(take(scheduled()))),
    'move-not-allowed',
  );
  assert.equal(
    reasonOf(() => freshTree().end('work_queue_exhausted', because)),
    'move-not-allowed',
  );
});

test('who fails takes the live descendants along', () => {
  const tree = withChildren();
  tree.drain();
  nodeTo(tree, ROOT, 'cancelled');
  assert.deepEqual(states(tree), ['cancelled', 'cancelled', 'cancelled']);
  assert.deepEqual([tree.now.work_queue, tree.drain().length], [[], 3]);
});

verifies('rlm:tree:moves', 'property: no illegal state is reachable, every move is a listed one and recorded', () => {
  const [runs, nodes] = [new Set<string>(), new Set<string>()];
  const look = (tree: RlmTree) => {
    runs.add(tree.run_state);
    for (const node of Object.values(tree.nodes)) nodes.add(node.state);
  };
  fc.assert(
    fc.property(anyTreeLimits, anyCommands, (limits, commands) => {
      walk(freshTree(limits), commands, look);
      walk(scheduled(limits), commands, look);
    }),
    { numRuns: 400 },
  );
  assert.deepEqual([...runs].sort(), [...Object.keys(RUN_MOVES)].sort(), 'every state of a run was visited');
  assert.deepEqual([...nodes].sort(), [...Object.keys(NODE_MOVES)].sort(), 'every state of a node was visited');
});

verifies(
  'rlm:tree:cancel',
  'property: from any state a run is cancelled at once, nothing alive is left, and an end stays what it was',
  () => {
    const from = new Set<string>();
    fc.assert(
      fc.property(anyTreeLimits, anyCommands, fc.nat({ max: 120 }), (limits, commands, at) => {
        const tree = scheduled(limits);
        walk(tree, commands.slice(0, at));
        from.add(tree.now.run_state);
        const had = hasEnded(tree.now.run_state);
        assert.equal(attempt(tree, { do: 'cancel' }), !had);
        const { run_state, termination_reason, work_queue } = tree.now;
        if (!had) assert.deepEqual([run_state, termination_reason, work_queue], ['cancelled', 'cancelled', []]);
        assert.deepEqual(treeFaults(tree.now), []);
        for (const command of commands) assert.equal(attempt(tree, command), false);
      }),
      { numRuns: runs(500) },
    );
    assert.ok(from.size >= 5);
  },
);

verifies('rlm:tree:fifo', 'property: fresh nodes are taken in the order in which they were queued', () => {
  fc.assert(
    fc.property(anyTreeLimits, anyCommands, (limits, commands) => {
      const tree = scheduled(limits);
      for (const command of commands) {
        const [first, ...rest] = tree.now.work_queue;
        if (!attempt(tree, command) || command.do !== 'take' || hasEnded(tree.now.run_state)) continue;
        assert.equal(tree.node(first!).state, 'preparing');
        assert.deepEqual(tree.now.work_queue, rest);
      }
    }),
  );
});

test('a tree that was damaged is found out', () => {
  const tree = withChildren().now;
  const damaged: readonly Partial<RlmTree>[] = [
    { work_queue: [] },
    { work_queue: ['n1', 'n2', 'n2'] },
    { run_state: 'completed' },
    { termination_reason: 'cancelled' },
    { root_id: 'gone' },
    { iteration: 99 },
    { nodes: { ...tree.nodes, n1: { ...tree.nodes.n1!, depth: 2 } } },
    { nodes: { ...tree.nodes, n1: { ...tree.nodes.n1!, parent_id: 'gone' } } },
    { nodes: { ...tree.nodes, n1: { ...tree.nodes.n1!, retries: 9 } } },
  ];
  for (const part of damaged) assert.notDeepEqual(treeFaults({ ...tree, ...part }), [], JSON.stringify(part));
});
