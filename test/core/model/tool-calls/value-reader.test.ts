import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { coerceText, createToolCatalog } from '#core/model/tool-calls/call-of-value.ts';
import { readValue, type ValueOptions } from '#core/model/tool-calls/value-reader.ts';
import { TextWindow } from '#core/model/tool-calls/window.ts';
import { runs } from '../../../property-runs.ts';

function read(text: string, options: ValueOptions = {}): unknown {
  const result = readValue(new TextWindow(text, true), 0, options);
  return result.ok ? result.value : result.truncated ? 'TRUNCATED' : 'BAD';
}

describe('lenient value reader', () => {
  test('valid JSON reads as JSON', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        assert.deepEqual(read(text), JSON.parse(text));
      }),
      { numRuns: runs(500) },
    );
  });

  const rows: readonly (readonly [string, unknown, ValueOptions?])[] = [
    ['{"a": 1,}', { a: 1 }],
    ['[1, 2,]', [1, 2]],
    ["{'a': 'b'}", { a: 'b' }],
    ['{a: 1, b_c: 2, d-e: 3}', { a: 1, b_c: 2, 'd-e': 3 }],
    ['{a:1}', { a: 1 }],
    ['[True, False, None]', [true, false, null]],
    ['{"a": 1 // one\n, "b": 2 /* two */}', { a: 1, b: 2 }],
    ['{"a": "x\ny\tz"}', { a: 'x\ny\tz' }],
    ['"\\d\\\'\\u00e9\\x41\\u12"', "\\d'éA\\u12"],
    ['"""a "b" c"""', 'a "b" c'],
    ['“smart”', 'smart'],
    ['“half"', 'TRUNCATED'],
    ['{"a": {"b": [1, "x"', { a: { b: [1, 'x'] } }],
    ['{"a": "cut', 'TRUNCATED'],
    ['{"a":', 'TRUNCATED'],
    ['{"a"', 'TRUNCATED'],
    ['{"a": [1, 2}', { a: [1, 2] }],
    ['{"a": 1 "b": 2}', { a: 1, b: 2 }],
    ['{"a": b}', 'BAD'],
    ['{"a": b c, "d": 1}', { a: 'b c', d: 1 }, { bare: true }],
    ['(1, 2)', [1, 2], { python: true }],
    ["r'\\n'", '\\n', { python: true }],
    ['\'a\' "b"', 'ab', { adjacent: true }],
    ['[1e3, -0.5, +2, 1_000, 0x10, .5, 1e+2]', [1000, -0.5, 2, 1000, 16, 0.5, 100]],
    ['[2024-01-01]', 'BAD'],
    ['<|"|>a "b"<|"|>', 'a "b"'],
    ['<escape>a<escape>', 'a'],
    [`${'['.repeat(100_000)}`, 'BAD'],
  ];
  for (const [text, expected, options] of rows) {
    test(text.slice(0, 40), () => assert.deepEqual(read(text, options), expected));
  }

  test('an unfinished text starves the window instead of deciding', () => {
    for (const text of ['{"a": 1', '"abc', 'tru', '[1, 2', '{"a": "b"']) {
      const win = new TextWindow(text, false);
      readValue(win, 0);
      assert.equal(win.starved, true, text);
    }
  });
});

describe('coercion of text', () => {
  const rows: readonly (readonly [string, unknown, unknown])[] = [
    ['5', { type: 'integer' }, 5],
    [' 5 ', { type: 'integer' }, 5],
    ['5.0', { type: 'integer' }, 5],
    ['5.5', { type: 'integer' }, '5.5'],
    ['5.5', { type: 'number' }, 5.5],
    ['true', { type: 'boolean' }, true],
    ['False', { type: 'bool' }, false],
    ['yes', { type: 'boolean' }, 'yes'],
    ['5', { type: 'string' }, '5'],
    ['5', {}, '5'],
    ['5', undefined, '5'],
    ['null', { type: ['string', 'null'] }, null],
    ['null', { type: 'string' }, 'null'],
    ['[1, 2]', { type: 'array' }, [1, 2]],
    ["{'a': True}", { type: 'object' }, { a: true }],
    ['a, b', { type: 'array' }, 'a, b'],
    ['7', { anyOf: [{ type: 'integer' }, { type: 'string' }] }, 7],
    ['x', { anyOf: [{ type: 'integer' }, { type: 'string' }] }, 'x'],
    ['2', { enum: [1, 2] }, 2],
    ['3.5', { type: 'float' }, 3.5],
    ['{"a": 1}', { type: 'dict' }, { a: 1 }],
  ];
  for (const [text, schema, expected] of rows) {
    test(`${text} as ${JSON.stringify(schema)}`, () => assert.deepEqual(coerceText(text, schema), expected));
  }
});

describe('tool catalog', () => {
  const catalog = createToolCatalog([
    { name: 'read_file' },
    { name: 'a.b' },
    { function: { name: 'Run-It' } },
    { name: 'x_y' },
    { name: 'x-y' },
  ]);
  const rows: readonly (readonly [string, string | null])[] = [
    ['read_file', 'read_file'],
    ['READ_FILE', 'read_file'],
    ['read-file', 'read_file'],
    ['functions.read_file', 'read_file'],
    ['default_api.read_file', 'read_file'],
    ['functions.read_file:0', 'read_file'],
    ['read_file.call', 'read_file'],
    ['a.b', 'a.b'],
    ['a_b', 'a.b'],
    ['run_it', 'Run-It'],
    ['x_y', 'x_y'],
    ['x-y', 'x-y'],
    ['X_Y', null],
    ['readfile', null],
    ['read', null],
    ['', null],
    ['constructor', null],
    ['__proto__', null],
  ];
  for (const [written, expected] of rows) {
    test(`"${written}"`, () => assert.equal(catalog.resolve(written)?.name ?? null, expected));
  }
});
