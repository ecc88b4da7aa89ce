import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { replaceText } from '#core/tools/files/replace-text.ts';
import { ends } from '../ends.ts';
import { runs } from '../property-runs.ts';
import { slow } from '../slow.ts';

const words = fc.constantFrom('a', 'b', 'ab', ' ', '  ', '\t', '\n', '\r\n', 'x;', '', '{', '}');
const texts = fc.array(words, { maxLength: 24 }).map((parts) => parts.join(''));

describe('property: replace-text', () => {
  it('changes exactly one place or refuses: what is around it stays', () => {
    fc.assert(
      fc.property(texts, texts, (text, old) => {
        const result = replaceText({ text, old, new: 'NEW', all: false });
        if (!result.ok) return;
        const parts = result.value.text.split('NEW');
        assert.equal(parts.length, 2);
        const [before = '', after = ''] = parts;
        const shift = /[ \t]*$/.exec(before)?.[0].length ?? 0;
        const kept = before.slice(0, before.length - (result.value.how === 'indentation' ? shift : 0));
        assert.ok(text.startsWith(kept) && text.endsWith(after));
        assert.ok(kept.length + after.length <= text.length);
      }),
      { numRuns: runs(3_000) },
    );
  });

  it('finds a piece of the text itself exactly when it is there once', () => {
    fc.assert(
      fc.property(texts, fc.nat(), fc.nat(), (text, from, length) => {
        const start = text.length === 0 ? 0 : from % text.length;
        const old = text.slice(start, start + 1 + (length % 6));
        if (old === '') return;
        const once = text.indexOf(old) === text.lastIndexOf(old);
        const result = replaceText({ text, old, new: 'NEW', all: false });
        assert.equal(result.ok, once);
        if (result.ok) assert.equal(result.value.text, text.replace(old, 'NEW'));
      }),
      { numRuns: runs(3_000) },
    );
  });

  it('fits the indentation of a piece that was moved', () => {
    const text = 'class A {\n    run() {\n        go();\n    }\n}\n';
    const result = replaceText({ text, old: 'run() {\n    go();\n}', new: 'run() {\n    stop();\n}', all: false });
    assert.ok(result.ok && result.value.how === 'indentation');
    assert.equal(result.value.text, 'class A {\n    run() {\n        stop();\n    }\n}\n');
    const less = replaceText({
      text: 'a() {\n  b();\n}\n',
      old: '    a() {\n      b();\n    }',
      new: '    a() {\n      c();\n    }',
      all: false,
    });
    assert.ok(less.ok);
    assert.equal(less.value.text, 'a() {\n  c();\n}\n');
  });

  it('forgives blanks at line ends, and refuses two such places', () => {
    const result = replaceText({ text: 'a  \nb\t\nc\n', old: 'a\nb', new: 'x\ny', all: false });
    assert.ok(result.ok && result.value.text === 'x\ny\nc\n');
    assert.equal(replaceText({ text: 'a \nb\na  \nb\n', old: 'a\nb', new: 'x', all: false }).ok, false);
  });

  slow('takes time in proportion to the text', () => {
    ends('the search', () => {
      replaceText({ text: 'a\n'.repeat(200_000), old: `${'a\n'.repeat(50)}b`, new: 'x', all: false });
      replaceText({ text: 'a'.repeat(1_000_000), old: 'a'.repeat(1_000), new: 'x', all: false });
    });
  });
});
