import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import fc from 'fast-check';
import { AC_MOVES, canDecompose, setAcStatus } from '#extensions/rlm/tree/ac/ac-status.ts';
import { AC_STATUSES, type AcTree, acNode, addAcNode, newAcTree } from '#extensions/rlm/tree/ac/ac-tree.ts';
import { decomposeAc, decompositionContext } from '#extensions/rlm/tree/ac/decompose-ac.ts';
import { readAcTree } from '#extensions/rlm/tree/ac/read-ac-tree.ts';
import { verifies } from '../../../verifies.ts';

type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

function sound<T>(result: Result<T>): T {
  assert.ok(result.ok, result.ok ? '' : result.reason);
  return result.value;
}
const reasonOf = (result: Result<unknown>) => (result.ok ? 'ok' : result.reason);

const add = (tree: AcTree, part: Parameters<typeof acNode>[0]) => addAcNode(tree, acNode(part));
const rooted = () =>
  sound(add(newAcTree(), { id: 'root', content: 'Read the whole report', depth: 0, parent_id: null })).tree;
const children = (...contents: string[]) => contents.map((content) => ({ content }));

test('the first node of depth 0 is the root, children hang on their parent whenever it comes', () => {
  const early = sound(add(newAcTree(), { id: 'c', content: 'Child', depth: 1, parent_id: 'root' })).tree;
  const tree = sound(add(early, { id: 'root', content: 'Root', depth: 0, parent_id: null })).tree;
  assert.deepEqual([tree.root_id, tree.nodes.root?.children_ids], ['root', ['c']]);
  assert.deepEqual(
    sound(add(tree, { id: 'd', content: 'Other', depth: 1, parent_id: 'root' })).tree.nodes.root?.children_ids,
    ['c', 'd'],
  );
});

test('what does not fit is refused', () => {
  const tree = rooted();
  assert.equal(reasonOf(add(tree, { id: 'x', content: 'x', depth: 6, parent_id: 'y' })), 'max_depth_reached');
  assert.equal(reasonOf(add(tree, { id: 'x', content: 'x', depth: 0, parent_id: null })), 'ac-root-exists');
  assert.equal(reasonOf(add(tree, { id: 'root', content: 'x', depth: 1, parent_id: 'root' })), 'ac-node-exists');
  for (const [depth, parent_id] of [
    [2, 'root'],
    [0, 'root'],
    [1, null],
    [-1, null],
    [1.5, 'root'],
  ] as const) {
    assert.equal(reasonOf(add(tree, { id: 'x', content: 'x', depth, parent_id })), 'ac-depth-mismatch');
  }
});

verifies('rlm:tree:duplicates', 'siblings that are the same question are one', () => {
  const one = sound(
    add(rooted(), {
      id: 'a',
      content: 'List  the Dates',
      depth: 1,
      parent_id: 'root',
      metadata: { stable_identity: 's1', statement: 'Dates of all' },
    }),
  ).tree;
  const same = [
    { content: ' list the dates ' },
    { content: 'x', metadata: { stable_identity: 's1' } },
    { content: 'x', metadata: { statement: 'dates OF  all' } },
  ];
  for (const part of same) {
    const again = sound(add(one, { id: 'b', depth: 1, parent_id: 'root', ...part }));
    assert.deepEqual([again.added, again.id, again.tree], [false, 'a', one]);
  }
  assert.ok(
    sound(add(one, { id: 'b', content: 'x', depth: 1, parent_id: 'root', metadata: { stable_identity: 'S1' } })).added,
  );
  assert.ok(sound(add(one, { id: 'b', content: 'List the dates', depth: 2, parent_id: 'a' })).added);
});

verifies(
  'rlm:tree:decomposition',
  'two to five children, none empty, none in a circle, each resting on earlier ones',
  () => {
    const tree = rooted();
    const tried = (list: readonly object[]) =>
      reasonOf(decomposeAc(tree, { parent_id: 'root', children: list as { content: string }[] }));
    assert.equal(tried(children('a')), 'insufficient_children');
    assert.equal(tried([]), 'insufficient_children');
    assert.equal(tried(children('a', 'b', 'c', 'd', 'e', 'f')), 'too_many_children');
    assert.equal(tried(children('a', ' \n')), 'empty_child');
    assert.equal(tried(children('a', ' READ the whole  report ')), 'cyclic_decomposition');
    assert.equal(tried(children('Same', 'same ')), 'insufficient_children');
    for (const index of [1, 2, -1, 0.5])
      assert.equal(tried([{ content: 'a' }, { content: 'b', depends_on: [index] }]), 'invalid_child_ac_node_input');
    assert.equal(reasonOf(decomposeAc(tree, { parent_id: 'gone', children: children('a', 'b') })), 'processing_error');
    const done = sound(
      decomposeAc(tree, {
        parent_id: 'root',
        children: [{ content: 'a' }, { content: 'b', depends_on: [0] }],
        trace_id: 't',
      }),
    );
    const [first, second] = done.child_ids;
    assert.match(first!, /^ac_[0-9a-f]{12}$/);
    assert.deepEqual(done.tree.nodes[second!]?.metadata, { depends_on: [first] });
    assert.deepEqual(
      [
        done.tree.nodes.root?.status,
        done.tree.nodes[first!]?.depth,
        done.tree.nodes[first!]?.originating_subcall_trace_id,
      ],
      ['decomposed', 1, 't'],
    );
    assert.equal(
      reasonOf(decomposeAc(done.tree, { parent_id: 'root', children: children('c', 'd') })),
      'processing_error',
    );
  },
);

