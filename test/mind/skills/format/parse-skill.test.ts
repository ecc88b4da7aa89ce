import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseSkill } from '#mind/skills/format/parse-skill.ts';
import { verifies } from '../../../verifies.ts';

const data = process.env.TALARIA_DATA;

function fields(header: string): Record<string, unknown> {
  const parsed = parseSkill(`---\n${header}\n---\nbody`);
  assert.ok(parsed.ok, JSON.stringify(parsed));
  assert.equal(parsed.body, 'body');
  return { ...parsed.frontmatter };
}

function reason(text: string): string {
  const parsed = parseSkill(text);
  assert.ok(!parsed.ok, JSON.stringify(parsed));
  assert.ok(parsed.detail.length > 20);
  return parsed.reason;
}

describe('parseSkill', () => {
  verifies('core:skills:front-matter', 'reads fields and body, whatever the editor left around them', () => {
    const expected = { ok: true, frontmatter: { name: 'a', description: 'b' }, body: '# A\n\ntext\n' };
    const plain = '---\nname: a\ndescription: b\n---\n# A\n\ntext\n';
    const variants = {
      plain,
      'byte order mark': `\uFEFF${plain}`,
      'Windows line ends': plain.replaceAll('\n', '\r\n'),
      'old Mac line ends': plain.replaceAll('\n', '\r'),
      'blank lines first': `\n \n${plain}`,
      'long fences': plain.replaceAll('---', '-----'),
      'blanks after the fences': plain.replaceAll('---', '--- \t'),
      'yaml named': plain.replace('---', '---yaml'),
      'dots close': plain.replace('\n---\n', '\n...\n'),
      'comment before': `<!-- made\nby hand -->\n${plain}`,
    };
    for (const [name, text] of Object.entries(variants)) assert.deepEqual(parseSkill(text), expected, name);
  });

  test('unquoted text keeps its colons, hashes, brackets, quotes and marks', () => {
    const texts = [
      'Use this: when asked to "do: it"',
      'C#: and F#, see: notes',
      '[BETA] Does things: many',
      '{curly} prose: yes',
      '@scope/package: tools',
      '`code`: first',
      '*bold* and: more',
      '&and so: on',
      '%percent: x',
      '"quoted" and then not',
      "'It's torn: apart",
      'key: value: another',
      '- dash: first',
      '| piped: text',
      '> quoted: text',
      'ends with a colon:',
    ];
    for (const text of texts) {
      const read = fields(`name: a\ndescription: ${text}\nlicense: MIT`);
      assert.equal(read.description, text, text);
      assert.equal(read.license, 'MIT', text);
    }
  });

  test('a quote that is never closed goes', () => {
    assert.equal(fields('name: a\ndescription: "Use this: when').description, 'Use this: when');
  });

  test('one broken field spoils no other, at any depth', () => {
    const read = fields(
      'name: a\ndescription: x\ntags: [a, b\nmetadata:\n\tauthor: me: myself\n\thermes:\n\t  tags: [x, y]\n\t  note: it is: so',
    );
    assert.equal(read.tags, '[a, b');
    assert.deepEqual(read.metadata, { author: 'me: myself', hermes: { tags: ['x', 'y'], note: 'it is: so' } });
  });

  test('wrapped text is joined, indented or not', () => {
    assert.equal(
      fields('name: a\ndescription: Use this\n  when: asked\n  twice').description,
      'Use this when: asked twice',
    );
    assert.equal(fields('name: a\ndescription: Use it\nfor: x\nor else').for, 'x or else');
    assert.equal(fields('name: a\ndescription: >-\n  folded: text\n  more').description, 'folded: text more');
  });

  test('lists with colons stay lists', () => {
    assert.deepEqual(fields('name: a\ntriggers:\n- say: hello\n- "torn" quote: x\n- plain').triggers, [
      { say: 'hello' },
      '"torn" quote: x',
      'plain',
    ]);
  });

  test('numbers that would change by reading stay as written', () => {
    assert.deepEqual(fields('a: 1.10\nb: 007\nc: 12345678901234567890\nd: 2\ne: 0.5\nf: 2024-01-02\ng: true'), {
      ...{ a: '1.10', b: '007', c: '12345678901234567890', d: 2, e: 0.5, f: '2024-01-02', g: true },
    });
  });

  test('a missing closing fence is mended where the header plainly ends', () => {
    for (const rest of ['\n# Title\n', '\n\nProse begins.\n', '\nProse begins at once.\n']) {
      const parsed = parseSkill(`---\nname: a\ndescription: b${rest}`);
      assert.ok(parsed.ok, rest);
      assert.deepEqual(parsed.frontmatter, { name: 'a', description: 'b' }, rest);
      assert.equal(parsed.body.trim(), rest.trim());
    }
    assert.equal(reason('---\nOnly prose under a rule.\n'), 'unclosed-front-matter');
  });

  test('what is no skill is refused by name', () => {
    assert.equal(reason('# Title\n\ntext'), 'no-front-matter');
    assert.equal(reason(''), 'no-front-matter');
    assert.equal(reason('---\n---\ntext'), 'empty-front-matter');
    assert.equal(reason('---\n# only a comment\n---\ntext'), 'empty-front-matter');
    assert.equal(reason('---\njust words\n---\ntext'), 'not-a-mapping');
    assert.equal(reason('---\n- a\n- b\n---\ntext'), 'not-a-mapping');
    assert.equal(reason(`---\nname: a\n---\n${'x'.repeat(100_001)}`), 'too-large');
  });

  test('front matter in a language is never run', () => {
    const bomb = 'module.exports = (() => { globalThis.ran = true; return {name: "a"}; })()';
    for (const language of ['js', 'javascript', 'coffee', 'json', 'toml'])
      assert.equal(reason(`---${language}\n${bomb}\n---\n`), 'foreign-front-matter');
    assert.equal('ran' in globalThis, false);
    assert.equal(typeof fields('name: !!js/function "function(){}"').name, 'string');
  });

  test('keys cannot reach the prototype and aliases cannot explode', () => {
    const read = fields('name: a\n__proto__: {polluted: 1}\nconstructor: x');
    assert.equal('polluted' in read, false);
    const laughs = Array.from({ length: 12 }, (_, at) =>
      at === 0 ? 'l0: &l0 [x, x]' : `l${at}: &l${at} [${`*l${at - 1},`.repeat(9)}]`,
    ).join('\n');
    assert.ok(JSON.stringify(fields(laughs)).length < 20_000);
    fields('a: &a [*a]\nname: b');
  });

  test('every skill of the sample parses', { skip: data ? false : 'skipped: set TALARIA_DATA' }, () => {
    const lines = readFileSync(join(data ?? '', 'data/skills-sample.jsonl'), 'utf8')
      .trim()
      .split('\n');
    assert.equal(lines.length, 58);
    for (const line of lines) {
      const { path, text } = JSON.parse(line) as { path: string; text: string };
      const parsed = parseSkill(text);
      assert.ok(parsed.ok, path);
      assert.equal(typeof parsed.frontmatter.name, 'string', path);
      assert.equal(typeof parsed.frontmatter.description, 'string', path);
      assert.ok(text.replaceAll('\r\n', '\n').endsWith(parsed.body), path);
    }
  });
});
