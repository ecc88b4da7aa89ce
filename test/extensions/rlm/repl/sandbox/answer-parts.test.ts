import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { answerParts } from '#extensions/rlm/repl/repl-session.ts';

const parts = (text: string, handles: readonly string[] = []) =>
  answerParts([{ text, handles }], (id) => id.startsWith('c')).map((part) => [part.text, ...part.handles]);

describe('an answer taken apart', () => {
  test('sentences end where a reader ends them', () => {
    assert.deepEqual(parts('One is 2.5. Dr. Two, e.g. he, has 3! Is it so? Yes'), [
      ['One is 2.5.'],
      ['Dr. Two, e.g. he, has 3!'],
      ['Is it so?'],
      ['Yes'],
    ]);
    assert.deepEqual(parts('First line\nSecond line\n\n- Third'), [['First line'], ['Second line'], ['Third']]);
    assert.deepEqual(parts('He said "stop." Then he left.'), [['He said "stop."'], ['Then he left.']]);
    assert.deepEqual(parts('  \n '), []);
  });

  test('marks are handles of their sentence, before or behind its end', () => {
    assert.deepEqual(parts('One [h1]. Two. [h2][h3] Three [h1, c4.2].'), [
      ['One.', 'h1'],
      ['Two.', 'h2', 'h3'],
      ['Three.', 'h1', 'c4.2'],
    ]);
    assert.deepEqual(parts('[h1] One. Two', ['h9']), [
      ['One.', 'h9', 'h1'],
      ['Two', 'h9'],
    ]);
    assert.deepEqual(parts('One. Two.', ['[h1]']), [
      ['One.', 'h1'],
      ['Two.', 'h1'],
    ]);
  });

  test('other square brackets are words', () => {
    assert.deepEqual(parts('An array a[0] and [note] and [x1].'), [['An array a[0] and [note] and [x1].']]);
  });

  test('no letter is lost, whatever the text', () => {
    const piece = fc.oneof(
      fc.constantFrom('. ', '! ', '\n', ' [h1]', '[h2, h3]', '[no]', 'Dr. ', '2.5 ', '…'),
      fc.string({ maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (list) => {
        const text = list.join('');
        const letters = (one: string) =>
          one.replaceAll(/\[h\d+(?:[ \t]*[,;][ \t]*h\d+)*\]/gu, '').replaceAll(/[^\p{L}]/gu, '');
        assert.equal(
          letters(
            parts(text)
              .map(([sentence]) => sentence)
              .join(''),
          ),
          letters(text),
        );
      }),
    );
  });
});
