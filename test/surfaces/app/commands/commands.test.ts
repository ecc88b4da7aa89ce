import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import type { App } from '#surfaces/app/app.ts';
import { shellCommands } from '#surfaces/app/commands/shell-commands.ts';
import { composeApp } from '#surfaces/app/house.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { commandSpecContract } from '../../../contract/command-spec.contract.ts';
import { createPlainWalls } from '../../../doubles/plain-walls.ts';
import { verifies } from '../../../verifies.ts';
import { createStage, openConversation, play, runCommand, type Stage } from '../app-fixture.ts';

describe('the contract of the built-in commands', () => {
  const folder = mkdtempSync(join(tmpdir(), 'talaria-commands-'));
  const environment = { variables: { TALARIA_HOME: join(folder, 'home') }, cwd: folder, userHome: folder };
  let app: Promise<App> | undefined;
  after(async () => {
    await (await app)?.shutdown();
    rmSync(folder, { recursive: true, force: true });
  });
  const commands = shellCommands({
    environment,
    app: () => {
      app ??= composeApp({ environment, extra: { walls: createPlainWalls() } });
      return app;
    },
  });
  // What this machine runs beside is left alone.
  const skipped = ['demo', 'setup', 'restore', 'models pull', 'models switch', 'models benchmark'];
  const inputs: Record<string, unknown> = {
    'sessions rename': { session: 'last', title: ['a title'] },
    'sessions search': { words: ['anything'] },
    'memory add': { text: ['the port is 4711'] },
    'memory replace': { old: 'port', text: ['the port is 4712'] },
    'memory remove': { text: ['port'] },
    'config get': { key: 'agent.max_steps' },
    'config set': { key: 'agent.max_steps', value: '9' },
    'config unset': { key: 'agent.max_steps' },
    doctor: { offline: true },
    'memory why': { text: [] },
    'permissions revoke': { which: ['1'] },
    'skills show': { name: 'none' },
    'skills install': { from: 'nowhere', force: false },
    'skills remove': { name: 'none', yes: true },
    'skills log': { name: 'none' },
    'skills diff': { name: 'none' },
    'skills rollback': { name: 'none', force: false },
    'skills why': { name: 'none' },
    'skills export': { name: 'none', to: '.' },
  };
  commandSpecContract('built-in commands', {
    commands: () => commands,
    inputs: Object.fromEntries(
      commands.filter(({ name }) => !skipped.includes(name)).map(({ name }) => [name, inputs[name] ?? {}]),
    ),
    context: () => ({ cwd: folder, signal: new AbortController().signal }),
  });
});

/** A home with one session of two turns, its model scripted. */
async function withSession(stage: Stage): Promise<string> {
  const app = await stage.open({ extra: { client: createScriptedModel(['The port is 4711.', 'You are welcome.']) } });
  const conversation = await openConversation(app);
  await play(conversation, 'Which port did we choose for sandal?');
  await play(conversation, 'Thanks');
  await conversation.close();
  await app.shutdown();
  return conversation.session.id;
}

