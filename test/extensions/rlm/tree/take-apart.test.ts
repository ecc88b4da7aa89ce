import assert from 'node:assert/strict';
import fc from 'fast-check';
import { takeApart } from '#extensions/rlm/scaffold/read-reply.ts';
import { verifies } from '../../../verifies.ts';

const parent = { ac_node_id: 'root', question: 'Read the whole report' };
const reasonOf = (result: { readonly ok: boolean; readonly reason?: string }) => (result.ok ? 'ok' : result.reason);
const children = (...contents: string[]) => contents.map((content) => ({ content }));

verifies('rlm:tree:duplicates', 'siblings that are the same question are one', () => {
  const done = takeApart(parent, children('List  the Dates', 'x', ' list the dates ', 'X'));
  assert.ok(done.ok);
  assert.deepEqual(
    done.value.map(({ question }) => question),
    ['List  the Dates', 'x'],
  );
});

verifies(
  'rlm:tree:decomposition',
  'two to five children, none empty, none in a circle, each resting on earlier ones',
  () => {
    const tried = (list: Parameters<typeof takeApart>[1]) => reasonOf(takeApart(parent, list));
    assert.equal(tried(children('a')), 'insufficient_children');
    assert.equal(tried([]), 'insufficient_children');
    assert.equal(tried(children('a', 'b', 'c', 'd', 'e', 'f')), 'too_many_children');
    assert.equal(tried(children('a', ' \n')), 'empty_child');
    assert.equal(tried(children('a', ' READ the whole  report ')), 'cyclic_decomposition');
    assert.equal(tried(children('Same', 'same ')), 'insufficient_children');
    for (const index of [1, 2, -1, 0.5])
      assert.equal(tried([{ content: 'a' }, { content: 'b', depends_on: [index] }]), 'invalid_child_ac_node_input');
    const done = takeApart(parent, [{ content: ' a ' }, { content: 'b', depends_on: [0] }]);
    assert.ok(done.ok);
    assert.deepEqual(
      done.value.map(({ question }) => question),
      ['a', 'b'],
    );
    for (const { ac_node_id } of done.value) assert.match(ac_node_id, /^ac_[0-9a-f]{12}$/);
    assert.deepEqual(takeApart(parent, [{ content: ' a ' }, { content: 'b', depends_on: [0] }]), done);
  },
);

verifies(
  'rlm:tree:decomposition',
  'property: whatever is proposed, the children are few, distinct and not empty',
  () => {
    const proposed = fc.array(
      fc.record({
        content: fc.constantFrom('a', 'b', ' A ', 'c', 'd', '', 'Read the whole report'),
        depends_on: fc.array(fc.integer({ min: -1, max: 3 }), { maxLength: 2 }),
      }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(proposed, (list) => {
        const done = takeApart(parent, list);
        if (!done.ok) return;
        const asked = done.value.map(({ question }) => question.toLowerCase());
        assert.ok(asked.length >= 2 && asked.length <= 5 && new Set(asked).size === asked.length);
        assert.ok(!asked.includes('') && !asked.includes('read the whole report'));
        assert.equal(new Set(done.value.map(({ ac_node_id }) => ac_node_id)).size, asked.length);
      }),
    );
  },
);
