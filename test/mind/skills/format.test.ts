/** SKILL.md read, judged and written. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { parseSkill } from '#mind/skills/format/parse-skill.ts';
import { readHeader, readNeeds, relatedSkills } from '#mind/skills/format/read-header.ts';
import { validateSkill } from '#mind/skills/format/validate-skill.ts';
import { type SkillFields, writeSkill } from '#mind/skills/format/write-skill.ts';
import { createTempHome, type TempHome } from '#testing/temp-home.ts';
import { verifies } from '../../verifies.ts';

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

const PLACE = { folder: 'from-folder', category: 'data', body: '# Title\n\nFirst prose line.\nSecond.' };

function frontmatter(header: string) {
  const parsed = parseSkill(`---\n${header}\n---\nbody`);
  assert.ok(parsed.ok);
  return parsed.frontmatter;
}

describe('readHeader', () => {
  test('reads the fields of hermes-agent where it keeps them', () => {
    const read = frontmatter(
      'name: git-style\ndescription: |\n  Two\n  lines\nversion: 1.10\nplatforms: [darwin, linux]\nmetadata:\n  hermes:\n' +
        '    tags: [git, workflow]\n    related_skills: [other]\n    requires_toolsets: [terminal]\n    requires_tools: terminal\n' +
        '    fallback_for_toolsets: [web]\n    fallback_for_tools: [web_search]\nwhen_to_use: On commits',
    );
    assert.deepEqual(readHeader(read, PLACE), {
      name: 'git-style',
      description: 'Two lines',
      category: 'data',
      tags: ['git', 'workflow'],
      whenToUse: 'On commits',
      version: '1.10',
      platforms: ['macos', 'linux'],
      requiresTools: ['terminal'],
      requiresToolsets: ['terminal'],
      fallbackForTools: ['web_search'],
      fallbackForToolsets: ['web'],
      environmentVariables: [],
    });
    assert.deepEqual(relatedSkills(read), ['other']);
  });

  test('falls back to the folder and the first prose', () => {
    const { name, description } = readHeader({ tags: 'a, b' }, PLACE);
    assert.deepEqual([name, description], ['from-folder', 'First prose line.']);
  });

  test('prose that YAML takes for a mapping or a list stays prose', () => {
    const description = (header: string) => readHeader(frontmatter(header), PLACE).description;
    assert.equal(description('name: a\ndescription:\n  Use when: asked twice'), 'Use when: asked twice');
    assert.equal(description('name: a\ndescription: [one, two]'), 'one, two');
    assert.equal(
      description('name: a\ndescription:\n  "Ask me". Goes with it: first,\n  then not'),
      '"Ask me". Goes with it: first, then not',
    );
  });

  test('lists come in every spelling', () => {
    for (const written of ['[a, "b"]', 'a, b', 'a b', '"[a, b"', '\n  - a\n  - b'])
      assert.deepEqual(readHeader(frontmatter(`tags: ${written}`), PLACE).tags, ['a', 'b'], written);
  });

  test('needs are read in the new and the old form, each variable once', () => {
    const read = frontmatter(
      'required_environment_variables:\n  - name: KEY\n    prompt: Your key\n    help: from the site\n    required_for: search\n  - OTHER\n' +
        'prerequisites:\n  env_vars: [KEY, OLD]\n  commands: [ffmpeg]\nrequired_credential_files:\n  - path: token.json\n  - b.json',
    );
    assert.deepEqual(readNeeds(read), {
      variables: [
        { name: 'KEY', prompt: 'Your key', help: 'from the site', requiredFor: 'search' },
        { name: 'OTHER' },
        { name: 'OLD' },
      ],
      credentialFiles: ['token.json', 'b.json'],
      commands: ['ffmpeg'],
    });
    assert.deepEqual(readHeader(read, PLACE).environmentVariables, ['KEY', 'OTHER', 'OLD']);
  });

  test('nonsense in any field is survived', () => {
    const nonsense = [null, 0, true, [], {}, [null, {}, []], { a: { b: 1 } }, ''];
    for (const value of nonsense) {
      const fields = ['name', 'description', 'tags', 'platforms', 'metadata', 'prerequisites', 'version'];
      for (const field of [...fields, 'required_environment_variables', 'required_credential_files'])
        assert.equal(typeof readHeader({ [field]: value }, PLACE).name, 'string', field);
      readNeeds({ prerequisites: { env_vars: value, commands: value }, required_credential_files: value });
      readHeader({ metadata: { hermes: value } }, PLACE);
    }
  });
});

const writeAndValidateData = process.env.TALARIA_DATA;
const GOOD: SkillFields = {
  name: 'csv-import',
  description: 'Import CSV: clean, check, load.',
  body: '# CSV\n\n1. Read.',
};

function rules(home: TempHome, folder: string, text: string | Uint8Array): readonly string[] {
  mkdirSync(join(home.path, folder), { recursive: true });
  writeFileSync(join(home.path, folder, 'SKILL.md'), text);
  const { valid, findings } = validateSkill(join(home.path, folder));
  assert.equal(valid, findings.length === 0);
  for (const finding of findings) assert.ok(finding.message.length > 5 && finding.fix.length > 5, finding.rule);
  return findings.map(({ rule, field }) => (field === undefined ? rule : `${field} ${rule}`));
}

describe('writeSkill', () => {
  verifies('core:skills:portable', 'what it writes is valid elsewhere and reads back equal', (t) => {
    const home = createTempHome(t);
    const awkward = [
      'yes',
      '1.0',
      'a: b',
      '# x',
      '- x',
      '"q"',
      "it's",
      '[x]',
      '{y}',
      '@z',
      'ü – 漢字',
      'null',
      '~',
      'x:',
    ];
    for (const text of awkward) {
      const fields: SkillFields = {
        ...GOOD,
        description: text,
        license: text,
        compatibility: text,
        allowedTools: 'Bash(git:*) Read',
        metadata: { version: '1.10', author: text },
        hermes: { tags: ['a: b', text], requires_toolsets: ['terminal'], platforms: [] },
      };
      const written = writeSkill(fields);
      assert.ok(written.ok);
      assert.deepEqual(rules(home, 'csv-import', written.value), [], text);
      const parsed = parseSkill(written.value);
      assert.ok(parsed.ok);
      assert.deepEqual(parsed.frontmatter, {
        name: 'csv-import',
        description: text,
        license: text,
        compatibility: text,
        'allowed-tools': 'Bash(git:*) Read',
        metadata: { version: '1.10', author: text, hermes: { tags: ['a: b', text], requires_toolsets: ['terminal'] } },
      });
      assert.equal(parsed.body.trim(), '# CSV\n\n1. Read.');
    }
  });

  test('refuses what a reader could not load, by reason', () => {
    const reason = (fields: Partial<SkillFields>, longestDescription?: number) => {
      const written = writeSkill({ ...GOOD, ...fields }, longestDescription);
      return written.ok ? 'written' : written.reason;
    };
    for (const name of ['', 'A', 'a_b', 'a.b', '-a', 'a-', 'a--b', '../a', 'a/b', 'a b', 'ä', 'x'.repeat(65)])
      assert.equal(reason({ name }), 'invalid-name', name);
    assert.equal(reason({ name: 'x'.repeat(64) }), 'written');
    assert.equal(reason({ description: ' ' }), 'invalid-skill');
    assert.equal(reason({ description: 'x'.repeat(60) }, 60), 'written');
    assert.equal(reason({ description: 'x'.repeat(61) }, 60), 'description-too-long');
    assert.equal(reason({ description: 'x'.repeat(1_025) }), 'description-too-long');
    assert.equal(reason({ compatibility: 'x'.repeat(501) }), 'invalid-skill');
    assert.equal(reason({ body: '\n' }), 'invalid-skill');
    assert.equal(reason({ body: 'x'.repeat(100_000) }), 'too-large');
  });
});

describe('validateSkill', () => {
  test('names every breach of agentskills.io', (t) => {
    const home = createTempHome(t);
    const skill = (header: string) => `---\n${header}\n---\nbody\n`;
    const check = (folder: string, header: string) => rules(home, folder, skill(header));
    assert.deepEqual(check('a-b1', 'name: a-b1\ndescription: d'), []);
    assert.deepEqual(check('größe', 'name: größe\ndescription: d'), []);
    assert.deepEqual(check('123', 'name: 123\ndescription: d'), []);
    assert.deepEqual(check('a', 'description: d'), ['name name-missing']);
    assert.deepEqual(check('a', 'name:\ndescription: d'), ['name name-empty']);
    assert.deepEqual(check('a', 'name: [a]\ndescription: d'), ['name name-empty']);
    assert.deepEqual(check('a', 'name: a'), ['description description-missing']);
    assert.deepEqual(check('a', 'name: a\ndescription: ""'), ['description description-empty']);
    assert.deepEqual(check('a', `name: a\ndescription: ${'d'.repeat(1_025)}`), ['description description-too-long']);
    assert.deepEqual(check('b', 'name: a\ndescription: d'), ['name name-folder']);
    assert.deepEqual(check('A', 'name: A\ndescription: d'), ['name name-case']);
    assert.deepEqual(check('-a', 'name: -a\ndescription: d'), ['name name-hyphens']);
    assert.deepEqual(check('a--b', 'name: a--b\ndescription: d'), ['name name-hyphens']);
    assert.deepEqual(check('a_b', 'name: a_b\ndescription: d'), ['name name-characters']);
    const long = 'x'.repeat(65);
    assert.deepEqual(check(long, `name: ${long}\ndescription: d`), ['name name-too-long']);
    const base = 'name: a\ndescription: d';
    assert.deepEqual(check('a', `${base}\nversion: 1`), ['version unknown-field']);
    assert.deepEqual(check('a', `${base}\ncompatibility: ${long.repeat(8)}`), ['compatibility compatibility-too-long']);
    assert.deepEqual(check('a', `${base}\ncompatibility: [x]`), ['compatibility compatibility-kind']);
    assert.deepEqual(check('a', `${base}\nmetadata: x`), ['metadata metadata-kind']);
    assert.deepEqual(check('a', `${base}\nallowed-tools: {a: b}`), ['allowed-tools allowed-tools-kind']);
    assert.deepEqual(check('a', `${base}\nallowed-tools: [Read, Write]\nmetadata: {a: b}\nlicense: MIT`), []);
    assert.deepEqual(check('a', 'name: a\ndescription: use: it'), ['invalid-yaml']);
    assert.deepEqual(check('a', `${base}\nname: a`), ['invalid-yaml']);
    assert.deepEqual(rules(home, 'a', `---\n${base}\n\n# body`), ['fences']);
    assert.deepEqual(rules(home, 'a', 'body'), ['no-front-matter']);
    assert.deepEqual(rules(home, 'a', `---js\n${base}\n---\n`), ['foreign-front-matter']);
    assert.deepEqual(rules(home, 'a', new Uint8Array([0x2d, 0xff, 0xfe])), ['not-utf-8']);
  });

  test('a folder without the file, and no folder at all', (t) => {
    const home = createTempHome(t);
    assert.equal(validateSkill(join(home.path, 'absent')).findings[0]?.rule, 'no-skill-file');
    assert.equal(validateSkill(home.path).findings[0]?.rule, 'no-skill-file');
    assert.equal(validateSkill(home.write('file', 'x')).findings[0]?.rule, 'no-folder');
    home.write('low/skill.md', '---\nname: low\ndescription: d\n---\n');
    assert.equal(validateSkill(join(home.path, 'low')).valid, true);
  });

  test('the sample: most are valid, and what is not breaks a rule that can be seen', {
    skip: writeAndValidateData ? false : 'skipped: set TALARIA_DATA',
  }, (t) => {
    const home = createTempHome(t);
    const lines = readFileSync(join(writeAndValidateData ?? '', 'data/skills-sample.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const broken = lines.flatMap((line) => {
      const { path, text } = JSON.parse(line) as { path: string; text: string };
      const found = rules(home, basename(dirname(path)), text);
      return found.length > 0 ? [`${path}: ${found.join(', ')}`] : [];
    });
    assert.ok(broken.length < lines.length / 4, broken.join('\n'));
  });
});
