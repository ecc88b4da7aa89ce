import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseSkill } from '#mind/skills/format/parse-skill.ts';
import { readHeader, readNeeds, relatedSkills } from '#mind/skills/format/read-header.ts';

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
