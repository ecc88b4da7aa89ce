/** The agent as it comes: what its prompt costs, and that it goes on when its model does not answer. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { GUIDANCE, IDENTITY } from '#core/agent/prompt/prompt-text.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { createStage, openConversation, play } from '../surfaces/app/app-fixture.ts';
import { verifies } from '../verifies.ts';

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
      assert.ok(tokens <= 1_500, `${tokens} tokens`);
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
      assert.equal(app.loaded.config.reflex.first, false);
      await app.shutdown();
      writeFileSync(join(stage.root, 'config.yaml'), 'version: 1\nreflex:\n  first: true\n');
      const first = await stage.open({ extra: { client: model } });
      const conversation = await openConversation(first);
      assert.equal((await play(conversation, 'run echo hello')).end.model, 'reflex/1');
      assert.equal((await play(conversation, 'write a poem about the sea')).end.text, 'a poem');
    },
  );
});
