import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { extractJson } from '#extensions/rlm/guard/extract-json.ts';
import { ends } from '../../../ends.ts';
import { runs } from '../../../property-runs.ts';
import { slow } from '../../../slow.ts';
import { verifies } from '../../../verifies.ts';

const FENCE = '```';

describe('JSON out of a reply', () => {
  verifies('rlm:json:fenced', 'in fences, behind a preface, before further prose', () => {
    const replies = [
      '{"a":1}',
      ' \n{"a":1}\n',
      '\uFEFF{"a":1}',
      `${FENCE}json\n{"a":1}\n${FENCE}`,
      `${FENCE}\n{"a":1}`,
      `Here it is:\n\n  ${FENCE}json\n{"a":1}\n  ${FENCE}\nAnything else?`,
      'Sure! {"a":1} That is all.',
      `Inline ${FENCE}json {"a":1}${FENCE}`,
      'Use {placeholder}, then {"a":1}',
      'In a template {{"a":1}}',
      'A smile :-{ and {"a":1}',
      'As [1] says: {"a":1}',
      `${FENCE}ts\nlet x = 1;\n${FENCE}\n${FENCE}json\n{"a":1}\n${FENCE}`,
      '{"a":1}{"b":2}',
      '{"a":0,"a":1}',
    ];
    for (const reply of replies) assert.deepEqual(extractJson(reply), { ok: true, value: { a: 1 } }, reply);
    assert.deepEqual(extractJson('[1, {"a":2}]'), { ok: true, value: [1, { a: 2 }] });
    assert.deepEqual(extractJson(`List:\n${FENCE}\n[1,2]\n${FENCE}`), { ok: true, value: [1, 2] });
    assert.deepEqual(extractJson(' null '), { ok: true, value: null });
  });

  verifies('rlm:json:braces-in-strings', 'braces, quotes and fences in strings are text', () => {
    const value = {
      text: `}{ "\\ ${FENCE}\n{"a":1}\n${FENCE} \u{1F600} ]`,
      list: ['}', '"', '\\'],
      '}{': { '"': null },
    };
    for (const around of ['', 'Prose first. ']) {
      assert.deepEqual(extractJson(`${around}${JSON.stringify(value)} and } more {`), { ok: true, value });
      assert.deepEqual(extractJson(`${around}\n${FENCE}json\n${JSON.stringify(value, null, 2)}\n${FENCE}\n}`), {
        ok: true,
        value,
      });
    }
  });

  verifies('rlm:json:none', 'the reason, and nothing thrown', () => {
    const reasons = {
      '': 'empty',
      ' \n\t': 'empty',
      'I could not find anything.': 'no_json',
      '[1] and [2]': 'no_json',
      '-': 'no_json',
      '{"a":': 'truncated',
      '{"a":{"b":1}': 'truncated',
      'So: {"result":{"facts":[{"fact_id":"F1"}],': 'truncated',
      '{"a":"\\u00': 'truncated',
      '{"a":tr': 'truncated',
      '{"a":1,}': 'invalid_json',
      "{'a':1}": 'invalid_json',
      '{"a":01}': 'invalid_json',
      '{"a":"\\x"} ': 'invalid_json',
      '{"a":"line\nbreak"}': 'invalid_json',
      '{"a":1]': 'invalid_json',
      '{a:1}': 'invalid_json',
      '{"a" 1}': 'invalid_json',
      '{"a":NaN}': 'invalid_json',
      // No piece of a broken reply, and nothing behind it, is taken for the reply.
      '{\'mode\': {"a":1}}': 'invalid_json',
      'So {mode: {"a":1}} it is': 'invalid_json',
      '{"a":"b"c"} {"d":1}': 'invalid_json',
      '{"result": {"facts":[]}, bad} {"a":1}': 'invalid_json',
    };
    for (const [reply, reason] of Object.entries(reasons))
      assert.deepEqual(extractJson(reply), { ok: false, reason }, reply);
    assert.deepEqual(extractJson(undefined as unknown as string), { ok: false, reason: 'empty' });
  });

  test('what is too deep to be walked through is refused, not parsed', () => {
    const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    assert.equal(extractJson(nested(1_000)).ok, true);
    for (const reply of [
      nested(1_001),
      nested(100_000),
      `So: ${nested(100_000)}`,
      `${'['.repeat(1e5)}${']'.repeat(1e5)}`,
    ])
      assert.deepEqual(extractJson(reply), { ok: false, reason: 'too_deep' });
  });

  test('keys that name a prototype are keys', () => {
    const found = extractJson('{"__proto__":{"polluted":true},"constructor":1}');
    assert.ok(found.ok);
    assert.deepEqual(Object.keys(found.value as object), ['__proto__', 'constructor']);
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });

  slow('linear, whatever the text holds', () => {
    const fill = (piece: string, size = 1_000_000): string => piece.repeat(Math.ceil(size / piece.length));
    const shapes = ['{', '[', '{"a":', '{a} ', '{"a":01} ', '{"a":"\\x"} ', '{} x', '"', '\\', '`', 'x ', `${FENCE}\n`];
    for (const shape of shapes) ends(shape, () => extractJson(`x${fill(shape)}`));
    ends('one long number', () => extractJson(`{"a":${fill('1')}}`));
    ends('one long list', () => extractJson(`{"a":[${fill('1,')}1]}`));
    ends('blanks before a fence', () => extractJson(`x${fill(' ')}${FENCE}`));
    ends('fences that hold the beginning of an object', () => extractJson(fill(`${FENCE}\n{\n`)));
    ends('2 MB of one string', () => extractJson(`{"a":"${fill('x', 2_000_000)}"}`));
    ends('2 MB of braces', () => extractJson(`x ${fill('{', 2_000_000)}`));
    ends('2 MB of prose', () => extractJson(fill('prose {and} ', 2_000_000)));
  });

  test('any value in any prose is found again, any beginning of it is not', () => {
    const prose = fc.string({ maxLength: 40 }).map((text) => text.replace(/[{`"]/g, ''));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), prose, prose, fc.nat(), (value, before, after, at) => {
        const json = JSON.stringify(value);
        assert.deepEqual(extractJson(`${before}${json}${after}`), { ok: true, value: JSON.parse(json) });
        const cut = `${before}${json.slice(0, 1 + (at % (json.length - 1)))}`;
        assert.deepEqual(extractJson(cut), { ok: false, reason: 'truncated' });
      }),
      { numRuns: runs(500) },
    );
  });

  test('no text makes it throw', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      ':',
      ',',
      '1',
      'true',
      'x',
      ' ',
      '\n',
      FENCE,
      '{"a":1}',
      '\ud800',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const found = extractJson(pieces.join(''));
        assert.equal(typeof found.ok, 'boolean');
      }),
      { numRuns: runs(2_000) },
    );
  });
});
