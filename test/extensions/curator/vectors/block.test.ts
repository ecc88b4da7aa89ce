/** Blocks, splicing and variants as the original has them (notes 10), in the corners of its language. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { type BlockRequest, buildManagedBlock, slugOf } from '#extensions/curator/block/managed-block.ts';
import { chooseVariant, prepareUpdate, spliceManagedBlock } from '#extensions/curator/block/prepare-update.ts';
import { END_MARKER, START_MARKER } from '#mind/skills/format/skill-text.ts';
import { verifies } from '../../../verifies.ts';

const upstream = { compat: 'upstream' } as const;
const REQUEST: BlockRequest = { skill: 'x', days: 30, now: '2026-05-21T10:11:12.5+02:00', summary: {}, rows: [] };

/** The lines below "Recent evidence". */
function evidence(rows: BlockRequest['rows'], variant: number | string = 0): readonly string[] {
  const lines = buildManagedBlock({ ...REQUEST, rows, variant }, upstream).split('\n');
  return lines.slice(lines.indexOf('### Recent evidence') + 1, lines.indexOf('### Agent guidance') - 1);
}

describe('a block of the original', () => {
  verifies(
    'curator:block:content',
    'has the time in UTC and whole seconds, the window and zeros for what is not counted',
    () => {
      const block = buildManagedBlock(REQUEST, upstream);
      assert.ok(
        block.includes(
          '- Skill: `x`\n- Generated at: `2026-05-21T08:11:12+00:00`\n- Evidence window: last 30 day(s)\n' +
            '- Tool events: 0\n- Skill events: 0\n- Error-like events: 0\n\n### Recent evidence\n- ',
        ),
      );
      assert.ok(
        block.startsWith(`${START_MARKER}\n## Auto-curated evidence notes\n\n`) && block.endsWith(`.\n${END_MARKER}\n`),
      );
    },
  );

  verifies('curator:block:content', 'shows previews as they are, on one line, 220 characters long at most', () => {
    const row = { created_at: 'T', tool_name: 'terminal', is_error: 0 };
    const line = (result_preview: string) => evidence([{ ...row, result_preview }])[0];
    assert.equal(line(''), '- T: `terminal` ok');
    assert.equal(line('a\nb\n\nc'), '- T: `terminal` ok — a b  c');
    assert.equal(line('# `x` <!-- y --> \\1'), '- T: `terminal` ok — # `x` <!-- y --> \\1');
    assert.equal(line('😀'.repeat(220)), `- T: \`terminal\` ok — ${'😀'.repeat(220)}`);
    assert.equal(line('😀'.repeat(221)), `- T: \`terminal\` ok — ${'😀'.repeat(219)}…`);
    assert.equal(evidence([{ ...row, is_error: 1 }])[0], '- T: `terminal` error');
    assert.equal(evidence([]).length, 1);
  });

  verifies('curator:variants:up-to-four', 'has rows in the order given, and as many as the variant shows', () => {
    const rows = ['1', '3', '2', '9', '8', '7', '6', '5', '4'].map((created_at) => ({ created_at, tool_name: 't' }));
    const times = (variant: number | string) => evidence(rows, variant).map((line) => line[2]);
    assert.deepEqual(times(0), ['1', '3', '2', '9', '8']);
    assert.deepEqual(times('compact-evidence-first'), ['1', '3', '2']);
    assert.deepEqual(times(2), ['1', '3', '2', '9', '8', '7', '6', '5']);
    assert.deepEqual(times(3), ['1', '3']);
  });
});

