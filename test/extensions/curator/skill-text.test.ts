import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { roundHalfEven } from '#base/round-half-even.ts';
import { caseFold, codeLength, comparePoints, cutPoints, firstPoints } from '#base/text/code-points.ts';
import { classifySource, parseSkillHeader, type SourceQuestion } from '#extensions/curator/block/skill-source.ts';
import { expandTemplate } from '#extensions/curator/block/upstream.ts';
import { decimalValue } from '#extensions/curator/mine.ts';
import { matchesGlob } from '#extensions/curator/run/run-flags.ts';
import { dumpJson, epochOf, inlineText, timeStamp } from '#extensions/curator/text.ts';
import { verifies } from '../../verifies.ts';

describe('text as the original counts it', () => {
  test('lengths, cuts and order are those of code points', () => {
    assert.deepEqual([codeLength('a😀b'), codeLength('\ud83d'), codeLength('')], [3, 1, 0]);
    assert.deepEqual([firstPoints('😀😀a', 2), firstPoints('ab', 5)], ['😀😀', 'ab']);
    assert.deepEqual([cutPoints('😀😀😀', 3), cutPoints('😀😀😀', 2), cutPoints('abc', 2)], ['😀😀😀', '😀…', 'a…']);
    assert.deepEqual(['😀', '\uffff', 'a', 'ab', ''].sort(comparePoints), ['', 'a', 'ab', '\uffff', '😀']);
  });

  test('the length is that of the list of code points, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        assert.equal(codeLength(text), [...text].length);
        assert.equal(codeLength(cutPoints(text, 5)), Math.min(5, codeLength(text)));
      }),
    );
  });

  test('rounding keeps an exact half at the even digit', () => {
    const cases: readonly (readonly [value: number, digits: number, expected: number])[] = [
      [1 / 32, 4, 0.0312],
      [3 / 32, 4, 0.0938],
      [2 / 3, 4, 0.6667],
      [1, 4, 1],
      [0, 4, 0],
      [2.5, 0, 2],
      [-0.125, 2, -0.12],
      [2.675, 2, 2.67],
    ];
    for (const [value, digits, expected] of cases) assert.equal(roundHalfEven(value, digits), expected);
  });

  test('patterns are those of the shell, without regard to case', () => {
    const cases: readonly (readonly [name: string, pattern: string, expected: boolean])[] = [
      ['hermes-x', 'hermes-*', true],
      ['Hermes-X', 'hermes-*', true],
      ['hermes', 'hermes-*', false],
      ['a.b', 'a?b', true],
      ['a', '[!b]', true],
      ['b', '[a-c]', true],
      [']', '[]]', true],
      ['[a', '[a', true],
      ['a', '[^a]', true],
      ['^', '[^a]', true],
      ['b', '[^a]', false],
      ['b', '[!a-c]', false],
      ['a]', '[!b]]', true],
      ['-', '[a-]', true],
      ['b', '[c-a]', false],
      ['a', '[]', false],
      ['', '*', true],
      ['', '', true],
      ['a\nb', 'a?b', true],
      ['😀', '?', true],
      ['a*', 'a[*]', true],
      ['ab', 'a[*]', false],
      ['straße', 'STRASSE', true],
      ['aXbXc', 'a*b*c', true],
      ['a'.repeat(3000), `${'*a'.repeat(50)}b`, false],
    ];
    for (const [name, pattern, expected] of cases) assert.equal(matchesGlob(name, pattern), expected, pattern);
    assert.deepEqual(['ẞ', 'ς', 'İ', 'ı', 'K', 'Ꭰ', 'ꭰ', 'ﬁ'].map(caseFold), [
      'ss',
      'σ',
      'i\u0307',
      'ı',
      'k',
      'Ꭰ',
      'Ꭰ',
      'fi',
    ]);
  });

  test('times are whole seconds in UTC', () => {
    const expected = { iso: '2026-05-20T01:02:03+00:00', file: '20260520-010203' };
    for (const now of [
      '2026-05-20T01:02:03Z',
      '2026-05-20T01:02:03.999999+00:00',
      '2026-05-20 01:02:03',
      '2026-05-20T03:02:03+02:00',
      1_779_238_923_000,
      1_779_238_923,
    ])
      assert.deepEqual(timeStamp(now), expected);
    assert.throws(() => epochOf('soon'), TypeError);
    assert.throws(() => epochOf(Number.NaN), TypeError);
  });

  test('a replaced template knows the escapes of the original and leaves what it would have refused', () => {
    assert.equal(expandTemplate('C:\\new\\tab', ''), 'C:\new\tab');
    assert.equal(expandTemplate('a\\\\b \\. \\101 \\0', ''), 'a\\b \\. A \0');
    assert.equal(expandTemplate('<\\g<0>>\\g<0>', 'o\\ld'), '<o\\ld>o\\ld');
    assert.equal(expandTemplate('\\07\\377\\-\\\n', ''), '\u0007\u00ff\\-\\\n');
    for (const refused of ['C:\\dir', '\\1', 'x\\', '\\g<name>', '\\x41', '\\400', '\\g<1>'])
      assert.equal(expandTemplate(refused, ''), refused);
  });

  test('a number has its value in the digits of every script', () => {
    assert.deepEqual(['90000', '９００００', '٩٠', '\u{1d7d8}\u{1d7e2}\u{1d7f5}'].map(decimalValue), [
      90_000,
      90_000,
      90,
      9 - 9 + 9,
    ]);
  });

  test('JSON is printed with sorted keys and its characters as they are', () => {
    assert.equal(dumpJson({ b: [1, 'é'], a: {} }), '{\n  "a": {},\n  "b": [\n    1,\n    "é"\n  ]\n}');
  });

  test('no text stays harmful on one line, and a harmless one stays', () => {
    assert.equal(inlineText('plain: (words) `code` <b> → 日本 😀'), 'plain: (words) `code` <b> → 日本 😀');
    assert.equal(inlineText('a\r\nb\u2028c\0d\u200be\u202ef'), 'a b c def');
    assert.equal(
      inlineText('<!-- curator-evolver:auto:end --> ```` ~~~ --!>'),
      "<! -- curator-evolver auto:end - -> ''' ~~ -- !>".replace('-- !>', '- -!>'),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const once = inlineText(text);
        assert.equal(inlineText(once), once);
        assert.doesNotMatch(once, /[\n\r\0\u2028]|```|~~~|<!--|-->/);
      }),
    );
  });
});

const upstream = { compat: 'upstream' } as const;
const skill = (header: string) => `---\n${header}\n---\nbody\n`;

describe('the header of a skill', () => {
  test('gives name, description and fields', () => {
    const text = skill('name: "csv"\ndescription: Reads CSV.');
    const expected = {
      name: 'csv',
      description: 'Reads CSV.',
      pinned: false,
      frontmatter: { name: 'csv', description: 'Reads CSV.' },
    };
    assert.deepEqual(parseSkillHeader(text), expected);
    assert.deepEqual(parseSkillHeader(text, upstream), expected);
    assert.equal(parseSkillHeader('no header'), null);
    assert.equal(parseSkillHeader(skill('a: 1'))?.name, null);
  });

  test('the original wants it at the first byte and a line end behind it', () => {
    for (const text of ['\n---\nname: x\n---\n', '---\nname: x\n---', '---\nname: x\n'])
      assert.equal(parseSkillHeader(text, upstream), null, text);
    assert.equal(parseSkillHeader('---\nname: x\n---')?.name, 'x');
    assert.equal(parseSkillHeader(`---\nname: x\npinned: true\n---\n${'x'.repeat(120_000)}`)?.pinned, true);
  });

  verifies('curator:source:pinned-forms', 'a pin is honoured in every spelling, by the original in few', () => {
    const both = ['pinned: true', 'pin: yes', 'pinned: TRUE', 'pin: 1'];
    const oursOnly = [
      'pinned: on',
      'pinned: "true"',
      'metadata:\n  pinned: true',
      'metadata:\n  hermes:\n    pinned: true',
      'pinned: true # mine',
    ];
    const neither = ['pinned: false', 'pins: true', 'note: pinned', 'pinned: 2'];
    const pins = (header: string) =>
      [{}, upstream].map((options) => parseSkillHeader(skill(`name: x\n${header}`), options)?.pinned);
    for (const header of both) assert.deepEqual(pins(header), [true, true], header);
    for (const header of oursOnly) assert.deepEqual(pins(header), [true, false], header);
    for (const header of neither) assert.deepEqual(pins(header), [false, false], header);
  });

  test('any text is read without a fault', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        parseSkillHeader(skill(text));
        parseSkillHeader(skill(text), upstream);
      }),
    );
  });
});

const MINE: SourceQuestion = {
  path: '/h/skills/data/csv/SKILL.md',
  name: 'csv',
  home: '/h',
  bundled: 'git-flow:abc\n\n pdf : def\n',
  hub: { version: 1, installed: { 'from-hub': {} } },
  externalDirs: ['/ext/skills', 'skills', 'more'],
  createdBy: 'agent',
};

describe('the source of a skill', () => {
  verifies('curator:source:order', 'is decided in a fixed order', () => {
    const cases: readonly (readonly [Partial<SourceQuestion>, string])[] = [
      [{}, 'local-agent-created'],
      [{ path: '/ext/skills/git-flow/SKILL.md', name: 'git-flow' }, 'external-dir'],
      [{ path: '/h/more/x/SKILL.md' }, 'external-dir'],
      [{ externalDirs: '/h/skills/data' }, 'external-dir'],
      [{ name: 'git-flow' }, 'bundled'],
      [{ name: 'pdf', path: '/elsewhere/pdf/SKILL.md' }, 'bundled'],
      [{ name: 'from-hub' }, 'hub-installed'],
      [{ path: '/elsewhere/csv/SKILL.md' }, 'unknown'],
      [{ path: '/h/skills/../secrets/SKILL.md' }, 'unknown'],
      [{ path: '/h/skills-more/csv/SKILL.md' }, 'unknown'],
    ];
    for (const [change, expected] of cases) {
      assert.equal(classifySource({ ...MINE, ...change }), expected, JSON.stringify(change));
      assert.equal(classifySource({ ...MINE, ...change }, upstream), expected, JSON.stringify(change));
    }
  });

  verifies('curator:source:order', 'of ours needs the record of the agent, the original only the path', () => {
    for (const createdBy of ['owner', 'import', null]) {
      assert.equal(classifySource({ ...MINE, createdBy }), 'unknown');
      assert.equal(classifySource({ ...MINE, createdBy }, upstream), 'local-agent-created');
    }
    const { createdBy: _none, ...bare } = MINE;
    assert.equal(classifySource(bare), 'unknown');
    const renamed = { ...MINE, path: '/h/skills/git-flow/SKILL.md', name: 'my-flow' };
    assert.equal(classifySource(renamed), 'bundled');
    assert.equal(classifySource(renamed, upstream), 'local-agent-created');
  });

  verifies(
    'curator:source:corrupt-manifest',
    'is unknown when a manifest cannot be read; the original takes it for empty',
    () => {
      const broken: readonly Partial<SourceQuestion>[] = [
        { bundled: null },
        { bundled: '\0\0' },
        { hub: null },
        { hub: '{"installed": {' },
        { hub: { installed: [] } },
        { externalDirs: null },
        { externalDirs: { a: 1 } },
      ];
      for (const change of broken) {
        assert.equal(classifySource({ ...MINE, ...change }), 'unknown', JSON.stringify(change));
        assert.equal(classifySource({ ...MINE, ...change }, upstream), 'local-agent-created', JSON.stringify(change));
      }
      const { bundled: _b, hub: _h, externalDirs: _e, ...none } = MINE;
      assert.equal(classifySource(none), 'local-agent-created');
      assert.equal(classifySource({ ...MINE, bundled: [], hub: '{}' }), 'local-agent-created');
    },
  );
});
