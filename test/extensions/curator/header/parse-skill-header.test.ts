import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseSkillHeader } from '#extensions/curator/header/parse-skill-header.ts';
import { verifies } from '../../../verifies.ts';

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
