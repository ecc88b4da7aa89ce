import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { draftTree, withNodes } from '#extensions/rlm/tree/node-table.ts';
import type { RlmTree } from '#extensions/rlm/tree/rlm-tree.ts';
import { treeFaults } from '#extensions/rlm/tree/tree-faults.ts';
import { anyCommands, anyTreeLimits, attempt, freshTree } from './tree-walk.ts';

test('property: a draft goes the way of the copies, refusals included, and changes no other tree', () => {
  fc.assert(
    fc.property(anyTreeLimits, anyCommands, (limits, commands) => {
      const start = freshTree(limits);
      const before = structuredClone(start);
      let copies: RlmTree = start;
      let draft = draftTree(start);
      for (const command of commands) {
        const [copied, drafted] = [attempt(copies, command), attempt(draft, command)];
        assert.equal(drafted === null, copied === null);
        assert.deepEqual(drafted?.transitions, copied?.transitions);
        copies = copied?.tree ?? copies;
        draft = drafted?.tree ?? draft;
        assert.equal(JSON.stringify(draft), JSON.stringify(copies));
      }
      assert.deepEqual(treeFaults(draft), []);
      assert.deepEqual(start, before);
    }),
    { numRuns: 200 },
  );
});

test('a tree that is no draft is copied', () => {
  const tree = freshTree();
  const [root] = Object.values(tree.nodes);
  assert.ok(root !== undefined);
  const written = withNodes(tree.nodes, [{ ...root, state: 'preparing' }]);
  assert.notEqual(written, tree.nodes);
  assert.equal(tree.nodes[root.id]?.state, 'queued');
  const draft = draftTree(tree);
  assert.equal(withNodes(draft.nodes, [{ ...root, state: 'preparing' }]), draft.nodes);
});
