import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { slow } from '../../../slow.ts';
import { createStage, openConversation, play, runCommand, type Stage } from '../app-fixture.ts';

function writeConfig({ root }: Stage, text: string): void {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  writeFileSync(join(root, 'config.yaml'), `version: 1\n${text}`, { mode: 0o600 });
}

describe('first hour 9: settings', () => {
  test('first hour 9: a misspelled key is named with the nearest one, at the start and by doctor', async (t) => {
    const stage = createStage(t);
    writeConfig(stage, 'agnet:\n  max_steps: 3\nmemory:\n  enabeld: true\nzzzzzzzzzzzz: 1\n');
    const { notices } = await stage.open();
    const file = join(stage.root, 'config.yaml');
    assert.deepEqual(notices, [
      `${file}:2:1: agnet is no setting; did you mean agent?`,
      `${file}:5:12: memory.enabeld is no setting; did you mean memory.enabled?`,
    ]);
    const { text } = await runCommand(stage, 'doctor', { offline: true });
    assert.match(text, /config.*:2:1: agnet is no setting[\s\S]*Did you mean agent\?/);
    assert.match(text, /zzzzzzzzzzzz is no setting/);
    const unset = await runCommand(stage, 'config get', { key: 'agent.max_stepz' });
    assert.match(unset.text, /no setting agent\.max_stepz.*Did you mean agent\.max_steps/);
  });

  test('first hour 9: a wrong value is told in words, not in those of a schema', async (t) => {
    const stage = createStage(t);
    const told: readonly (readonly [string, RegExp])[] = [
      ['agent:\n  max_steps: many\n', /:3:14: agent\.max_steps: must be a number/],
      ['agent:\n  max_steps: 0\n', /agent\.max_steps: must be at least 1/],
      ['approvals:\n  mode: fast\n', /approvals\.mode: must be one of ask, off, deny/],
      ['memory: 3\n', /:2:9: memory: must be a group of settings/],
      ['model: [1]\n', /model: must be text, or a group of settings/],
    ];
    for (const [text, expected] of told) {
      writeConfig(stage, text);
      await assert.rejects(stage.open(), expected);
    }
  });
});

