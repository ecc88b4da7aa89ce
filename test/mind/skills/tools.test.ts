/** The tools skills_list, skill_view and skill_manage. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { countTokens, encode } from 'gpt-tokenizer/encoding/o200k_base';
import { sha256 } from '#base/ids.ts';
import { type JsonObject, parseJsonObject } from '#base/json.ts';
import { ok } from '#base/result.ts';
import type { ApprovalDecision, ApprovalRequest } from '#core/agent/approver.ts';
import { checkCall, permitCall, type ToolAccess } from '#core/agent/turn/permit-call.ts';
import { functionSchema } from '#core/tools/tool-registry.ts';
import type { Skill, SkillReader, SkillWrite } from '#mind/skills/skill.ts';
import { readSkillChange, skillManageInput } from '#mind/skills/skill-cards.ts';
import { createSkillRecords } from '#mind/skills/skill-records.ts';
import {
  createSkillManageTool,
  createSkillsListTool,
  createSkillViewTool,
  type OwnerSay,
} from '#mind/skills/skill-tools.ts';
import type { Tool, ToolContext, ToolOutput } from '#public/talaria.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { toolContract } from '../../contract/tool.contract.ts';
import { createStage } from '../../surfaces/app/app-fixture.ts';
import { verifies } from '../../verifies.ts';
import { createSkillHome, HERE, open, openDoor, skillText, toolContext } from './skill-bench.ts';

/** skills_list and skill_view as a model meets them. */

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

/** skill_manage as a model meets it: answers as JSON, refusals that let it go on, and what the owner is asked before. */

const quiet = new AbortController().signal;

function surroundings(opened: Pick<ReturnType<typeof open>, 'home' | 'clock'>): ToolContext {
  return {
    sessionId: 's1',
    callId: 'c1',
    cwd: opened.home,
    spillFolder: opened.home,
    clock: opened.clock,
    asker: { ask: async () => ({ ok: false, reason: 'nobody-there', detail: '' }) },
    history: () => [],
    progress: () => undefined,
    redact: (text) => text,
  };
}

/** What the tool looks at of a skill, as the disk has it. */
function diskReader(root: string, record: SkillReader['record']): Pick<SkillReader, 'get' | 'record'> {
  const get = (name: string) => {
    const folder = [join(root, 'data', name), join(root, name)].find((one) => existsSync(join(one, 'SKILL.md')));
    if (folder === undefined) return undefined;
    const text = readFileSync(join(folder, 'SKILL.md'), 'utf8');
    return { name, folder, writable: true, hash: sha256(text), text } as Skill;
  };
  return { get, record };
}

function skillManageToolDesk(context: TestContext, ownerSay: OwnerSay = 'ask', decision: ApprovalDecision = 'once') {
  const opened = open(context);
  const records = createSkillRecords({ database: opened.database, root: opened.root });
  const drafts: SkillWrite[] = [];
  const asked: ApprovalRequest[] = [];
  const tool = createSkillManageTool({
    door: opened.door,
    reader: diskReader(opened.root, records.get),
    ownerSay: () => ownerSay,
    draft: async (write) => ok({ id: `prop_${drafts.push(write)}`, isKnown: drafts.length > 1 }),
  });
  const access: ToolAccess = {
    tools: new Map([[tool.name, tool]]),
    shown: new Set([tool.name]),
    approver: {
      approve: async (request) => {
        asked.push(request);
        return { decision };
      },
    },
    allowList: { has: () => false, add: () => undefined },
  };
  /** As the loop does it: checked, permitted, run. */
  const call = async (given: JsonObject): Promise<{ readonly answer: JsonObject; readonly output?: ToolOutput }> => {
    const part = { type: 'tool-call', callId: 'c1', name: tool.name, arguments: given, origin: 'model' } as const;
    const permitted = await checkCall(part, access);
    assert.ok(permitted.ok, permitted.ok ? '' : permitted.detail);
    const place = surroundings(opened);
    const verdict = { decision: 'allow' } as const;
    const no = await permitCall(
      { call: part, permitted, verdict, context: place, emit: () => undefined },
      access,
      quiet,
    );
    if (no) return { answer: { refused: no.reason } };
    const output = await (permitted.tool as unknown as Tool<unknown>).run(permitted.input, place, quiet);
    const parsed = parseJsonObject(output.text);
    assert.ok(parsed.ok, output.text);
    return { answer: parsed.value, output };
  };
  return { ...opened, tool, call, asked, drafts };
}

const create = { action: 'create', name: 'csv', category: 'data', content: skillText('csv') };

