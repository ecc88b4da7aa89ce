/** skills_list and skill_view as a model meets them. */
import assert from 'node:assert/strict';
import { chmodSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import type { Tool } from '#core/agent/tool.ts';
import { functionSchema } from '#core/tools/registry/tool-schema.ts';
import { createSkillViewTool } from '#mind/skills/tools/skill-view-tool.ts';
import { createSkillsListTool } from '#mind/skills/tools/skills-list-tool.ts';
import { toolContract } from '../../../contract/tool.contract.ts';
import { verifies } from '../../../verifies.ts';
import { createSkillHome, HERE, toolContext } from '../skill-home.ts';

type Call = (tool: 'list' | 'view', input: JsonObject) => Promise<JsonObject>;

function desk(t: TestContext, environment: Readonly<Record<string, string>> = {}) {
  const made = createSkillHome(t);
  const library = made.open();
  const conditions = () => HERE;
  const surroundings = { environment: (name: string) => environment[name], credentialFolder: made.home.path };
  const tools = {
    list: createSkillsListTool({ library, conditions }),
    view: createSkillViewTool({ library, conditions, ...surroundings }),
  };
  const call: Call = async (name, input) => {
    const tool = tools[name] as unknown as Tool;
    const output = await tool.run(tool.input.parse(input), toolContext(made.home.path), new AbortController().signal);
    const answer = parseJsonObject(output.text);
    assert.ok(answer.ok, output.text);
    assert.equal(output.isError === true, answer.value.success === false);
    return answer.value;
  };
  return { ...made, tools, call };
}

describe('skills_list', () => {
  verifies(
    'core:skills:list',
    'names what is offered, of all or of one category, and nothing of the bodies',
    async (t) => {
      const { skill, call } = desk(t);
      assert.deepEqual(await call('list', {}), {
        ...{ success: true, skills: [], categories: [], count: 0, hint: 'There are no skills yet.' },
      });
      skill('data/csv', 'name: csv\ndescription: Imports CSV', 'SECRET BODY');
      skill('data/deep/json');
      skill('git');
      skill('mac', 'name: mac\ndescription: d\nplatforms: [macos]');
      const all = await call('list', {});
      assert.deepEqual(all, {
        success: true,
        skills: [
          { name: 'csv', description: 'Imports CSV', category: 'data' },
          { name: 'git', description: 'Does git', category: '' },
          { name: 'json', description: 'Does json', category: 'data/deep' },
        ],
        categories: ['data', 'data/deep'],
        count: 3,
        hint: 'skill_view(name) shows a skill whole.',
      });
      assert.equal((await call('list', { category: 'data' })).count, 2);
      assert.equal((await call('list', { category: 'data/deep' })).count, 1);
      const none = await call('list', { category: 'dat' });
      assert.equal(none.count, 0);
      assert.ok(String(none.hint).includes('category'));
    },
  );

  verifies('core:skills:list-limits', 'cuts names at 64 and descriptions at 1,024 characters', async (t) => {
    const { skill, call } = desk(t);
    skill('long', `name: ${'n'.repeat(80)}\ndescription: ${'d'.repeat(2_000)}`);
    skill('full', `name: ${'m'.repeat(64)}\ndescription: ${'e'.repeat(1_024)}`);
    const { skills } = (await call('list', {})) as unknown as { skills: { name: string; description: string }[] };
    assert.deepEqual(skills, [
      { name: 'm'.repeat(64), description: 'e'.repeat(1_024), category: '' },
      { name: `${'n'.repeat(63)}…`, description: `${'d'.repeat(1_023)}…`, category: '' },
    ]);
  });
});

describe('skill_view', () => {
  verifies('core:skills:view-body', 'shows the whole SKILL.md with what belongs to it', async (t) => {
    const { skill, call, home, root } = desk(t);
    const header =
      'name: csv\ndescription: Imports CSV\nmetadata:\n  version: "1.0"\n  hermes:\n    tags: [data, csv]\n    related_skills: [json]';
    const body = 'Run ${HERMES_SKILL_DIR}/scripts/go.sh for ${HERMES_SESSION_ID}, not ${HOME}.';
    skill('data/csv', header, body);
    home.write('skills/data/csv/scripts/go.sh', 'echo');
    const folder = join(root, 'data/csv');
    assert.deepEqual(await call('view', { name: 'csv' }), {
      success: true,
      name: 'csv',
      description: 'Imports CSV',
      tags: ['data', 'csv'],
      related_skills: ['json'],
      content: `---\n${header}\n---\nRun ${folder}/scripts/go.sh for session-1, not \${HOME}.`,
      path: 'data/csv/SKILL.md',
      skill_dir: folder,
      linked_files: { scripts: ['scripts/go.sh'] },
      usage_hint: 'skill_view(name, file_path) shows a linked file, e.g. scripts/go.sh',
      required_environment_variables: [],
      required_commands: [],
      missing_required_environment_variables: [],
      missing_required_commands: [],
      missing_credential_files: [],
      setup_needed: false,
      readiness_status: 'available',
      metadata: { version: '1.0', hermes: { tags: ['data', 'csv'], related_skills: ['json'] } },
    });
  });

  verifies('core:skills:view-file', 'shows one named file, or which files there are', async (t) => {
    const { skill, call, home } = desk(t);
    skill('csv');
    home.write('skills/csv/references/api.md', '# API');
    assert.deepEqual(await call('view', { name: 'csv', file_path: 'references/api.md' }), {
      ...{ success: true, name: 'csv', file: 'references/api.md', content: '# API' },
    });
    const missing = await call('view', { name: 'csv', file_path: 'references/none.md' });
    assert.equal(missing.reason, 'no-such-file');
    assert.deepEqual(missing.available_files, { references: ['references/api.md'] });
  });

  verifies('core:skills:view-no-escape', 'refuses a path that leaves the folder', async (t) => {
    const { skill, call, home } = desk(t);
    skill('csv');
    home.write('secret.txt', 'secret');
    for (const path of ['../../secret.txt', join(home.path, 'secret.txt'), '../csv/../../secret.txt']) {
      const answer = await call('view', { name: 'csv', file_path: path });
      assert.equal(answer.reason, 'outside-folder', path);
      assert.ok(!JSON.stringify(answer).includes('"secret"'));
    }
  });

  verifies(
    'core:skills:environment-prerequisites',
    'says which variables, commands and files are missing, never a value',
    async (t) => {
      const { skill, call, home } = desk(t, { HAVE: 'value-of-have', PATH: '' });
      const header =
        'name: web\ndescription: d\nrequired_environment_variables:\n  - name: HAVE\n  - name: LACK\n    prompt: Your key\n    help: see site\n    required_for: search\n' +
        'prerequisites:\n  env_vars: [OLD]\n  commands: [ffmpeg, ../sh]\nrequired_credential_files: [token.json, other.json]';
      skill('web', header);
      home.write('token.json', '{}');
      const answer = await call('view', { name: 'web' });
      assert.deepEqual(answer.required_environment_variables, [
        { name: 'HAVE' },
        { name: 'LACK', prompt: 'Your key', help: 'see site', required_for: 'search' },
        { name: 'OLD' },
      ]);
      assert.deepEqual(answer.missing_required_environment_variables, ['LACK', 'OLD']);
      assert.deepEqual(answer.missing_required_commands, ['ffmpeg', '../sh']);
      assert.deepEqual(answer.missing_credential_files, ['other.json']);
      assert.deepEqual([answer.setup_needed, answer.readiness_status], [true, 'setup_needed']);
      assert.ok(!JSON.stringify(answer).includes('value-of-have'));
    },
  );

  test('finds commands on the path that it is given', async (t) => {
    const environment: Record<string, string> = {};
    const { skill, call, home } = desk(t, environment);
    environment.PATH = `/nowhere:${join(home.path, 'bin')}`;
    chmodSync(home.write('bin/ffmpeg', '#!/bin/sh'), 0o755);
    skill('video', 'name: video\ndescription: d\nprerequisites: {commands: [ffmpeg]}');
    assert.equal((await call('view', { name: 'video' })).readiness_status, 'available');
  });

  test('an unknown name, a foreign platform and a file that is no text any more are answers', async (t) => {
    const { skill, call, root } = desk(t);
    skill('csv-import');
    skill('mac', 'name: mac\ndescription: d\nplatforms: [macos]');
    const unknown = await call('view', { name: 'CSV' });
    assert.deepEqual([unknown.reason, unknown.available_skills], ['no-such-skill', ['csv-import']]);
    const foreign = await call('view', { name: 'mac' });
    utimesSync(root, 1_700_000_000, 1_700_000_000);
    await call('list', {});
    writeFileSync(join(root, 'csv-import/SKILL.md'), Buffer.from([0xff, 0]));
    assert.equal((await call('view', { name: 'csv-import' })).reason, 'not-text');
    assert.deepEqual([foreign.reason, foreign.readiness_status], ['unsupported-platform', 'unsupported']);
  });

  test('a skill that is written in mid-session can be viewed', async (t) => {
    const { skill, call } = desk(t);
    await call('list', {});
    skill('new');
    assert.equal((await call('view', { name: 'new' })).success, true);
  });
});

describe('reading tools of skills', () => {
  test('their schemas cost at most 110 tokens', (t) => {
    const { tools } = desk(t);
    const wire = Object.values(tools).map((tool) => ({ type: 'function', function: functionSchema(tool) }));
    assert.ok(countTokens(JSON.stringify(wire)) <= 110, String(countTokens(JSON.stringify(wire))));
  });

  for (const name of ['list', 'view'] as const) {
    let end: () => void = () => undefined;
    toolContract(name === 'list' ? 'skills_list' : 'skill_view', () => {
      const ends: (() => void)[] = [];
      const context = { after: (run: () => void) => ends.push(run) } as unknown as TestContext;
      const { tools, skill, home } = desk(context);
      skill('csv');
      end = () => {
        for (const run of ends.reverse()) run();
      };
      return {
        tool: tools[name],
        context: () => toolContext(home.path),
        good: () => (name === 'list' ? {} : { name: 'csv' }),
        ...(name === 'view' ? { hopeless: () => ({ name: 'nothing' }) } : {}),
        close: async () => end(),
      };
    });
  }
});
