import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { addChildren } from '#extensions/rlm/tree/add-children.ts';
import { cancelRun, endRun } from '#extensions/rlm/tree/end-run.ts';
import { moveNode } from '#extensions/rlm/tree/move-node.ts';
import { isConverged, moveRun } from '#extensions/rlm/tree/move-run.ts';
import { isTerminal, NODE_MOVES, NODE_STATES, type NodeState } from '#extensions/rlm/tree/node-state.ts';
import { newRlmTree, type RlmTree } from '#extensions/rlm/tree/rlm-tree.ts';
import { hasEnded, RUN_MOVES, RUN_STATES } from '#extensions/rlm/tree/run-state.ts';
import { takeNext } from '#extensions/rlm/tree/take-next.ts';
import { treeFaults } from '#extensions/rlm/tree/tree-faults.ts';
import { runs } from '../../../property-runs.ts';
import { verifies } from '../../../verifies.ts';
import { anyCommands, anyTreeLimits, attempt, because, freshTree, walk } from './tree-walk.ts';

type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

function sound<T>(result: Result<T>): T {
  assert.ok(result.ok, result.ok ? '' : result.reason);
  return result.value;
}

const reasonOf = (result: Result<unknown>) => (result.ok ? 'ok' : result.reason);

function runTo(tree: RlmTree, ...states: Parameters<typeof moveRun>[1][]): RlmTree {
  return states.reduce((at, to) => sound(moveRun(at, to, because)).tree, tree);
}

function nodeTo(tree: RlmTree, node_id: string, ...states: NodeState[]): RlmTree {
  return states.reduce((at, to) => sound(moveNode(at, { node_id, to }, because)).tree, tree);
}

const take = (tree: RlmTree) => sound(takeNext(tree, because));
const CALL: readonly NodeState[] = [
  'context_bound',
  'awaiting_hermes',
  'validating_response',
  'committing',
  'atomic_complete',
];

function withChildren(limits: object = {}): RlmTree {
  const started = nodeTo(
    take(runTo(freshTree(limits), 'guarding', 'scheduling')).tree,
    'rlm_node_root',
    'context_bound',
  );
  const children = ['n1', 'n2'].map((id) => ({ id, ac_node_id: `ac_${id}` }));
  return runTo(sound(addChildren(started, { parent_id: 'rlm_node_root', children })), 'scheduling');
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
  let tree = withChildren();
  for (const id of ['n1', 'n2']) {
    const taken = take(tree);
    assert.equal(taken.node_id, id);
    assert.equal(reasonOf(takeNext(taken.tree, because)), id === 'n1' ? 'in-flight-limit' : 'queue-empty');
    assert.equal(reasonOf(moveRun(taken.tree, 'scheduling', because)), 'nodes-in-flight');
    assert.equal(
      reasonOf(moveNode(taken.tree, { node_id: 'rlm_node_root', to: 'awaiting_hermes' }, because)),
      'children-alive',
    );
    tree = runTo(nodeTo(taken.tree, id, ...CALL), 'scheduling');
  }
  assert.equal(reasonOf(endRun(tree, 'parent_synthesis_completed', because)), 'not-converged');
  tree = nodeTo(
    runTo(tree, 'synthesizing'),
    'rlm_node_root',
    'awaiting_hermes',
    'validating_response',
    'committing',
    'synthesis_complete',
  );
  assert.ok(isConverged(tree));
  const ended = sound(endRun(tree, 'parent_synthesis_completed', { ...because, causal_parent_event_id: 'e1' }));
  assert.deepEqual(
    [ended.tree.run_state, ended.tree.termination_reason, ended.tree.iteration],
    ['completed', 'parent_synthesis_completed', 3],
  );
  assert.deepEqual(ended.transitions, [
    {
      iteration: 3,
      subject: 'run',
      subject_id: 'run',
      from_state: 'synthesizing',
      to_state: 'completed',
      decision: 'test',
      reason: 'test',
      causal_parent_event_id: 'e1',
    },
  ]);
});

verifies('rlm:run:max-depth', 'no node is deeper than the limit, which is five at most', () => {
  assert.equal(freshTree().limits.max_depth, 5);
  for (const max_depth of [-1, 6, 1.5])
    assert.equal(reasonOf(newRlmTree({ run_id: 'r', limits: { max_depth } })), 'tree-limit-invalid');
  const flat = nodeTo(
    take(runTo(freshTree({ max_depth: 0 }), 'guarding', 'scheduling')).tree,
    'rlm_node_root',
    'context_bound',
  );
  assert.equal(
    reasonOf(addChildren(flat, { parent_id: 'rlm_node_root', children: [{ id: 'x', ac_node_id: 'x' }] })),
    'max_depth_reached',
  );
  let tree = freshTree();
  for (let depth = 0; depth < 6; depth += 1) {
    tree = tree.run_state === 'initialized' ? runTo(tree, 'guarding', 'scheduling') : runTo(tree, 'scheduling');
    const taken = take(tree);
    tree = nodeTo(taken.tree, taken.node_id!, 'context_bound');
    const grown = addChildren(tree, {
      parent_id: taken.node_id!,
      children: [{ id: `d${depth + 1}`, ac_node_id: 'a' }],
    });
    assert.equal(reasonOf(grown), depth < 5 ? 'ok' : 'max_depth_reached');
    if (grown.ok) tree = grown.value;
  }
});

