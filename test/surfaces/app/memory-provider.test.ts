import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { defineTool } from '#core/agent/tool.ts';
import { messageText } from '#core/model/message.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { createFakeMemoryProvider } from '../../contract/fake-memory-provider.ts';
import { createStage, openConversation, play } from './app-fixture.ts';

describe('an external memory provider in the composed agent', () => {
  test('its block stands in the prompt beside the files, what it recalls in the user message, and it hears of writes', async (t) => {
    const stage = createStage(t);
    stage.temp.write('home/config.yaml', 'memory:\n  provider: fake\n');
    const fake = createFakeMemoryProvider();
    fake.facts.push('the lighthouse keeper is called Ida');
    const model = createScriptedModel(
      [{ calls: [{ name: 'memory', arguments: { action: 'add', content: 'Tea is at five.' } }] }, 'kept'],
      { context: t },
    );
    const app = await stage.open({ extra: { client: model, memoryProviders: [fake] } });
    await app.memory.apply('memory', [{ action: 'add', content: 'the harbour opens at six' }], { actor: 'owner' });
    const conversation = await openConversation(app);
    const { system } = conversation.prompt;
    assert.match(system, /the harbour opens at six/);
    assert.match(system, /1 facts can be recalled/);
    await play(conversation, 'who keeps the lighthouse? Tea is at five.');
    const [first] = conversation.history;
    assert.ok(first && JSON.stringify(first).includes('the lighthouse keeper is called Ida'));
    assert.ok(first && !messageText(first).includes('Ida'), 'what is recalled is no word of the owner');
    assert.deepEqual(
      fake.notices.map(({ action, content }) => [action, content]),
      [['add', 'Tea is at five.']],
    );
    await app.shutdown();
  });

  test('its tools are offered, whatever their toolset, also where the files are switched off', async (t) => {
    const ring = defineTool({
      name: 'ring_bell',
      description: 'Rings.',
      input: z.object({}),
      toolset: 'bells',
      effect: 'write',
      run: async () => ({ text: 'rung' }),
    });
    for (const enabled of [true, false]) {
      const stage = createStage(t);
      stage.temp.write('home/config.yaml', `memory:\n  provider: fake\n  enabled: ${enabled}\n`);
      const provider = { ...createFakeMemoryProvider(), tools: () => [ring] };
      const app = await stage.open({ extra: { client: createScriptedModel([]), memoryProviders: [provider] } });
      const names = app.tools().schemas.map(({ name }) => name);
      assert.ok(names.includes('ring_bell'), names.join());
      assert.equal(names.includes('memory'), enabled);
      await app.shutdown();
    }
  });

  test('one that is not there is a notice, and the files alone are used', async (t) => {
    const stage = createStage(t);
    stage.temp.write('home/config.yaml', 'memory:\n  provider: nowhere\n');
    const app = await stage.open({ extra: { client: createScriptedModel([]) } });
    assert.ok(
      app.notices.some((notice) => /no provider nowhere/.test(notice)),
      app.notices.join(),
    );
    await app.shutdown();
  });
});