test('a question of a grandparent is a circle too, and depth ends the taking apart', () => {
  let tree = rooted();
  let parent_id = 'root';
  for (let depth = 1; depth <= 5; depth += 1) {
    assert.equal(
      reasonOf(decomposeAc(tree, { parent_id, children: children('Read the whole report', 'x') })),
      'cyclic_decomposition',
    );
    const done = sound(decomposeAc(tree, { parent_id, children: children(`left ${depth}`, `right ${depth}`) }));
    tree = done.tree;
    parent_id = done.child_ids[0]!;
  }
  assert.equal(canDecompose(tree, parent_id), false);
  assert.equal(reasonOf(decomposeAc(tree, { parent_id, children: children('y', 'z') })), 'max_depth_reached');
});

test('statuses move as listed, an atomic one is not taken apart', () => {
  for (const from of AC_STATUSES) {
    const tree = {
      ...rooted(),
      nodes: { root: acNode({ id: 'root', content: 'x', depth: 0, parent_id: null, status: from }) },
    };
    for (const to of AC_STATUSES) assert.equal(setAcStatus(tree, 'root', to).ok, AC_MOVES[from].includes(to));
  }
  const atomic = sound(setAcStatus(rooted(), 'root', 'atomic'));
  assert.deepEqual(
    [
      atomic.nodes.root?.is_atomic,
      canDecompose(atomic, 'root'),
      canDecompose(rooted(), 'root'),
      canDecompose(atomic, 'gone'),
    ],
    [true, false, true, false],
  );
  assert.equal(reasonOf(setAcStatus(atomic, 'gone', 'failed')), 'ac-node-unknown');
});

test('from depth 3 on the context is its first 500 characters', () => {
  const text = '😀'.repeat(600);
  assert.equal(decompositionContext(text, 2), text);
  assert.equal(decompositionContext(text, 3), '😀'.repeat(500));
});

verifies('rlm:tree:decomposition', 'property: whatever is proposed, a tree stays a tree and reads back equal', () => {
  const proposal = fc.record({
    at: fc.nat({ max: 30 }),
    children: fc.array(
      fc.record({
        content: fc.constantFrom('a', 'b', ' A ', 'c', 'd', '', 'Read the whole report'),
        depends_on: fc.array(fc.integer({ min: -1, max: 3 }), { maxLength: 2 }),
      }),
      { maxLength: 6 },
    ),
  });
  fc.assert(
    fc.property(fc.array(proposal, { maxLength: 12 }), (proposals) => {
      let tree = rooted();
      for (const { at, children: proposed } of proposals) {
        const ids = Object.keys(tree.nodes);
        const done = decomposeAc(tree, { parent_id: ids[at % ids.length]!, children: proposed });
        if (done.ok) tree = done.value.tree;
      }
      assert.deepEqual(readAcTree(JSON.parse(JSON.stringify(tree))), { ok: true, value: tree });
      for (const node of Object.values(tree.nodes))
        assert.ok(node.depth <= 5 && node.children_ids.length <= 5 && node.children_ids.length !== 1);
    }),
  );
});

test('a tree that does not hang together is refused', () => {
  const tree = sound(decomposeAc(rooted(), { parent_id: 'root', children: children('a', 'b') })).tree;
  const [, a] = Object.keys(tree.nodes);
  const broken = [
    null,
    { ...tree, root_id: 'gone' },
    { ...tree, max_depth: 0 },
    { ...tree, nodes: { ...tree.nodes, other: tree.nodes.root } },
    { ...tree, nodes: { ...tree.nodes, [a!]: { ...tree.nodes[a!], depth: 3 } } },
    { ...tree, nodes: { root: tree.nodes.root } },
  ];
  for (const value of broken) assert.equal(reasonOf(readAcTree(value)), 'ac-tree-invalid');
});

test('the tree of the committed minimal run is read unchanged', {
  skip: process.env.TALARIA_DATA === undefined ? 'skipped: set TALARIA_DATA' : false,
}, () => {
  const run = JSON.parse(
    readFileSync(join(process.env.TALARIA_DATA ?? '', 'data/rlm/minimal_recursive_run.json'), 'utf8'),
  );
  assert.deepEqual(readAcTree(run.ac_tree), { ok: true, value: run.ac_tree });
});
