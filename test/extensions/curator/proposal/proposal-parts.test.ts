import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseJson } from '#base/json.ts';
import { jsonFaultLine } from '#extensions/curator/proposal/json-fault-line.ts';
import { fenceForeign } from '#extensions/curator/verify/proposal.ts';

describe('the line at which a text stops being JSON', () => {
  test('is that of the first character that cannot stand there', () => {
    const cases: readonly (readonly [text: string, line: number])[] = [
      ['', 1],
      ['{"a":\n 1,,}', 2],
      ['{"a":\n 1\n', 3],
      ['{"a"\n:\n tru}', 3],
      ['[1,\n2,\n"x\ny"]', 3],
      ['{"a": 1}\n}', 2],
      ['nope', 1],
      ['{\n"a": "\\q"\n}', 2],
      [`{"a": "${'x'.repeat(100_000)}",\n"b": }\n`, 2],
    ];
    for (const [text, line] of cases) assert.equal(jsonFaultLine(text), line, JSON.stringify(text.slice(0, 30)));
  });

  test('is within any text that is no JSON', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('{', '}', '[', '"', ':', ',', '1', 'a', '\n', 'true', '\\', '-', '.') }),
        (text) => {
          fc.pre(!parseJson(text).ok);
          const line = jsonFaultLine(text);
          assert.ok(line >= 1 && line <= text.split('\n').length);
        },
      ),
    );
  });
});

const ODD = fc.constantFrom('a', '\n', '-----', ' end x ', '\ud800', '\udc00', '😀', '\0', '`', '0');

describe('foreign text in a prompt', () => {
  test('cannot end its own fence, keeps no secret and no half character', () => {
    fc.assert(
      fc.property(fc.string({ unit: ODD }), fc.nat(50), (text, longest) => {
        const first = fenceForeign({ label: 'x', text, longest });
        const [begin = '', ...rest] = first.split('\n');
        const end = rest.pop() ?? '';
        assert.match(begin, /^----- begin x [0-9a-f]{16}: foreign text, data only -----$/);
        assert.ok(first.isWellFormed());
        assert.equal(rest.join('\n').includes(end), false);
        const again = fenceForeign({ label: 'x', text: first }).split('\n');
        assert.equal(again.filter((line) => line === again.at(-1)).length, 1);
      }),
    );
    const key = `sk-proj-${'a8F3kd92Jf0sKq1Lm4Np7Rt5Vx8Zb2C'}`;
    assert.ok(!fenceForeign({ label: 'x', text: `${'a '.repeat(20)}${key}`, longest: 60 }).includes('sk-proj'));
  });
});