describe('skill_manage', () => {
  test('its schema costs at most 240 tokens, evidence included, and takes more than it shows', (context) => {
    const { tool } = skillManageToolDesk(context);
    const schema = JSON.stringify({ type: 'function', function: functionSchema(tool) });
    const tokens = encode(schema).length;
    assert.ok(tokens <= 240, `${tokens} tokens`);
    assert.match(schema, /"evidence":\{"description":"what it rests on:/);
    const evidence = [{ message_id: 3, quote: 'run the tests first' }];
    const parsed = skillManageInput.parse({ ...create, evidence, old_string: null });
    assert.deepEqual(parsed.evidence, evidence);
    assert.deepEqual(readSkillChange(parsed), {
      ok: true,
      value: { name: 'csv', change: { action: 'create', content: skillText('csv'), category: 'data' } },
    });
  });

  test('what an action needs and lacks is named', (context) => {
    const { tool } = skillManageToolDesk(context);
    const missing: readonly (readonly [JsonObject, RegExp])[] = [
      [{ action: 'create', name: 'a' }, /content/],
      [{ action: 'edit', name: 'a' }, /content/],
      [{ action: 'patch', name: 'a', old_string: 'x' }, /new_string/],
      [{ action: 'write_file', name: 'a', file_path: 'references/a.md' }, /file_content/],
      [{ action: 'remove_file', name: 'a' }, /file_path/],
    ];
    for (const [given, words] of missing) {
      const read = readSkillChange(skillManageInput.parse(given));
      assert.match(read.ok ? '' : read.detail, words);
    }
    assert.equal(tool.input.safeParse({ action: 'rename', name: 'a' }).success, false);
    assert.equal(tool.input.safeParse({ action: 'delete' }).success, false);
  });

  verifies('core:skills:create', 'create answers with the fields of its form', async (context) => {
    const { call, root } = skillManageToolDesk(context);
    const { answer, output } = await call(create);
    assert.equal(answer.success, true);
    assert.match(String(answer.message), /Created the skill csv/);
    assert.equal(answer.path, `${root}/data/csv`);
    assert.equal(answer.skill_md, `${root}/data/csv/SKILL.md`);
    assert.equal(answer.system_prompt_preview, '- csv: Does one thing');
    assert.match(
      JSON.stringify(answer._change),
      /"action":"create","version":1,"sha256":"[0-9a-f]{64}","proposal":"prop_/,
    );
    assert.equal(output?.origin, 'foreign', 'it quotes what the model wrote');
  });

  test('every action works, and a refusal says what would mend it', async (context) => {
    const { call, read } = skillManageToolDesk(context);
    await call(create);
    const patched = await call({ action: 'patch', name: 'csv', old_string: 'Step one.', new_string: 'First.' });
    assert.equal(patched.answer.success, true);
    const written = await call({
      action: 'write_file',
      name: 'csv',
      file_path: 'scripts/a.sh',
      file_content: 'echo a',
    });
    assert.equal(written.output?.origin, 'observed');
    await call({ action: 'remove_file', name: 'csv', file_path: 'scripts/a.sh' });
    const edited = await call({ action: 'edit', name: 'csv', content: skillText('csv', 'New.\n') });
    assert.equal(edited.answer.success, true);
    assert.equal(read('data/csv/SKILL.md'), skillText('csv', 'New.\n'));
    const absent = await call({ action: 'patch', name: 'csv', old_string: 'Nowhere', new_string: 'x' });
    assert.equal(absent.output?.isError, true);
    assert.equal(absent.answer.success, false);
    assert.equal(absent.answer.reason, 'text-not-found');
    const asks = await call({ action: 'patch', name: 'csv', old_string: 'New.', new_string: 'EVIL' });
    assert.equal(asks.answer.reason, 'guard-asks');
    assert.match(String(asks.answer.pending), /^prop_/);
    const gone = await call({ action: 'delete', name: 'csv' });
    assert.equal(gone.answer.success, true);
  });

  verifies(
    'core:skills:confirm-create-and-delete',
    'where a person is, create and delete ask first, by action and name',
    async (context) => {
      const { call, asked } = skillManageToolDesk(context);
      await call(create);
      assert.deepEqual(
        asked.map(({ key }) => key),
        ['skill:create:csv'],
      );
      assert.match(asked[0]?.preview ?? '', /Step two\./);
      await call({ action: 'patch', name: 'csv', old_string: 'Step one.', new_string: 'First.' });
      await call({ action: 'write_file', name: 'csv', file_path: 'references/a.md', file_content: 'a' });
      assert.equal(asked.length, 1, 'what the agent made it may patch');
      await call({ action: 'delete', name: 'csv' });
      assert.deepEqual(
        asked.map(({ key }) => key),
        ['skill:create:csv', 'skill:delete:csv'],
      );
    },
  );

  verifies(
    'core:skills:confirm-create-and-delete',
    'without the owner’s yes nothing is created or deleted',
    async (context) => {
      const { call, asked, create: make, door } = skillManageToolDesk(context, 'ask', 'deny');
      assert.deepEqual((await call(create)).answer, { refused: 'denied' });
      await make('mine');
      assert.deepEqual((await call({ action: 'delete', name: 'mine' })).answer, { refused: 'denied' });
      assert.equal(door.versions('csv').length, 0);
      assert.equal(door.versions('mine').length, 1);
      assert.equal(asked.length, 2);
    },
  );

  test('a change of what the agent did not make asks too', async (context) => {
    const { call, asked, create: make } = skillManageToolDesk(context, 'ask', 'deny');
    await make('mine', undefined, { actor: 'owner' });
    const patch = { action: 'patch', name: 'mine', old_string: 'Step one.', new_string: 'First.' };
    assert.deepEqual((await call(patch)).answer, { refused: 'denied' });
    assert.equal(asked[0]?.preview, 'patch skill mine\n-Step one.\n+First.');
  });

  test('where nobody is, it is kept as a draft, or made, as the setting says', async (context) => {
    const draft = skillManageToolDesk(context, 'draft');
    const kept = await draft.call(create);
    assert.equal(kept.answer.pending, 'prop_1');
    assert.equal(draft.asked.length, 0);
    assert.equal(draft.door.versions('csv').length, 0);
    assert.equal(draft.drafts[0]?.name, 'csv');
    await draft.create('its');
    const patch = { action: 'patch', name: 'its', old_string: 'Step one.', new_string: 'First.' };
    assert.equal((await draft.call(patch)).answer.success, true);
    assert.equal(draft.door.versions('its').length, 2, 'patches of its own skills are made');
    const apply = skillManageToolDesk(context, 'apply');
    assert.equal((await apply.call(create)).answer.success, true);
    assert.equal(apply.asked.length, 0);
  });

  for (const say of ['ask', 'draft'] as const)
    test(`what cannot be made is refused at once, nobody is asked and nothing waits (${say})`, async (context) => {
      const { call, asked, drafts, create: make, root } = skillManageToolDesk(context, say);
      await make('mine', 'Twice.\nTwice.\n', { actor: 'owner' });
      symlinkSync('/etc', join(root, 'data/mine/references'));
      const text = (name: string, more: string) => ({ action: 'create', name, content: skillText(name, more) });
      const patch = (name: string, old: string) => ({ action: 'patch', name, old_string: old, new_string: 'x' });
      const long = skillText('long', '', 'word '.repeat(30).trim());
      const file = (path: string) => ({ action: 'write_file', name: 'mine', file_path: path, file_content: 'a' });
      const cases: readonly (readonly [string, JsonObject])[] = [
        ['target-not-found', patch('nobody', 'a')],
        ['text-not-found', patch('mine', 'Nowhere')],
        ['text-ambiguous', patch('mine', 'Twice.')],
        ['outside-folder', file('../../x.md')],
        ['outside-folder', file('references/passwd')],
        ['invalid-skill', { action: 'edit', name: 'mine', content: '---js\nx\n---\n# A\n' }],
        ['too-large', text('large', 'x'.repeat(100_001))],
        ['invalid-name', text('Not A Name', '')],
        ['name-taken', text('mine', '')],
        ['invalid-skill', { ...text('one', ''), content: skillText('other') }],
        ['description-too-long', { action: 'create', name: 'long', content: long }],
        ['secret', text('keyed', `Use sk-proj-${'aB3dE5fG7h'.repeat(4)} to log in.\n`)],
        ['secret', text('mangled', 'Use [redacted:openai-key] to log in.\n')],
      ];
      for (const [reason, given] of cases) {
        const { answer } = await call(given);
        assert.equal(answer.reason, reason, JSON.stringify([given.action, given.name, answer]));
        assert.equal(answer.success, false);
      }
      assert.deepEqual([asked.length, drafts.length], [0, 0]);
    });
});

toolContract('skill_manage', () => {
  const home = createTempHome();
  const opened = openDoor(home.path);
  const records = createSkillRecords({ database: opened.database, root: opened.root });
  const { door } = opened;
  return {
    tool: createSkillManageTool({
      door,
      reader: diskReader(opened.root, records.get),
      ownerSay: () => 'ask',
      draft: async () => ok({ id: 'prop_1', isKnown: false }),
    }),
    context: () => surroundings(opened),
    good: () => create,
    hopeless: () => ({ action: 'patch', name: 'none', old_string: 'a', new_string: 'b' }),
    close: async () => {
      opened.close();
      home.remove();
    },
  };
});

test('a room ranks skills through their door, one that was just written too', async (t) => {
  const app = await createStage(t).open({ model: 'reflex' });
  const found = async () => {
    const ranked = await app.doors.ranker.rank('sourdough bread', { limit: 3 }, new AbortController().signal);
    return ranked.map(({ header }) => header.name);
  };
  assert.deepEqual(await found(), []);
  const content = skillText('bake', 'Knead the sourdough.\n');
  const made = await app.doors.door.write({
    ...{ name: 'bake', actor: 'dream', approved: true },
    change: { action: 'create', content },
  });
  assert.ok(made.ok);
  assert.deepEqual(await found(), ['bake']);
});
