import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { createStage, openConversation } from './app-fixture.ts';

describe('recall summaries in the composed agent', () => {
  test('the option is shown only where a small model is configured', async (t) => {
    const shown = async (config: string) => {
      const stage = createStage(t, { OPENAI_API_KEY: 'test-key-0000' });
      stage.temp.write('home/config.yaml', config);
      const app = await stage.open({ extra: { client: createScriptedModel([]) } });
      const { tools } = (await openConversation(app)).prompt;
      return JSON.stringify(tools.find(({ name }) => name === 'session_search')).includes('summarise');
    };
    assert.equal(await shown('version: 1\n'), false);
    assert.equal(await shown('tiers:\n  T1: [openai/small]\n'), true);
  });
});