describe('first hour 3: names of models', () => {
  const lists = ({ temp }: Stage, known: Readonly<Record<string, readonly string[]>>) => {
    const rows = Object.entries(known).map(([url, ids]) => [url, { at: 1, models: ids.map((id) => ({ id })) }]);
    temp.write('home/cache/models.json', JSON.stringify(Object.fromEntries(rows)));
  };
  const LOCAL = 'providers:\n  local: {base_url: "http://127.0.0.1:9/v1"}\n';
  const KNOWN = { 'http://127.0.0.1:9/v1': ['good-model', 'other-model'] };

  test('first hour 3: config set model refuses what -m would refuse, and takes what only lacks its key', async (t) => {
    const stage = createStage(t);
    writeConfig(stage, LOCAL);
    lists(stage, KNOWN);
    const set = async (value: string, force = false) => {
      const { failure } = await runCommand(stage, 'config set', { key: 'model', value, force });
      return [failure?.exitCode, failure?.code];
    };
    assert.deepEqual(await set('nosuch/model'), [3, 'no-provider']);
    assert.deepEqual(await set('llama/nosuch'), [3, 'no-model']);
    assert.deepEqual(await set('local/good-modle'), [3, 'no-model']);
    assert.deepEqual(await set('anthropic/claude-x'), [undefined, undefined]);
    assert.deepEqual(await set('nosuch/model', true), [undefined, undefined]);
  });

  slow('first hour 3: doctor says of the chosen model what a turn says of it', async (t) => {
    const server = await startScriptedServer([], { models: ['good-model', 'other-model'], context: t });
    const stage = createStage(t);
    const provider = `providers:\n  local: {base_url: "${server.baseUrl}"}\n`;
    for (const [config, expected] of [
      ['model: nosuch/x\n', /^nosuch\/x cannot answer: No provider is set up for nosuch\/x/],
      [`model: local/good-modle\n${provider}`, /good-modle cannot answer: .*Nearest: local\/good-model/],
      ['model: anthropic/claude-x\n', /ANTHROPIC_API_KEY/],
    ] as const) {
      writeConfig(stage, config);
      const { text, failure } = await runCommand(stage, 'doctor');
      assert.equal(failure?.code, 'unhealthy', text);
      const { end } = await play(await openConversation(await stage.open()), 'hello');
      const said = end.error?.message ?? '';
      assert.match(said, expected);
      assert.ok(text.includes(`fail  model: ${said}`), `${said}\n${text}`);
    }
    writeConfig(stage, 'model: reflex\n');
    assert.match((await runCommand(stage, 'doctor')).text, /ok +model: reflex\/1: config\.yaml names it/);
    writeConfig(stage, `model: local/good-model\n${provider}`);
    assert.equal((await runCommand(stage, 'doctor')).failure?.code, undefined);
  });

  test('first hour 3: models lists the present model and every name of config.yaml', async (t) => {
    const stage = createStage(t);
    const providers = `${LOCAL}  far: {base_url: "http://127.0.0.1:9/far"}\n`;
    const models = async (names: string, known: typeof KNOWN | object = {}) => {
      writeConfig(stage, names + providers);
      lists(stage, known as typeof KNOWN);
      return (await runCommand(stage, 'models show')).text.split('\n');
    };
    const tiers = 'tiers: {T1: [far/small, anthropic/x], T2: [local/other-model]}\n';
    const one = await models(`model: local/good-model\n${tiers}`);
    const rows = (lines: readonly string[]) => lines.slice(2).map((row) => row.split(' | ')[0]);
    assert.deepEqual(rows(one), ['local/good-model', 'local/other-model', 'far/small', 'anthropic/x', 'reflex/1']);
    assert.match(one.find((row) => row.startsWith('anthropic/x')) ?? '', /cannot answer: .*ANTHROPIC_API_KEY/);
    const listed = await models('model: local/good-model\n', KNOWN);
    assert.match(listed[2] ?? '', /^local\/good-model .*config\.yaml names it$/);
    assert.match(listed[3] ?? '', /^local\/other-model .*config\.yaml sets local up$/);
    const [head = ''] = await models('tiers: {T2: [far/large]}\n');
    assert.match(head, /^far\/large .*first of tiers\.T2/);
    assert.doesNotMatch(head, /answers/);
  });

  test('first hour 3: a wrong name in tiers is said once at the start, and by doctor', async (t) => {
    const server = await startScriptedServer([], { models: ['good-model', 'gone-modle'], context: t });
    const stage = createStage(t);
    const provider = `providers:\n  local: {base_url: "${server.baseUrl}"}\n`;
    writeConfig(stage, `model: local/good-model\ntiers: {T1: [local/gone-model]}\n${provider}`);
    lists(stage, { [server.baseUrl]: ['good-model', 'gone-modle'] });
    const expected = /^tiers\.T1: local has no model gone-model\. Nearest: local\/gone-modle/;
    const app = await stage.open();
    const [first = '', ...more] = app.modelNotices;
    assert.match(first, expected);
    assert.deepEqual(more, []);
    const { text, failure } = await runCommand(stage, 'doctor');
    assert.ok(text.includes(`fail  ${first}`), text);
    assert.equal(failure?.code, 'unhealthy');
  });

  test('first hour 3: a model file that is not there is refused as a file, with the folder and the nearest', async (t) => {
    const stage = createStage(t, { OPENROUTER_API_KEY: 'k' });
    const refusal = async (model: string) => {
      const opened = await stage.open({ model }).catch((error: Error) => error);
      return opened instanceof Error ? opened.message : 'taken';
    };
    const folder = `in the models folder (${join(stage.root, 'models')})`;
    for (const name of ['/nosuch/smal.gguf', 'smal.gguf', 'llama/smal'])
      assert.ok((await refusal(name)).startsWith(`There is no model file for ${name} ${folder}`), name);
    stage.temp.write('home/models/small.gguf', '');
    for (const name of ['/nosuch/smal.gguf', 'smal.gguf', 'llama/smal'])
      assert.match(await refusal(name), /no model file for .*smal.* in the models folder .*Nearest: llama\/small/);
    const added = await (await stage.open({ model: 'reflex' })).addModel(
      { key: './x.gguf' },
      new AbortController().signal,
    );
    assert.match(
      added.ok ? 'taken' : added.detail,
      /x\.gguf is a model file, no key\. Put it into .*kind: llama, path: /,
    );
  });
});

