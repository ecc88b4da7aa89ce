/** Front matter: found where it is, left alone where it is not. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { splitFrontMatter } from '#base/text/front-matter.ts';

describe('front matter', () => {
  test('is split off, with any line ends, and a BOM is dropped', () => {
    assert.deepEqual(splitFrontMatter('---\nname: x\n---\nbody\n'), { front: 'name: x\n', body: 'body\n' });
    assert.deepEqual(splitFrontMatter('\uFEFF---\r\nname: x\r\n---\r\nbody'), { front: 'name: x\r\n', body: 'body' });
    assert.deepEqual(splitFrontMatter('--- \n---\t\n'), { front: '', body: '' });
    assert.deepEqual(splitFrontMatter('---\na: 1\n...\nb'), { front: 'a: 1\n', body: 'b' });
  });

  test('what only looks like it stays body', () => {
    for (const text of [
      '---js\nrun()\n---\n',
      '----\na\n----\n',
      ' ---\na\n---\n',
      '---\nnever closed\n',
      'text\n---\na\n---\n',
      '',
      '---',
    ]) {
      assert.deepEqual(splitFrontMatter(text), { front: undefined, body: text });
    }
  });

  test('nothing is lost, whatever the text', () => {
    const piece = fc.constantFrom('---', '---js', '...', '\n', '\r\n', 'name: x', ' ', '\0', '\uD800', '# title');
    fc.assert(
      fc.property(
        fc.array(piece).map((pieces) => pieces.join('')),
        (text) => {
          const { front, body } = splitFrontMatter(text);
          if (front === undefined) assert.equal(body, text);
          else
            assert.ok(
              text.endsWith(body) &&
                text.includes(front) &&
                !front.split('\n').some((line) => /^---[ \t]*\r?$/.test(line)),
            );
        },
      ),
    );
  });
});
