/** The agent as it comes: what its prompt costs, and that it goes on when its model does not answer. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { GUIDANCE, IDENTITY } from '#core/agent/prompts.rules.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { slow } from '../slow.ts';
import { createStage, openConversation, play } from '../surfaces/app/app-fixture.ts';
import { verifies } from '../verifies.ts';
import { createCliStage } from './cli-process.ts';

describe('the default agent', () => {
  verifies(
    'core:prompt:size-budget',
    'identity, guidance and schemas as OpenAI functions stay within the budget',
    async (t) => {
      const app = await createStage(t).open({ extra: { client: createScriptedModel([]) } });
      const { tools } = (await openConversation(app)).prompt;
      assert.ok(tools.length >= 9, `${tools.length} tools`);
      const schemas = JSON.stringify(tools.map((tool) => ({ type: 'function', function: tool })));
      const tokens = countTokens(`${IDENTITY}\n\n${GUIDANCE}`) + countTokens(schemas);
      assert.ok(
        tokens <= 1_500,
        `${tokens} tokens, and every request pays for them: 1,500 at most (CONTRIBUTING, a room)`,
      );
    },
  );

  verifies(
    'core:reflex:beside-a-model',
    'first hour 3: a model that cannot be reached fails the turn by name, and reflex/1 does not answer for it',
    async (t) => {
      const stage = createStage(t, { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', OPENAI_API_KEY: 'test-key-0000' });
      writeFileSync(join(stage.cwd, 'notes.txt'), 'the harbour opens at six\n');
      const app = await stage.open({ model: 'openai/some-model' });
      const { events, end } = await play(await openConversation(app), 'read notes.txt');
      assert.ok(!events.some((event) => event.type === 'model-fallback' || event.type === 'tool-start'));
      assert.deepEqual([end.outcome, end.model, end.text], ['failed', 'openai/some-model', '']);
      assert.match(end.error?.message ?? '', /127\.0\.0\.1:9/);
      assert.equal(app.model().id, 'openai/some-model');
    },
  );

  verifies(
    'core:reflex:beside-a-model',
    'if the owner says so, reflex goes first for what it can run, and the model gets the rest',
    async (t) => {
      const stage = createStage(t);
      const model = createScriptedModel(['a poem'], { context: t });
      const app = await stage.open({ extra: { client: model } });
      assert.equal(app.isReflexFirst(), false);
      await app.shutdown();
      writeFileSync(join(stage.root, 'config.yaml'), 'version: 1\nreflex:\n  first: true\n');
      const first = await stage.open({ extra: { client: model } });
      const conversation = await openConversation(first);
      assert.equal((await play(conversation, 'run echo hello')).end.model, 'reflex/1');
      assert.equal((await play(conversation, 'write a poem about the sea')).end.text, 'a poem');
    },
  );

  test('a small model of this machine gets the reflex in front of it, and one line that says so', async (t) => {
    const stage = createStage(t);
    const model = createScriptedModel(['a poem'], { id: 'local/smollm2-1.7b', context: t });
    const app = await stage.open({ extra: { client: model } });
    assert.match(
      app.model().reason,
      /; small, so reflex\/1 goes first for its own forms \(reflex\.first: false ends that\)$/,
    );
    const conversation = await openConversation(app);
    assert.equal((await play(conversation, 'run echo hello')).end.model, 'reflex/1');
    assert.equal((await play(conversation, 'hello')).end.text, 'a poem', 'small talk is the model’s');
    await app.shutdown();
    writeFileSync(join(stage.root, 'config.yaml'), 'version: 1\nreflex:\n  first: false\n');
    const without = await stage.open({ extra: { client: model } });
    assert.equal(without.isReflexFirst(), false);
    assert.doesNotMatch(without.model().reason, /reflex/);
  });

  test('first hour 3: a review that fails leaves the chat and its model as they are', async (t) => {
    const body = { error: { message: 'no such key' } };
    const server = await startScriptedServer([{ status: 401, body }, 'the second', 'and again'], { context: t });
    const stage = createStage(t, { OPENAI_BASE_URL: server.baseUrl });
    stage.temp.write('home/config.yaml', 'version: 1\ntiers:\n  T2: [openai/first, openai/second]\n');
    const app = await stage.open();
    const request = { tier: 'T2', purpose: 'review', text: 'look back', tools: [], maxSteps: 1 } as const;
    for await (const _ of app.runExtensionTurn(request, new AbortController().signal));
    assert.equal(app.model().id, 'openai/first');
    const { end, events } = await play(await openConversation(app), 'tell me something');
    assert.deepEqual([end.outcome, end.model], ['done', 'openai/first']);
    assert.ok(!events.some(({ type }) => type === 'model-fallback'));
  });

  slow(
    'first hour 3: a name that the endpoint does not list is exit 3 with the nearest, whoever names it',
    async (t) => {
      const server = await startScriptedServer([], { models: ['harbour-large', 'harbour-small'], context: t });
      const stage = createCliStage(t);
      const env = { OPENAI_BASE_URL: server.baseUrl };
      assert.match((await stage.run(['models'], { env })).out, /openai\/harbour-small/);
      const asked = await stage.run(['-p', 'hi', '-m', 'openai/harbour-smal', '--output-format', 'json'], { env });
      assert.equal(asked.code, 3, asked.err);
      assert.match(asked.err, /openai has no model harbour-smal\. Nearest: openai\/harbour-small/);
      assert.equal(JSON.parse(asked.out).error.code, 'no-model');
      const set = await stage.run(['config', 'set', 'model', 'harbour-lagre'], { env });
      assert.equal(set.code, 3, set.out);
      assert.match(set.err, /Nearest: openai\/harbour-large.*\nNothing was changed/);
      await stage.run(['config', 'set', 'model', 'harbour-lagre', '--force'], { env });
      const configured = await stage.run(['-p', 'hi'], { env });
      assert.deepEqual([configured.code, configured.out], [1, '']);
      assert.match(configured.err, /harbour-lagre cannot answer: .*Nearest: openai\/harbour-large/);
      assert.doesNotMatch(configured.err, /\/retry/);
      assert.match((await stage.run(['models'], { env })).out, /^harbour-lagre \(T2\): cannot answer/);
    },
  );
});
