import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compactPreview, isTruthy, plainText, spacedJson, stripBlanks } from '#mind/evidence/ledger/compact-value.ts';
import { attributeSkill, isErrorLike } from '#mind/evidence/ledger/turn-calls.ts';

const upstream = { compat: 'upstream' } as const;

describe('a value as the original sees it', () => {
  test('is true unless it is empty, zero, false or nothing', () => {
    for (const value of ['x', ' ', '0', 'false', 1, -1, 0.5, Number.NaN, true, [0], { a: 0 }])
      assert.equal(isTruthy(value), true, String(value));
    for (const value of ['', 0, -0, false, null, undefined, [], {}]) assert.equal(isTruthy(value), false);
  });

  test('loses the blanks of Unicode at both ends, and no byte order mark', () => {
    const cases: readonly (readonly [text: string, stripped: string])[] = [
      [' a b ', 'a b'],
      ['\u00a0\u3000a\u2028\u0085', 'a'],
      ['\u001c\u001fa\u000b\u000c', 'a'],
      ['\ufeffa\u200b', '\ufeffa\u200b'],
      [' \n\t', ''],
    ];
    for (const [text, stripped] of cases) assert.equal(stripBlanks(text), stripped);
    assert.equal(stripBlanks(`${' '.repeat(200_000)}a${' '.repeat(200_000)}b`).length, 200_002);
  });

  test('is JSON with blanks behind commas and colons, keys by code point, small fractions with an exponent', () => {
    const cases: readonly (readonly [value: unknown, json: string])[] = [
      [{}, '{}'],
      [[], '[]'],
      [[1, [2, {}]], '[1, [2, {}]]'],
      [{ b: 1, a: { d: null, c: [true, false] } }, '{"a": {"c": [true, false], "d": null}, "b": 1}'],
      [{ '😀': 1, '\uffff': 2, Z: 3, a: 4, é: 5 }, '{"Z": 3, "a": 4, "é": 5, "\uffff": 2, "😀": 1}'],
      [{ 10: 'x', 9: 'y' }, '{"10": "x", "9": "y"}'],
      ['tab\t"q" \\ é \u2028 \u007f \u0001', '"tab\\t\\"q\\" \\\\ é \u2028 \u007f \\u0001"'],
      [0.0001, '0.0001'],
      [0.00001, '1e-05'],
      [-0.00012, '-0.00012'],
      [1.5e-10, '1.5e-10'],
      [1e21, '1e+21'],
      [123_456.789, '123456.789'],
      [Number.NaN, 'NaN'],
    ];
    for (const [value, json] of cases) assert.equal(spacedJson(value), json);
  });

  test('is printed as it would stand in a program', () => {
    const cases: readonly (readonly [value: unknown, text: string])[] = [
      ["it's", "it's"],
      [true, 'True'],
      [7, '7'],
      [0.5, '0.5'],
      [1e-7, '1e-07'],
      [["it's", 'a"b', 'both \' "', 'x\n\\'], "[\"it's\", 'a\"b', 'both \\' \"', 'x\\n\\\\']"],
      [{ a: null, b: [false] }, "{'a': None, 'b': [False]}"],
      [['\u200b\u007f\u00a0é😀\u{e0041}'], "['\\u200b\\x7f\\xa0é😀\\U000e0041']"],
    ];
    for (const [value, text] of cases) assert.equal(plainText(value), text);
  });
});

describe('the rules of the ledger, in the corners of the original', () => {
  test('a skill is named by anything that is true, as text', () => {
    const cases: readonly (readonly [tool: string, args: unknown, skill: string | null])[] = [
      ['skill_view', { name: 0, skill: [], skill_name: 'c' }, 'c'],
      ['skill_view', { name: ' ' }, ' '],
      ['skill_view', { name: ' padded ' }, ' padded '],
      ['skill_view', { name: true }, 'True'],
      ['skill_view', { name: ['a', 1] }, "['a', 1]"],
      ['skill_manage', { name: { a: 'b' } }, "{'a': 'b'}"],
      ['skill_manage', { skills: ['a'] }, null],
      ['skill_manage', {}, null],
      ['delegate_task', { skills: [null, 0, '', 'd'] }, 'd'],
      ['delegate_task', { skills: [12.5, 'd'] }, '12.5'],
      ['delegate_task', { skills: 'abc' }, null],
      ['delegate_task', { skills: { a: 1 } }, null],
      ['delegate_task', { skills: [null] }, null],
      ['SKILL_VIEW', { name: 'a' }, null],
      ['terminal', { name: 'a', skill: 'b', skill_name: 'c' }, null],
      ['skill_view', 'name', null],
      ['skill_view', [{ name: 'a' }], null],
    ];
    for (const [tool, args, skill] of cases)
      assert.equal(attributeSkill(tool, args, upstream), skill, JSON.stringify(args));
  });

  test('a result is an object when its stripped text is one, numbers that are none counted in', () => {
    const cases: readonly (readonly [result: unknown, isError: boolean])[] = [
      ['\u00a0{"exit_code": 1}\u0085', true],
      ['\ufeff{"exit_code": 1}', true],
      ['\ufeff{"code": 1}', false],
      ['{"score": NaN, "output": "failed"}', false],
      ['{"exit_code": NaN}', true],
      ['{"exit_code": -Infinity, "text": "NaN"}', true],
      ['{"error": "NaN", "success": true}', true],
      ['{"error": {}}', false],
      ['{"error": 0, "success": null, "exit_code": 0.0}', false],
      ['{"error": false}', false],
      ['{"success": "false"}', false],
      ['{"exit_code": ""}', true],
      ['{"exit_code": []}', true],
      ['{"exit_code": -0}', false],
      ['{"exit_code": "0"}', true],
      ['{}', false],
      ['{"error": ', true],
      ['[{"error": null}]', true],
      ['[]', false],
      ['EXIT_CODE', true],
      ['Exception', true],
      ['erro r', false],
      [true, false],
      [404, false],
      [['an Error'], true],
      [`${'x'.repeat(2042)}error`, true],
      [`${'x'.repeat(2043)}errors`, false],
      [`${'😀'.repeat(2042)}error`, true],
    ];
    for (const [result, isError] of cases)
      assert.equal(isErrorLike(result, upstream), isError, JSON.stringify(result).slice(0, 60));
  });

  test('a preview is cut by code points, and only the four characters of an escape go', () => {
    const cases: readonly (readonly [value: unknown, limit: number, preview: string])[] = [
      ['a'.repeat(501), 500, `${'a'.repeat(499)}…`],
      ['a'.repeat(500), 500, 'a'.repeat(500)],
      ['😀😀😀', 3, '😀😀😀'],
      ['😀😀😀😀', 3, '😀😀…'],
      ['a\\x00b\0c', 500, 'ab\0c'],
      ['  two\nlines ', 500, '  two\nlines '],
      [0, 500, '0'],
      [false, 500, 'false'],
      ['', 500, ''],
      [{ b: 1, a: ['é'] }, 500, '{"a": ["é"], "b": 1}'],
      [{ b: 1, a: 2 }, 6, '{"a":…'],
    ];
    for (const [value, limit, preview] of cases) assert.equal(compactPreview(value, limit, upstream), preview);
    assert.equal(compactPreview('a\\x00b\0c'), 'a\\x00bc');
  });
});
