/** SKILL.md in any state: the parser never throws, never runs anything, and what the writer writes is read back. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isLeftOut, parseIgnoreFile } from '#base/text/glob.ts';
import { readHeader, readNeeds, relatedSkills } from '#mind/skills/format/read-header.ts';
import { validateSkillText } from '#mind/skills/format/validate-skill.ts';
import { writeSkill } from '#mind/skills/format/write-skill.ts';
import { parseSkill } from '#public/skills.ts';
import { ends } from '../ends.ts';
import { runs } from '../property-runs.ts';
import { slow } from '../slow.ts';

/** What front matter is made of, right and wrong. */
const piece = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('name:', 'description:', 'metadata:', 'tags:', 'hermes:', '---', '...', '```'),
  },
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      ' ',
      '  ',
      '\t',
      '\n',
      '\r\n',
      '- ',
      ': ',
      ' #',
      '"',
      "'",
      '[',
      ']',
      '{',
      '}',
      ',',
      '|',
      '>',
      '>-',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('&a ', '*a', '!!js/function ', '<<: ', '? ', '@', '`', '%', '__proto__:', '\uFEFF'),
  },
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
);
const messy = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
const skillLike = fc.oneof(
  messy,
  messy.map((text) => `---\n${text}\n---\nbody`),
  messy.map((text) => `---\nname: a\ndescription: ${text}\n---\nbody`),
);

describe('SKILL.md, any text', () => {
  test('parsing gives plain data or a reason, and every reader of it survives', () => {
    fc.assert(
      fc.property(skillLike, (text) => {
        const parsed = parseSkill(text);
        validateSkillText(text, 'a');
        if (!parsed.ok) {
          assert.ok(parsed.detail.length > 0 && /^[a-z-]+$/.test(parsed.reason));
          return;
        }
        const { frontmatter, body } = parsed;
        assert.ok(Object.keys(frontmatter).length > 0);
        assert.deepEqual(JSON.parse(JSON.stringify(frontmatter)), { ...frontmatter });
        assert.equal(Object.getPrototypeOf({}).polluted, undefined);
        const header = readHeader(frontmatter, { folder: 'f', category: '', body });
        assert.ok(header.name.length > 0);
        readNeeds(frontmatter);
        relatedSkills(frontmatter);
      }),
      { numRuns: runs(1_500) },
    );
  });

  test('a description in one line comes out as it went in, quoted or not', () => {
    const prose = fc
      .array(fc.stringMatching(/^[A-Za-z0-9(),.;:'"#*[\]{}@%!?&|/-]{1,12}$/), { minLength: 2, maxLength: 12 })
      .map((words) => words.join(' '))
      // These mean something in YAML by themselves, which is then what the writer meant.
      .filter((text) => /^[A-Za-z]/.test(text) && !/ #|: |:$/.test(text));
    fc.assert(
      fc.property(prose, prose, (description, rest) => {
        const colon = `${description}: ${rest.replaceAll(' #', ' ')}`;
        for (const text of [description, colon]) {
          const parsed = parseSkill(`---\nname: a\ndescription: ${text}\nlicense: MIT\n---\n`);
          assert.ok(parsed.ok);
          assert.deepEqual({ ...parsed.frontmatter }, { name: 'a', description: text, license: 'MIT' });
        }
      }),
      { numRuns: runs(500) },
    );
  });

  test('writing and reading are inverse, and the result is valid elsewhere', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter((value) => value.trim() !== '');
    const key = fc.stringMatching(/^[a-z][a-z_-]{0,11}$/).filter((name) => name !== 'hermes');
    const fields = fc.record({
      name: fc.stringMatching(/^[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}$/),
      description: text,
      body: text.map((value) => `# Title\n\n${value}`),
      license: text,
      metadata: fc.dictionary(key, text, { maxKeys: 3, noNullPrototype: true }),
      hermes: fc.dictionary(key, fc.array(text, { minLength: 1, maxLength: 3 }), { maxKeys: 3, noNullPrototype: true }),
    });
    fc.assert(
      fc.property(fields, (made) => {
        const written = writeSkill(made);
        assert.ok(written.ok);
        assert.deepEqual(writeSkill(made), written);
        assert.deepEqual(validateSkillText(written.value, made.name), []);
        const parsed = parseSkill(written.value);
        assert.ok(parsed.ok);
        const { metadata = {}, ...top } = parsed.frontmatter as Record<string, Record<string, unknown>>;
        const flat = (value: string) => value.replace(/\s+/g, ' ').trim();
        const expected = { name: made.name, description: flat(made.description), license: flat(made.license) };
        assert.deepEqual({ ...top, name: String(top.name) }, expected);
        const { hermes = {}, ...plain } = metadata;
        assert.deepEqual([{ ...plain }, { ...(hermes as object) }], [made.metadata, made.hermes]);
      }),
      { numRuns: runs(300) },
    );
  });

  slow('long hostile texts take linear time', () => {
    const shapes: readonly ((size: number) => string)[] = [
      (size) => `---\nname: a\n${'- '.repeat(size / 2)}\n---\n`,
      (size) => `---\n${'['.repeat(size)}\n---\n`,
      (size) => `---\na: ${'{a: '.repeat(size / 4)}\n---\n`,
      (size) => `---\n${'a:\n '.repeat(size / 4)}\n---\n`,
      (size) =>
        `---\n${Array.from({ length: size / 40 }, (_, at) => `${' '.repeat(Math.min(at, 30))}k${at}:`).join('\n')}\n---\n`,
      (size) => `---\nname: "${'\\"'.repeat(size / 2)}\n---\n`,
      (size) => `---\nname: ${"'".repeat(size)}\n---\n`,
      (size) => `---\n${'name: a: b\n'.repeat(size / 11)}\n---\n`,
      (size) => '---\n'.repeat(size / 4),
      (size) => `${'<!--\n'.repeat(size / 5)}`,
      (size) => `---\n${'\t'.repeat(size)}x\n---\n`,
      (size) => `---\ndescription: ${'a #'.repeat(size / 3)}: b\n---\n`,
      (size) => `---\n${'? '.repeat(size / 2)}\n---\n`,
      (size) => `---\nx: |\n${'  y: z\n'.repeat(size / 7)}---\n`,
      (size) => `---\n${'&a '.repeat(size / 3)}\n---\n`,
    ];
    for (const [at, shape] of shapes.entries()) ends(`shape ${at}`, () => parseSkill(shape(40_000)));
  });

  test('ignore rules never throw and never stall', () => {
    const rule = fc.array(fc.constantFrom('*', '**', '**/', '/', 'a', '?', '!', '.', '[', '(', '+', '\\', '#'), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 5 }), (rules) => {
        const file = parseIgnoreFile(rules.map((parts) => parts.join('')).join('\n'));
        ends(rules.join('\n'), () => isLeftOut('a/'.repeat(50), file));
      }),
      { numRuns: runs(300) },
    );
  });
});
