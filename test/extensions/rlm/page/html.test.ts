import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Html, html, markupOf, visibleText } from '#base/text/page.ts';
import { pageTags, pageText } from './page-tags.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 200 });
const sharp = fc.string({
  unit: fc.constantFrom('&', '<', '>', '"', "'", 'amp;', 'lt;', '#39;', '/', 'b', ' ', '='),
  maxLength: 40,
});

describe('markup', () => {
  test('a text is read back as it was, what is not seen written out, and makes no tag', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, sharp), (text) => {
        const page = markupOf(html`<p>${text}</p>`);
        assert.equal(pageText(page), visibleText(text));
        assert.equal(pageTags(page).length, 2);
      }),
    );
  });

  test('a text stays within the quotes of its attribute', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, sharp), (text) => {
        const [tag, ...others] = pageTags(markupOf(html`<p title="${text}">`));
        assert.deepEqual(others, []);
        assert.equal(tag?.attributes.length, 1);
        const value = tag?.attributes[0]?.[1] ?? '';
        assert.equal(pageText(value), visibleText(text));
        assert.doesNotMatch(value, /["']/);
      }),
    );
  });

  test('markup made here stays markup, in lists too; data that looks like it does not', () => {
    const item = (text: string) => html`<li>${text}</li>`;
    assert.equal(markupOf(html`<ul>${['<a>', 'b'].map(item)}</ul>`), '<ul><li>&lt;a&gt;</li><li>b</li></ul>');
    assert.equal(markupOf(html`${null}${undefined}${false}${0}${''}`), '0');
    const forged = { markup: '<script>', toString: () => '<script>' } as unknown as Html;
    assert.doesNotMatch(markupOf(html`<p>${forged}</p>`), /<script>/);
  });

  test('no text is longer than what a page can bear, and what is left out is counted', () => {
    const page = markupOf(html`${'x'.repeat(1_000_000)}`);
    assert.ok(page.length < 61_000);
    assert.match(page, /\[… 940000 characters left out …\]/);
  });
});

describe('visible text', () => {
  test('marks of direction, controls and blanks without width are written out; letters and line ends stay', () => {
    assert.equal(visibleText('a\u202Eb\u2066c\u200Fd'), 'a[U+202E]b[U+2066]c[U+200F]d');
    assert.equal(visibleText('\u0000\u001b\r\u007f\u0085'), '␀␛␍␡[U+0085]');
    assert.equal(visibleText('\uFEFF\u200B\u00AD\u{E0041}'), '[U+FEFF][U+200B][U+00AD][U+E0041]');
    const plain = 'Zeile\n\tשלום مرحبا 👩‍🚀 é ﬁ';
    assert.equal(visibleText(plain), plain);
    assert.equal(visibleText('\ud800x'), '\ufffdx');
  });
});