describe('splicing as the original does it', () => {
  const block = `${START_MARKER}\nnew\n${END_MARKER}\n`;
  const old = `${START_MARKER}old${END_MARKER}`;

  verifies(['curator:block:append', 'curator:block:replace-only-block'], 'appends, or replaces the first span', () => {
    const cases: readonly (readonly [text: string, spliced: string])[] = [
      ['a\n', `a\n\n${block}`],
      ['a', `a\n\n${block}`],
      ['a\n\n', `a\n\n\n${block}`],
      ['a\r\n', `a\r\n\n${block}`],
      [`a\n${old}\nb`, `a\n${block}b`],
      [`a\n${old}\n\nb`, `a\n${block}\nb`],
      [`a${old}b`, `a${block}b`],
      [`a\n${old}\r\nb`, `a\n${block}\r\nb`],
      [`${old}\n${old}\n`, `${block}${old}\n`],
      [`${START_MARKER}${old}`, block],
      [`${START_MARKER}\n`, `${START_MARKER}\n\n${block}`],
      [`${END_MARKER}\n`, `${END_MARKER}\n\n${block}`],
      [`${END_MARKER}\n${START_MARKER}\n`, `${END_MARKER}\n${START_MARKER}\n`],
      [`${END_MARKER}${old}\n`, `${END_MARKER}${block}`],
    ];
    for (const [text, spliced] of cases) assert.equal(spliceManagedBlock(text, block, upstream), spliced, text);
  });

  verifies('curator:compat:upstream', 'reads the block as a template when it replaces, and not when it appends', () => {
    const written = block.replace('new', () => 'a\\tb \\\\ \\g<0> $& \\. \\60');
    const expanded = block.replace('new', () => `a\tb \\ ${old}\n $& \\. 0`);
    assert.equal(spliceManagedBlock(`${old}\n`, written.replace('\\60', '\\060'), upstream), expanded);
    assert.equal(spliceManagedBlock('a\n', written, upstream), `a\n\n${written}`);
    const refused = block.replace('new', () => 'C:\\data \\1');
    assert.equal(spliceManagedBlock(old, refused, upstream), refused);
    assert.equal(spliceManagedBlock(old, written), written.slice(0, -1));
  });
});

describe('sizes and scores of the original', () => {
  const base = buildManagedBlock(REQUEST, upstream).length;
  const choose = (text: string, variants = 1) => chooseVariant({ ...REQUEST, text, variants }, upstream);

  verifies(['curator:variants:scorer', 'curator:size:soft-cap'], 'are counted in code points, to the last one', () => {
    const inline = choose('😀'.repeat(90_000 - base - 2)).variants[0];
    assert.deepEqual(
      [inline?.size_strategy, inline?.content_chars, inline?.score, inline?.score_breakdown],
      ['inline', 90_000, 110, ['inline:+100', 'hard-cap-slack:+10', 'diff-from-original:-0']],
    );
    const spilled = choose('😀'.repeat(90_000 - base - 1)).variants[0];
    assert.equal(spilled?.size_strategy, 'reference-spillover');
    assert.deepEqual(spilled?.support_files, ['references/curator-evolver-auto-x-20260521-081112.md']);
    const over = (spilled?.content_chars ?? 0) - 90_000;
    assert.equal(spilled?.score, 0 - Math.floor(over / 100) + Math.min(Math.floor((10_000 - over) / 1000), 10) - 0);
  });

  verifies('curator:variants:scorer', 'each part has its cap; a skipped one cannot win', () => {
    const skipped = choose('x'.repeat(100_001), 2);
    assert.deepEqual(skipped.selected, { index: 0, name: 'default-verify-first', score: -1_000_000 });
    assert.deepEqual(
      skipped.variants.map((one) => [one.size_strategy, one.skipped_reason, one.score_breakdown, one.support_files]),
      Array.from({ length: 2 }, () => [
        'skip-hard-cap',
        'skill-content-hard-cap',
        ['skipped:skill-content-hard-cap'],
        [],
      ]),
    );
    const shrunk = choose(`a\n${START_MARKER}${'x'.repeat(60_000)}${END_MARKER}\n`).variants[0];
    assert.deepEqual(shrunk?.score_breakdown, ['inline:+100', 'hard-cap-slack:+10', 'diff-from-original:-20']);
    assert.equal(prepareUpdate('x'.repeat(99_400), REQUEST, upstream).skippedReason, 'skill-content-hard-cap');
  });

  verifies('curator:variants:up-to-four', 'the count is clamped, and the specs are those of the table', () => {
    for (const [variants, count] of [
      [0, 1],
      [-3, 1],
      [9, 4],
      [2.9, 2],
    ] as const)
      assert.equal(choose('', variants).variants.length, count);
    assert.deepEqual(
      choose('', 4).variants.map(({ index, name, spec }) => [index, name, ...Object.values(spec)]),
      [
        [0, 'default-verify-first', 5, 'verify-first', false],
        [1, 'compact-evidence-first', 3, 'evidence-first', false],
        [2, 'wide-errors-first', 8, 'errors-first', false],
        [3, 'spillover-minimal-inline', 2, 'verify-first', true],
      ],
    );
  });

  verifies('curator:size:soft-cap', 'the slug is the folded name without what no file name has', () => {
    const slugs = ['A B', 'a__b', '..x-', 'ÉCOLE', 'ﬁx', 'a/b\\c', '', '😀'].map(slugOf);
    assert.deepEqual(slugs, ['a-b', 'a__b', 'x', 'cole', 'fix', 'a-b-c', 'skill', 'skill']);
  });
});
