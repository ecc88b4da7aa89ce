// The cutting into units and the context each of them stands in.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { foldLine, joinedPieces } from '#mind/skills/guard/text/fold.ts';
import { readUnits } from '#mind/skills/guard/text/read-units.ts';
import { lineAt } from '#mind/skills/guard/text/unit.ts';

const read = (text: string, path = 'SKILL.md') => readUnits(text, path, () => false);

describe('units of Markdown', () => {
  test('paragraphs are joined, list items and fences are not', () => {
    const units = read('One line\nand more.\n\n- item a\n- item b\n\n```sh\nls \\\n  -l\npwd\n```\n');
    assert.deepEqual(
      units.map(({ kind, text }) => `${kind}: ${text}`),
      ['prose: one line and more.', 'prose: - item a', 'prose: - item b', 'code: ls -l', 'code: pwd'],
    );
  });

  test('a match in the second line of a paragraph is told by that line', () => {
    const [unit] = read('One line\nand more.\n');
    assert.ok(unit !== undefined);
    assert.equal(lineAt(unit, unit.text.indexOf('more')), 2);
  });

  test('a heading that tells of attacks guards what is below it, up to the next of its level', () => {
    const units = read('## Red flags\n\na\n\n### Shell\n\nb\n\n## Setup\n\nc\n');
    const guarded = new Map(units.map(({ text, guarded }) => [text, guarded]));
    assert.deepEqual([guarded.get('a'), guarded.get('b'), guarded.get('c')], [true, true, false]);
  });

  test('front matter and comments are told from prose', () => {
    const kinds = read('---\nname: x\n---\n<!-- note -->\ntext\n').map(({ kind }) => kind);
    assert.deepEqual(kinds, ['header', 'comment', 'prose']);
  });

  test('hosts are marked by their kind', () => {
    assert.deepEqual(
      read('see https://webhook.site/a and https://github.com/b\n').map(({ text }) => text),
      ['see «collector»https://webhook.site/a and «known»https://github.com/b'],
    );
  });
});

describe('reading through disguise', () => {
  test('width, look-alikes and invisible characters', () => {
    assert.equal(foldLine('Ｃurl'), 'curl');
    assert.equal(foldLine('сurl'), 'curl');
    assert.equal(foldLine('c\u200burl'), 'curl');
    assert.equal(foldLine('Привет'), 'привет');
  });

  test('pieces', () => {
    assert.equal(joinedPieces('"cu" + "rl"'), '"curl"');
    assert.equal(joinedPieces("c''url -s"), 'curl -s');
    assert.equal(joinedPieces('cat${ifs}x'), 'cat x');
    assert.equal(joinedPieces('plain'), undefined);
  });
});
