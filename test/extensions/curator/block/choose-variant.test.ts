import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chooseVariant, type VariantQuestion, weighVariants } from '#extensions/curator/block/choose-variant.ts';
import { buildManagedBlock } from '#extensions/curator/block/managed-block.ts';
import { spliceManagedBlock } from '#extensions/curator/block/splice-block.ts';
import { verifies } from '../../../verifies.ts';

const rows = Array.from({ length: 10 }, (_, at) => ({
  created_at: `2026-05-20T00:00:0${at}+00:00`,
  tool_name: 'terminal',
  is_error: at % 2,
  result_preview: 'p'.repeat(400),
}));

const QUESTION: VariantQuestion = {
  text: '---\nname: x\n---\nhi\n',
  skill: 'x',
  summary: { tool_events: 10, skill_events: 10, error_events: 5 },
  rows,
  now: '2026-05-21T00:00:00Z',
  variants: 4,
};

describe('choosing a variant', () => {
  verifies('curator:variants:up-to-four', 'four at most, differing in rows, guidance and spill-over', () => {
    const { variants } = chooseVariant({ ...QUESTION, variants: 9 }, { compat: 'upstream' });
    const [ours] = chooseVariant(QUESTION).variants;
    assert.deepEqual(Object.values(ours?.spec ?? {}), [10, 'verify-first', false], 'ours shows all that there are');
    assert.deepEqual(
      variants.map(({ index, name, spec, size_strategy }) => [index, name, Object.values(spec), size_strategy]),
      [
        [0, 'default-verify-first', [5, 'verify-first', false], 'inline'],
        [1, 'compact-evidence-first', [3, 'evidence-first', false], 'inline'],
        [2, 'wide-errors-first', [8, 'errors-first', false], 'inline'],
        [3, 'spillover-minimal-inline', [2, 'verify-first', true], 'reference-spillover'],
      ],
    );
    for (const count of [0, 1, -3, Number.NaN])
      assert.equal(chooseVariant({ ...QUESTION, variants: count }).variants.length, 1);
  });

  verifies('curator:variants:scorer', 'inline, slack and a small difference count; ties go to the first', () => {
    const { variants, selected } = chooseVariant(QUESTION, { compat: 'upstream' });
    assert.deepEqual(variants[0]?.score_breakdown, ['inline:+100', 'hard-cap-slack:+10', 'diff-from-original:-2']);
    assert.deepEqual(variants[3]?.score_breakdown, ['spillover:+0', 'hard-cap-slack:+10', 'diff-from-original:-1']);
    assert.deepEqual(
      variants.map(({ score }) => score),
      [108, 109, 108, 9],
    );
    assert.deepEqual(selected, { index: 1, name: 'compact-evidence-first', score: 109 });
    assert.deepEqual(
      variants.map((one) => one.selected),
      [false, true, false, false],
    );
    const tie = chooseVariant({ ...QUESTION, rows: [] }, { compat: 'upstream' });
    assert.deepEqual(tie.selected, { index: 0, name: 'default-verify-first', score: 110 });
  });

  test('a skill near the caps', () => {
    const near = chooseVariant({ ...QUESTION, text: 'x'.repeat(95_000), variants: 1 }, { compat: 'upstream' })
      .variants[0];
    assert.equal(near?.size_strategy, 'reference-spillover');
    const size = near?.content_chars ?? 0;
    const over = Math.floor((size - 90_000) / 100);
    assert.deepEqual(near?.score_breakdown, [
      'spillover:+0',
      `over-soft-cap:-${over}`,
      'hard-cap-slack:+3',
      'diff-from-original:-1',
    ]);
    assert.equal(near?.score, -over + 3 - 1);
    const full = chooseVariant({ ...QUESTION, text: 'x'.repeat(100_001) });
    assert.deepEqual(full.selected, { index: 0, name: 'default-verify-first', score: -1_000_000 });
    assert.deepEqual(full.variants[0]?.score_breakdown, ['skipped:skill-content-hard-cap']);
    assert.deepEqual(
      [full.variants[0]?.skipped_reason, full.variants[0]?.content_chars],
      ['skill-content-hard-cap', 100_001],
    );
  });

  verifies('curator:variants:one-is-default', 'one variant is the default, byte for byte', () => {
    const { choice, winner } = weighVariants({ ...QUESTION, variants: 1 });
    const { text, variants: _count, ...request } = QUESTION;
    assert.equal(winner.content, spliceManagedBlock(text, buildManagedBlock(request)));
    assert.equal(choice.selected.index, 0);
  });

  verifies('curator:variants:deterministic', 'the same input has the same winner, in any order of rows', () => {
    const once = weighVariants(QUESTION);
    assert.deepEqual(weighVariants(QUESTION), once);
    assert.deepEqual(weighVariants({ ...QUESTION, rows: [...rows].reverse() }), once);
  });
});