test('when the iterations are used up the run has failed and nothing is alive', () => {
  const tree = withChildren({ max_iterations: 1 });
  const taken = take(tree);
  assert.deepEqual(
    [taken.node_id, taken.tree.run_state, taken.tree.termination_reason],
    [null, 'failed', 'max_iterations_reached'],
  );
  assert.ok(Object.values(taken.tree.nodes).every((node) => isTerminal(node.state)));
  assert.deepEqual(treeFaults(taken.tree), []);
});

test('a blocked node goes to the end of the queue, a limited number of times', () => {
  const blocked = nodeTo(
    take(withChildren()).tree,
    'n1',
    'context_bound',
    'awaiting_hermes',
    'blocked_retry',
    'queued',
  );
  assert.deepEqual(blocked.work_queue, ['n2', 'n1']);
  const second = nodeTo(take(runTo(blocked, 'scheduling')).tree, 'n2', ...CALL);
  const again = nodeTo(
    take(runTo(second, 'scheduling')).tree,
    'n1',
    'context_bound',
    'awaiting_hermes',
    'blocked_retry',
  );
  assert.equal(reasonOf(moveNode(again, { node_id: 'n1', to: 'queued' }, because)), 'retries-exhausted');
  assert.equal(nodeTo(again, 'n1', 'failed').nodes.n1?.state, 'failed');
});

test('several nodes work at once when they may', () => {
  const first = take(withChildren({ max_in_flight: 2 }));
  const second = take(first.tree);
  assert.deepEqual([first.node_id, second.node_id], ['n1', 'n2']);
});

test('a dry run ends before anything is taken, its queue as it was', () => {
  const ready = runTo(freshTree(), 'guarding', 'scheduling');
  const ended = sound(endRun(ready, 'dry_run_ready', because)).tree;
  assert.deepEqual([ended.run_state, ended.work_queue, treeFaults(ended)], ['completed', ['rlm_node_root'], []]);
  assert.equal(reasonOf(endRun(take(ready).tree, 'dry_run_ready', because)), 'move-not-allowed');
  assert.equal(reasonOf(endRun(freshTree(), 'work_queue_exhausted', because)), 'move-not-allowed');
});

test('who fails takes the live descendants along', () => {
  const failed = sound(moveNode(withChildren(), { node_id: 'rlm_node_root', to: 'cancelled' }, because));
  assert.deepEqual(
    Object.values(failed.tree.nodes).map((node) => node.state),
    ['cancelled', 'cancelled', 'cancelled'],
  );
  assert.deepEqual([failed.tree.work_queue, failed.transitions.length], [[], 3]);
});

verifies('rlm:tree:moves', 'property: no illegal state is reachable, every move is a listed one and recorded', () => {
  const [runs, nodes] = [new Set<string>(), new Set<string>()];
  fc.assert(
    fc.property(anyTreeLimits, anyCommands, (limits, commands) => {
      const start = runTo(freshTree(limits), 'guarding', 'scheduling');
      for (const tree of [...walk(freshTree(limits), commands), ...walk(start, commands)]) {
        runs.add(tree.run_state);
        for (const node of Object.values(tree.nodes)) nodes.add(node.state);
      }
    }),
    { numRuns: 400 },
  );
  assert.deepEqual([...runs].sort(), [...RUN_STATES].sort(), 'every state of a run was visited');
  assert.deepEqual([...nodes].sort(), [...NODE_STATES].sort(), 'every state of a node was visited');
});

verifies(
  'rlm:tree:cancel',
  'property: from any state a run is cancelled at once, nothing alive is left, and an end stays what it was',
  () => {
    const from = new Set<string>();
    fc.assert(
      fc.property(anyTreeLimits, anyCommands, (limits, commands) => {
        for (const tree of walk(runTo(freshTree(limits), 'guarding', 'scheduling'), commands)) {
          from.add(tree.run_state);
          const { tree: ended } = cancelRun(tree, because);
          if (hasEnded(tree.run_state)) assert.equal(ended, tree);
          else
            assert.deepEqual(
              [ended.run_state, ended.termination_reason, ended.work_queue],
              ['cancelled', 'cancelled', []],
            );
          assert.deepEqual(treeFaults(ended), []);
          assert.equal(cancelRun(ended, because).tree, ended);
          for (const command of commands)
            if (command.do !== 'cancel' && hasEnded(ended.run_state)) assert.equal(attempt(ended, command), null);
        }
      }),
      { numRuns: runs(100) },
    );
    assert.ok(from.size >= 5);
  },
);

verifies('rlm:tree:fifo', 'property: fresh nodes are taken in the order in which they were queued', () => {
  fc.assert(
    fc.property(anyTreeLimits, anyCommands, (limits, commands) => {
      let tree = runTo(freshTree(limits), 'guarding', 'scheduling');
      for (const command of commands) {
        const next = attempt(tree, command);
        if (command.do === 'take' && next !== null && !hasEnded(next.tree.run_state)) {
          assert.equal(next.tree.nodes[tree.work_queue[0]!]?.state, 'preparing');
          assert.deepEqual(next.tree.work_queue, tree.work_queue.slice(1));
        }
        tree = next?.tree ?? tree;
      }
    }),
  );
});

test('a tree that was damaged is found out', () => {
  const tree = withChildren();
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