describe('first hour 9: commands', () => {
  test('first hour 9: an unknown id is refused with exit code 3 everywhere', async (t) => {
    const stage = createStage(t);
    const inputs: readonly (readonly [string, object])[] = [
      ['sessions show', { session: 'nothing' }],
      ['skills show', { name: 'nothing' }],
      ['pending show', { id: 'nothing' }],
      ['config get', { key: 'nothing' }],
    ];
    for (const [name, input] of inputs) assert.equal((await runCommand(stage, name, input)).failure?.exitCode, 3, name);
  });

  test('first hour 9: what the system says of a file is said in words', async (t) => {
    const stage = createStage(t);
    await (await stage.open()).shutdown();
    const { failure, text } = await runCommand(stage, 'backup', { file: '/nowhere/at/all.tar.gz' }).catch(
      (error: Error) => ({
        failure: undefined,
        text: error.message,
      }),
    );
    assert.match(failure?.message ?? text, /there is no folder \/nowhere/);
    assert.doesNotMatch(failure?.message ?? text, /ENOENT/);
  });

  test('first hour 9: sessions in which nothing was said are not listed', async (t) => {
    const stage = createStage(t);
    const app = await stage.open({ model: 'reflex' });
    const silent = await openConversation(app);
    const spoken = await openConversation(app);
    await play(spoken, 'help');
    await Promise.all([silent.close(), spoken.close()]);
    const { text } = await runCommand(stage, 'sessions list');
    assert.match(text, new RegExp(spoken.session.id));
    assert.doesNotMatch(text, new RegExp(silent.session.id));
  });

  test('first hour 9: import hermes --dry-run names what would come, and brings nothing', async (t) => {
    const stage = createStage(t);
    const from = join(stage.temp.path, '.hermes');
    mkdirSync(join(from, 'skills/ops/restart'), { recursive: true });
    writeFileSync(join(from, 'SOUL.md'), 'You are calm.\n');
    writeFileSync(
      join(from, 'skills/ops/restart/SKILL.md'),
      '---\nname: restart\ndescription: Restart the service.\n---\n\n# Restart\n\nRun it.\n',
    );
    const { text } = await runCommand(stage, 'import hermes', { from, dryRun: true });
    assert.match(text, /would come \(identity\): SOUL\.md/);
    assert.match(text, /would come \(skills\): restart/);
    assert.equal(existsSync(join(stage.root, 'SOUL.md')), false);
  });
});

describe('first hour 9: setup asks', () => {
  /** Answers in order; whether each question was to be answered unseen. */
  function answering(answers: readonly string[]) {
    const asked: (readonly [string, boolean])[] = [];
    const left = [...answers];
    const ask = async (question: string, kind?: 'secret') => {
      asked.push([question, kind === 'secret']);
      const answer = left.shift();
      assert.notEqual(answer, undefined, `nothing answers: ${question}`);
      return answer ?? '';
    };
    return { ask, asked, left };
  }

  test('first hour 9: an address is typed in sight, and a mistake is corrected without starting over', async (t) => {
    const server = await startScriptedServer([{ reply: 'ok' }], { context: t });
    const stage = createStage(t);
    const { ask, asked, left } = answering(['http://127.0.0.1:9/v1', '', 'stub-model', 'a', server.baseUrl]);
    const { text, failure } = await runCommand(stage, 'setup', {}, ask);
    assert.equal(failure, undefined, text);
    assert.match(text, /Typed was: address http:\/\/127\.0\.0\.1:9\/v1, model stub-model\./);
    assert.match(text, /it answers: .*stub-model is the model now/);
    assert.deepEqual(
      asked.filter(([, secret]) => secret).map(([question]) => question),
      ['Its key (empty: it needs none):'],
    );
    assert.deepEqual(left, []);
  });

  test('first hour 9: what is no address is said at once, and leaving keeps nothing', async (t) => {
    const stage = createStage(t);
    const { ask, left } = answering(['htp://typo', 'http://127.0.0.1:9/v1', '', '', '']);
    const { text, failure } = await runCommand(stage, 'setup', {}, ask);
    assert.match(text, /That is no address/);
    assert.equal(failure?.exitCode, 1);
    assert.equal(existsSync(join(stage.root, 'config.yaml')), false);
    assert.deepEqual(left, []);
  });
});
