/** Turns that an extension runs on a system prompt of its own. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Extension, ExtensionHost, TurnRequest } from '#core/agent/extension-host.ts';
import { messageText } from '#core/model/message.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { createStage } from './app-fixture.ts';

const REQUEST: TurnRequest & { readonly system: string } = {
  text: '{"schema_version":"sample.v1","count":2}',
  purpose: 'recurse',
  tier: 'T2',
  tools: [],
  maxSteps: 1,
  system: 'You answer in JSON.',
};

function keeping(): { readonly extension: Extension; readonly host: () => ExtensionHost } {
  const kept: ExtensionHost[] = [];
  const activate = (host: ExtensionHost): void => {
    kept.push(host);
    host.addReflexTask({ schema: 'sample.v1', load: async () => (input) => `counted ${input.count}` });
  };
  const host = (): ExtensionHost => {
    const [first] = kept;
    assert.ok(first);
    return first;
  };
  return { extension: { name: 'sample', activate }, host };
}

const signal = new AbortController().signal;

describe('a turn on a prompt of its own', () => {
  test('sends that prompt and the text alone, twice beside one session that keeps the cost and no message', async (t) => {
    const stage = createStage(t);
    stage.temp.write('home/memories/MEMORY.md', 'The owner likes tea.\n');
    const { extension, host } = keeping();
    const client = createScriptedModel(['{"a":1}', '{"b":2}'], { context: t });
    const app = await stage.open({ extra: { client, extensions: [extension] } });
    for (const reply of ['{"a":1}', '{"b":2}']) {
      const events = await Array.fromAsync(host().runTurn({ ...REQUEST, maxOutputTokens: 300 }, signal));
      const end = events.at(-1);
      assert.equal(end?.type === 'turn-end' && end.text, reply);
    }
    for (const { system, tools, messages, maxOutputTokens } of client.requests) {
      assert.deepEqual({ system, tools, maxOutputTokens }, { system: REQUEST.system, tools: [], maxOutputTokens: 300 });
      assert.deepEqual(messages.map(messageText), [REQUEST.text]);
    }
    const [session, ...others] = await app.store.list({ source: 'extension' });
    assert.ok(session);
    assert.deepEqual([others.length, session.messageCount], [0, 0]);
    const costs = await app.store.costs({ sessionId: session.id });
    assert.deepEqual(
      costs.map(({ purpose, calls }) => [purpose, calls]),
      [['recurse', 2]],
    );
  });

  test('a model by name; one that is not set up is refused by name', async (t) => {
    const { extension, host } = keeping();
    const app = await createStage(t).open({ model: 'reflex', extra: { extensions: [extension] } });
    const events = await Array.fromAsync(host().runTurn({ ...REQUEST, model: 'reflex' }, signal));
    const end = events.at(-1);
    assert.equal(end?.type === 'turn-end' && end.text, 'counted 2');
    const none = host().runTurn({ ...REQUEST, model: 'openai/gpt-5' }, signal);
    await assert.rejects(Array.fromAsync(none), { code: 'model-unknown' });
    assert.equal(app.model().tier, 'T0');
  });

  test('without a model a known task is answered by its rule, another one is not', async (t) => {
    const { extension, host } = keeping();
    await createStage(t).open({ model: 'reflex', extra: { extensions: [extension] } });
    const answer = async (text: string) => {
      const end = (await Array.fromAsync(host().runTurn({ ...REQUEST, text }, signal))).at(-1);
      return end?.type === 'turn-end' ? `${end.outcome}: ${end.text}` : '';
    };
    assert.equal(await answer(REQUEST.text), 'done: counted 2');
    const other = await answer('{"schema_version":"other.v1"}');
    assert.equal(await answer('delete all files'), other);
    assert.ok(!other.includes('counted'));
  });
});
