import assert from 'node:assert/strict';
import test from 'node:test';
import { structureOf } from '#extensions/rlm/scaffold/structure.ts';
import { verifies } from '../../../verifies.ts';
import { textsOf } from './chunk-cases.ts';

verifies('rlm:chunk:structure', 'Markdown is parted before headings, fences stay whole', () => {
  const text = '# One\n\ntext\n\n## Two\n\n```sh\n# no heading\n\nls\n```\n\nend\n';
  assert.deepEqual(textsOf(text, { structure: 'markdown', line_limit: 7 }), [
    '# One\n\ntext\n\n',
    '## Two\n\n```sh\n# no heading\n\nls\n```\n',
    '\nend\n',
  ]);
  assert.deepEqual(textsOf('Alpha\n===\nx\n\nBeta\n---\ny\n', { structure: 'markdown', line_limit: 5 }), [
    'Alpha\n===\nx\n\n',
    'Beta\n---\ny\n',
  ]);
  assert.deepEqual(textsOf('\uFEFF# A\nx\n# B\ny\n', { structure: 'markdown', line_limit: 3 }), [
    '\uFEFF# A\nx\n',
    '# B\ny\n',
  ]);
  assert.deepEqual(textsOf('~~~\n```\n# no\n~~~\n# yes\nx\n', { structure: 'markdown', line_limit: 5 }), [
    '~~~\n```\n# no\n~~~\n',
    '# yes\nx\n',
  ]);
});

verifies(
  'rlm:chunk:structure',
  'a section that is too long is parted between paragraphs, a paragraph between lines',
  () => {
    assert.deepEqual(textsOf('# A\none\n\ntwo\nthree\n', { structure: 'markdown', line_limit: 4 }), [
      '# A\none\n\n',
      'two\nthree\n',
    ]);
    assert.deepEqual(textsOf('1\n2\n3\n4\n5\n', { structure: 'markdown', line_limit: 2 }), ['1\n2\n', '3\n4\n', '5\n']);
  },
);

verifies('rlm:chunk:structure', 'code is parted between top-level blocks', () => {
  const text = 'import a\n\nfunction b() {\n  one\n\n  two\n}\n\n// about c\nfunction c() {\n}\n';
  assert.deepEqual(textsOf(text, { structure: 'code', line_limit: 9 }), [
    'import a\n\nfunction b() {\n  one\n\n  two\n}\n\n',
    '// about c\nfunction c() {\n}\n',
  ]);
  assert.deepEqual(textsOf('def f():\n    a\n\n    b\n', { structure: 'code', line_limit: 3 }), [
    'def f():\n    a\n\n',
    '    b\n',
  ]);
});

verifies(
  'rlm:chunk:structure',
  'records stay whole: one a line, parted by blank lines, or CSV with line ends in quotes',
  () => {
    assert.deepEqual(textsOf('{"a":1}\n{"a":2}\n{"a":3}\n', { structure: 'records', line_limit: 2 }), [
      '{"a":1}\n{"a":2}\n',
      '{"a":3}\n',
    ]);
    assert.deepEqual(textsOf('a\nb\n\nc\nd\n', { structure: 'blocks', line_limit: 4 }), ['a\nb\n\n', 'c\nd\n']);
    assert.deepEqual(textsOf('h\n1,"x\ny"\n2,z\n', { structure: 'csv', line_limit: 2 }), [
      'h\n',
      '1,"x\ny"\n',
      '2,z\n',
    ]);
  },
);

test('the structure is read from the ending of the name', () => {
  const names = ['README.md', 'a/b.TS', 'x.csv', 'x.jsonl', 'x.bib', 'x.txt', 'Makefile', '', 'x.constructor'];
  assert.deepEqual(names.map(structureOf), [
    'markdown',
    'code',
    'csv',
    'records',
    'blocks',
    'lines',
    'lines',
    'lines',
    'lines',
  ]);
});