describe('sessions', () => {
  verifies.slow(
    'core:cli:sessions-command',
    'list, show, search, rename, fork and export of a stored session',
    async (t) => {
      const stage = createStage(t);
      const id = await withSession(stage);
      assert.match((await runCommand(stage, 'sessions list')).text, new RegExp(`${id} .* scripted/model`));
      const shown = await runCommand(stage, 'sessions show', { session: id.slice(0, 15) });
      assert.match(shown.text, /Which port did we choose/);
      assert.match(shown.text, /scripted\/model/);
      const found = await runCommand(stage, 'sessions search', { words: ['which', 'port'] });
      assert.match(found.text, new RegExp(id));
      assert.ok(!found.text.includes('>>>'), found.text);
      assert.match(JSON.stringify(found.data), />>>/);
      await runCommand(stage, 'sessions rename', { session: id, title: ['harbour', 'talk'] });
      assert.match((await runCommand(stage, 'sessions show', { session: 'harbour' })).text, /harbour talk/);
      const forked = await runCommand(stage, 'sessions fork', { session: id });
      assert.match(forked.text, /--resume/);
      const lines = await runCommand(stage, 'sessions export', { session: id, format: 'jsonl' });
      assert.equal(lines.text.split('\n').length, 5);
      await runCommand(stage, 'sessions export', { session: id, file: 'notes.md' });
      assert.match(readFileSync(join(stage.cwd, 'notes.md'), 'utf8'), /^# harbour talk/);
      writeFileSync(join(stage.cwd, 'notes.md'), 'mine');
      const { failure } = await runCommand(stage, 'sessions export', { session: id, file: 'notes.md' });
      assert.deepEqual([failure?.exitCode, failure?.code], [3, 'file-exists']);
      assert.equal(readFileSync(join(stage.cwd, 'notes.md'), 'utf8'), 'mine');
      await runCommand(stage, 'sessions export', { session: id, file: 'notes.md', force: true });
      assert.match(readFileSync(join(stage.cwd, 'notes.md'), 'utf8'), /^# harbour talk/);
    },
  );

  test('a session that is not there is a failure with the way to find one', async (t) => {
    const stage = createStage(t);
    const inputs: readonly (readonly [string, object])[] = [
      ['sessions show', { session: 'nothing' }],
      ['sessions rename', { session: 'nothing', title: ['x'] }],
      ['sessions fork', { session: 'nothing' }],
      ['sessions export', { session: 'nothing' }],
      ['trace', { session: 'nothing' }],
      ['cost', { session: 'nothing' }],
      ['context', { session: 'nothing' }],
    ];
    for (const [name, input] of inputs) {
      const { failure } = await runCommand(stage, name, input);
      assert.deepEqual([failure?.exitCode, failure?.code], [3, 'no-such-session'], name);
      assert.match(`${failure?.message} ${failure?.fix}`, /sessions list/);
    }
  });
});

describe('memory', () => {
  verifies(
    'core:cli:memory-command',
    'show, add, replace and remove go through the same door as the agent',
    async (t) => {
      const stage = createStage(t);
      assert.match(
        (await runCommand(stage, 'memory add', { text: ['staging', 'is', 'bree'] })).text,
        /Entry added\. \[/,
      );
      await runCommand(stage, 'memory replace', { old: 'bree', text: ['staging', 'is', 'moria'] });
      const shown = await runCommand(stage, 'memory show');
      assert.match(shown.text, /MEMORY\.md \[\d+% — 16\/2,200 chars\]/);
      assert.match(shown.text, /staging is moria/);
      await runCommand(stage, 'memory remove', { text: ['moria'] });
      const refused = await runCommand(stage, 'memory remove', { text: ['moria'] });
      assert.equal(refused.failure?.exitCode, 3);
      const secret = await runCommand(stage, 'memory add', { text: [`sk-${'a1B2'.repeat(10)}`] });
      assert.equal(secret.failure?.code, 'secret');
    },
  );
});

describe('config', () => {
  verifies('core:cli:config-command', 'set checks the value, keeps comments, and get shows it', async (t) => {
    const stage = createStage(t);
    const file = stage.temp.write('home/config.yaml', '# mine\nversion: 1\nother: kept\n');
    assert.match((await runCommand(stage, 'config set', { key: 'terminal.timeout', value: '30' })).text, /is now 30/);
    assert.equal((await runCommand(stage, 'config get', { key: 'terminal.timeout' })).data, 30);
    const refused = await runCommand(stage, 'config set', { key: 'terminal.timeout', value: 'soon' });
    assert.equal(refused.failure?.exitCode, 2);
    const secret = await runCommand(stage, 'config set', {
      key: 'providers.x.api_key',
      value: `sk-${'a1B2'.repeat(10)}`,
    });
    assert.equal(secret.failure?.exitCode, 3);
    const set = (key: string, value: string, force = false) => runCommand(stage, 'config set', { key, value, force });
    assert.deepEqual((await set('version', '9')).failure?.code, 'config-version');
    const misspelled = (await set('agent.max_stpes', '9')).failure;
    assert.deepEqual([misspelled?.exitCode, misspelled?.code], [3, 'config-key']);
    assert.match(misspelled?.fix ?? '', /agent\.max_steps\?.*--force/);
    assert.match((await set('timeout', '9')).failure?.fix ?? '', /terminal\.timeout\?/);
    assert.match((await set('agent', '{"max_stepps": 3}')).failure?.message ?? '', /agent\.max_stepps/);
    assert.match((await set('utterly.different', '9')).failure?.fix ?? '', /config show/);
    const allowed = [
      'providers.mine.base_url=http://x/v1',
      'model.default=m',
      'skills.creation_nudge_interval=5',
      'tiers.T1=["a/b"]',
    ];
    for (const pair of allowed) {
      const [key = '', value = ''] = pair.split('=');
      assert.equal((await set(key, value)).failure, undefined, pair);
    }
    assert.equal((await set('of.later.parts', '1', true)).failure, undefined);
    const text = readFileSync(file, 'utf8');
    assert.match(text, /# mine/);
    assert.match(text, /other: kept/);
    assert.match((await runCommand(stage, 'config show')).text, /terminal\.timeout \| 30/);
    await runCommand(stage, 'config unset', { key: 'terminal.timeout' });
    assert.equal((await runCommand(stage, 'config get', { key: 'terminal.timeout' })).data, 180);
  });
});

describe('trace, cost and context', () => {
  verifies(
    ['core:cli:trace-command', 'core:cli:cost-command'],
    'every step is a row with tokens, time, cost and purpose',
    async (t) => {
      const stage = createStage(t);
      const id = await withSession(stage);
      const trace = await runCommand(stage, 'trace');
      assert.match(trace.text, new RegExp(`session ${id}`));
      assert.match(trace.text, /step scripted\/model/);
      assert.ok(!/turn turn/.test(trace.text), trace.text);
      const cost = await runCommand(stage, 'cost', { session: 'last' });
      assert.match(cost.text, /answer \| scripted\/model \| 2 \|/);
      assert.match(cost.text, /total \$0\.0000/);
      assert.match((await runCommand(stage, 'cost', { days: 1 })).text, /scripted\/model/);
    },
  );

  verifies(
    ['core:learning:budget', 'core:cli:cost-command'],
    'what learning may take in an hour and a day, and what it kept for its tokens',
    async (t) => {
      const stage = createStage(t);
      stage.temp.write('home/config.yaml', 'learning:\n  budget:\n    hour: 500\n');
      const sessionId = await withSession(stage);
      const { doors, clock } = await stage.open();
      const usage = { inputTokens: 390, outputTokens: 10, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
      const span = { sessionId, turn: 1, kind: 'step', name: 'm', ms: 1, status: 'ok', usage, cost: 0 } as const;
      await doors.sessions.recordSpans([{ ...span, id: 'j', purpose: 'judge', startedAt: clock.now() }]);
      doors.sessions.database.run(
        `INSERT INTO reviews(id, session_id, kind, reasons, status, kept, tokens, at, ended_at) VALUES('r', ?, 'memory', '[]', 'done', 2, 9, 0, ?)`,
        ...[sessionId, clock.now()],
      );
      const cost = await runCommand(stage, 'cost');
      assert.match(cost.text, /learning: 400 of 500 tokens in the last hour, 400 of 100000 in the last day/);
      assert.match(cost.text, /kept by reviews in the last 7 days: 2, 5\.00 per 1,000 tokens of learning/);
      const { learning } = cost.data as { learning: Record<string, unknown> };
      assert.deepEqual(learning.yield, { kept: 2, tokens: 400, perThousand: 5 });
    },
  );

  verifies('core:cli:context-command', 'each part of the prompt with its tokens, estimated and said so', async (t) => {
    const stage = createStage(t);
    stage.temp.write('work/AGENTS.md', '# Rules\nUse tabs.');
    await runCommand(stage, 'trust give');
    await runCommand(stage, 'memory add', { text: ['staging', 'is', 'bree'] });
    const fresh = await runCommand(stage, 'context', { session: 'new' });
    for (const part of ['identity', 'guidance', 'environment', 'project', 'memory', 'schemas', 'total'])
      assert.match(fresh.text, new RegExp(`${part} \\| ~\\d+`), part);
    assert.match(fresh.text, /estimated/);
    await withSession(stage);
    assert.match((await runCommand(stage, 'context', { session: 'last' })).text, /history \(4 messages\) \| ~\d+/);
  });
});

describe('what a session really sends', () => {
  test('first hour 8: context counts the stored prompt and the live messages, corrected by what the provider counted', async (t) => {
    const stage = createStage(t);
    stage.temp.write('work/AGENTS.md', 'Use tabs.');
    const server = await startScriptedServer([{ reply: 'Hi.', usage: { inputTokens: 3_000, outputTokens: 2 } }], {
      context: t,
    });
    const app = await stage.open({ extra: { client: createScriptedModel(['Hello.'], { id: 'un/counted' }) } });
    const conversation = await openConversation(app);
    const parts = async (sessionId?: string) => {
      const command = shellCommands({ environment: stage.environment, app: async () => app }).find(
        ({ name }) => name === 'context',
      );
      assert.ok(command);
      const where = { cwd: stage.cwd, signal: new AbortController().signal, ...(sessionId ? { sessionId } : {}) };
      const outputs = await Array.fromAsync(command.run(command.input.parse({}) as never, where));
      return outputs.find((output) => output.type === 'data')?.value as {
        readonly total: number;
        readonly counted?: { readonly tokens: number };
        readonly parts: readonly { readonly part: string; readonly tokens: number }[];
      };
    };
    const before = await parts(conversation.session.id);
    stage.temp.write('work/AGENTS.md', 'x'.repeat(40_000));
    assert.deepEqual(await parts(conversation.session.id), before, 'a new session would be another matter');
    assert.deepEqual(
      before.parts.map(({ part }) => part),
      ['system prompt', 'schemas', 'history (0 messages)'],
    );
    await play(conversation, 'hello');
    assert.match((await parts()).parts[2]?.part ?? '', /2 messages/, 'at the shell the last session of the folder');
    await app.shutdown();
    const served = await stage.open({
      environment: {
        ...stage.environment,
        variables: { ...stage.environment.variables, OPENAI_BASE_URL: server.baseUrl },
      },
    });
    const again = await openConversation(served, { resume: conversation.session.id });
    await play(again, 'and now?');
    const shown = await runCommand(stage, 'context', { session: conversation.session.id });
    assert.match(shown.text, /corrected by what openai\/scripted-model counted for the last request \(3000 tokens\)/);
    const total = (shown.data as { readonly total: number }).total;
    assert.ok(Math.abs(total - 3_000) < 200, `${total} is the count and the last answer`);
  });
});

describe('tools and models', () => {
  test('tools shows what a session is shown, models what answers and why', async (t) => {
    const stage = createStage(t, { OPENAI_API_KEY: 'key-of-a-test' });
    assert.match((await runCommand(stage, 'tools')).text, /memory \| memory \| write \| ~\d+/);
    const models = await runCommand(stage, 'models show');
    assert.match(models.text, /openai\/.* \(T2\): OPENAI_API_KEY is set/);
    assert.equal(models.text.includes('key-of-a-test'), false);
  });
});

describe('backup and restore as commands', () => {
  verifies('core:home:backup', 'a backup brings everything but the keys into another home', async (t) => {
    const stage = createStage(t);
    const id = await withSession(stage);
    writeFileSync(join(stage.root, '.env'), 'OPENAI_API_KEY=sentinel\n', { mode: 0o600 });
    const backup = await runCommand(stage, 'backup', { file: 'b.tar.gz' });
    assert.match(backup.text, /left out: \.env/);
    const refused = await runCommand(stage, 'restore', { file: 'b.tar.gz' });
    assert.equal(refused.failure?.exitCode, 3);
    const other = {
      ...stage,
      environment: { ...stage.environment, variables: { TALARIA_HOME: join(stage.temp.path, 'other') } },
    };
    await runCommand(other, 'restore', { file: 'b.tar.gz' });
    assert.match((await runCommand(other, 'sessions list')).text, new RegExp(id));
    assert.equal(existsSync(join(stage.temp.path, 'other', '.env')), false);
    assert.match((await runCommand(other, 'doctor', { offline: true })).text, /ok +origins: /, 'seals hold there too');
    const missing = await runCommand(other, 'restore', { file: 'nothing.tar.gz', force: true });
    assert.equal(missing.failure?.exitCode, 1);
  });
});

describe('doctor', () => {
  verifies('core:cli:doctor', 'a healthy home has no failure', async (t) => {
    const stage = createStage(t);
    await withSession(stage);
    const { failure, text } = await runCommand(stage, 'doctor', { offline: true });
    assert.equal(failure, undefined, text);
    for (const name of ['node', 'home', 'config', 'database', 'search index', 'origins', 'MEMORY.md']) {
      assert.match(text, new RegExp(`ok +${name}: `), text);
    }
    assert.match(text, /(?:ok|warn) +walls: (?:commands stay in this folder|none)/);
  });

  verifies('core:cli:doctor', 'each fault has its line and its fix, and the exit code is 1', async (t) => {
    const server = await startScriptedServer([], { modelsStep: { status: 401, body: {} }, context: t });
    const stage = createStage(t, { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'wrong-key' });
    await withSession(stage);
    chmodSync(stage.root, 0o755);
    writeFileSync(
      join(stage.root, 'state.db'),
      Buffer.concat([readFileSync(join(stage.root, 'state.db')).subarray(0, 5000), Buffer.alloc(60_000, 7)]),
    );
    const before = statSync(join(stage.root, 'state.db')).size;
    const { failure, text } = await runCommand(stage, 'doctor');
    assert.equal(failure?.exitCode, 1);
    assert.match(text, /fail {2}home: others can read \./);
    assert.match(text, /chmod -R go-rwx/);
    assert.match(text, /fail {2}database: /);
    assert.match(text, /fail {2}model openai: .*HTTP 401/);
    assert.match(text, /talaria setup --provider openai --key/);
    assert.equal(statSync(join(stage.root, 'state.db')).size, before, 'doctor changes nothing');
  });

  test('a message that another hand changed is named, and so is a key that is gone', async (t) => {
    const stage = createStage(t);
    const id = await withSession(stage);
    const raw = new DatabaseSync(join(stage.root, 'state.db'));
    raw.exec("UPDATE messages SET body = replace(body, 'o', '0') WHERE seq = 1");
    raw.close();
    const changed = (await runCommand(stage, 'doctor', { offline: true })).text;
    assert.match(changed, new RegExp(`warn +origins: 1 message not as written: #\\d+ of ${id}\\n`));
    rmSync(join(stage.root, 'state.db.seal'));
    assert.match((await runCommand(stage, 'doctor', { offline: true })).text, /warn +origins: .* is missing\n/);
  });

  verifies('core:bad-input:corrupt-config', 'a broken configuration is one line of the doctor', async (t) => {
    const stage = createStage(t);
    stage.temp.write('home/config.yaml', 'agent:\n  max_steps: [\n');
    const { failure, text } = await runCommand(stage, 'doctor', { offline: true });
    assert.equal(failure?.exitCode, 1);
    assert.match(text, /fail {2}config: .*config\.yaml:\d+:\d+: max_steps/);
    for (const section of ['memory', 'skills']) {
      stage.temp.write('home/config.yaml', `version: 1\n${section}: 7\n`);
      const { text: told } = await runCommand(stage, 'doctor', { offline: true });
      assert.match(told, new RegExp(`fail {2}config: .*config\\.yaml:2:\\d+: ${section}: `), 'a section of a room');
    }
    assert.equal(text.match(/max_steps/g)?.length, 1, 'the same fault is told once');
  });
});

describe('setup', () => {
  verifies('core:cli:setup-without-terminal', 'flags alone take up a key, test it, and keep it in .env', async (t) => {
    const server = await startScriptedServer(['ok'], { context: t });
    const stage = createStage(t);
    const done = await runCommand(stage, 'setup', {
      baseUrl: server.baseUrl,
      key: 'sentinel-key-0003',
      nonInteractive: true,
    });
    assert.equal(done.failure, undefined, done.text);
    assert.match(done.text, /it answers: local\/scripted-model is the model now/);
    assert.equal(done.text.includes('sentinel'), false);
    assert.equal(statSync(join(stage.root, '.env')).mode & 0o777, 0o600);
    const models = await runCommand(stage, 'models show');
    assert.match(models.text, /^local\/scripted-model \(T2\): config\.yaml names it/);
  });

  test('without flags and without a terminal it says what it found and how to go on', async (t) => {
    const { text, failure } = await runCommand(createStage(t, { GROQ_API_KEY: 'k' }), 'setup');
    assert.equal(failure, undefined);
    assert.match(text, /cores, [\d.]+ GB memory/);
    assert.match(text, /found: groq: GROQ_API_KEY is set/);
    assert.match(text, /--base-url/);
  });

  test('at a terminal it asks, and an empty answer changes nothing', async (t) => {
    const stage = createStage(t);
    const questions: string[] = [];
    await runCommand(stage, 'setup', {}, async (question) => {
      questions.push(question);
      return '';
    });
    assert.equal(questions.length, 2);
    assert.equal(existsSync(join(stage.root, '.env')), false);
  });

  test('what cannot be meant is wrong use', async (t) => {
    const { failure } = await runCommand(createStage(t), 'setup', { baseUrl: 'no address', key: 'k' });
    assert.deepEqual([failure?.exitCode, failure?.code], [2, 'no-provider']);
  });

  verifies('core:bad-input:missing-key', 'a provider without a key names its variable, exit code 3', async (t) => {
    const { failure } = await runCommand(createStage(t), 'setup', { provider: 'mistral' });
    assert.equal(failure?.exitCode, 3);
    assert.match(failure?.message ?? '', /MISTRAL_API_KEY/);
  });

  verifies(
    'core:bad-input:wrong-base-url',
    'an address where nobody answers is a failure, and nothing is kept',
    async (t) => {
      const stage = createStage(t);
      const { failure } = await runCommand(stage, 'setup', { baseUrl: 'http://127.0.0.1:9/v1', key: 'k', model: 'm' });
      assert.equal(failure?.exitCode, 1);
      assert.equal(existsSync(join(stage.root, '.env')), false);
    },
  );
});
