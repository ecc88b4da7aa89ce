import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { keepVariables, scanCode } from '#extensions/rlm/repl/block.ts';

const CASES: Readonly<Record<string, string>> = {
  'const a = 1;': 'var a = 1;',
  'let {a, b: [c]} = x': 'var {a, b: [c]} = x',
  'let\n[a] = x': 'var\n[a] = x',
  'class A { b() { const c = 1 } }': 'var A = class A { b() { const c = 1 } };',
  'const A = class B {}': 'var A = class B {}',
  'for (const a of b) { let c }': 'for (const a of b) { let c }',
  'function f() { const a = 1; class B {} }': 'function f() { const a = 1; class B {} }',
  "x = 'const a'; `let ${ (() => { const b = 1 })() } const`":
    "x = 'const a'; `let ${ (() => { const b = 1 })() } const`",
  '// const a\n/* let b */ const c = 1': '// const a\n/* let b */ var c = 1',
  'a.const = b.let.class': 'a.const = b.let.class',
  'x = /const {/; const y = 1': 'x = /const {/; var y = 1',
  'x = a / b / c; let y = 1': 'x = a / b / c; var y = 1',
  'x = [/[/]let/, 1]; let y': 'x = [/[/]let/, 1]; var y',
  'if (a) { const b = 1 } else { let c } const d = 2': 'if (a) { const b = 1 } else { let c } var d = 2',
  'foo()\nclass A extends B {}\nbar()': 'foo()\nvar A = class A extends B {};\nbar()',
  'let = 5': 'let = 5',
  '`a ${`b ${c}`} d`; const e = 1': '`a ${`b ${c}`} d`; var e = 1',
};

describe('names of the top', () => {
  for (const [code, kept] of Object.entries(CASES))
    test(JSON.stringify(code), () => assert.equal(keepVariables(code), kept));

  test('any text: no line moves, and nothing is lost', () => {
    const pieces = fc.constantFrom(
      'const ',
      'let ',
      'class A {',
      '}',
      '{',
      '(',
      ')',
      '`',
      '${',
      '/',
      "'",
      '"',
      '\n',
      'a',
      ' = ',
      ';',
      '//',
      '/*',
      '*/',
      '[',
      ']',
      '\\',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 25 }), (list) => {
        const code = list.join('');
        const kept = keepVariables(code);
        assert.equal(kept.split('\n').length, code.split('\n').length);
        assert.ok(scanCode(code).every(({ at, text }) => text === '`' || code.startsWith(text, at)));
      }),
    );
  });
});
