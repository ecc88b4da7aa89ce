/** Listing the models of an endpoint. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ModelError } from '#core/model/model-client.ts';
import { listModels } from '#core/model/providers/list-models.ts';
import { isLocalAddress, shownUrl } from '#core/model/providers/provider-options.ts';
import { type ScriptedServerOptions, startScriptedServer } from '#testing/scripted-server.ts';

async function listing(options: ScriptedServerOptions, timeoutMs = 60_000) {
  const server = await startScriptedServer([], options);
  try {
    return await listModels({ baseUrl: server.baseUrl, apiKey: 'key-0123456789' }, { timeoutMs });
  } finally {
    await server.close();
  }
}

describe('list models', () => {
  test('ids in order, windows wherever servers say them', async () => {
    const models = [
      'plain',
      { id: 'openrouter', context_length: 200_000 },
      { id: 'vllm', max_model_len: 16_384 },
      { id: 'llama.cpp', meta: { n_ctx_train: 131_072, n_ctx: 4096 } },
      { id: 'lm-studio', max_context_length: 32_768, loaded_context_length: 8192 },
      { id: '' },
    ];
    assert.deepEqual(await listing({ models }), [
      { id: 'plain' },
      { id: 'openrouter', contextWindow: 200_000 },
      { id: 'vllm', contextWindow: 16_384 },
      { id: 'llama.cpp', contextWindow: 4096 },
      { id: 'lm-studio', contextWindow: 8192 },
    ]);
  });

  test('other shapes of a listing', async () => {
    assert.deepEqual(await listing({ modelsStep: { status: 200, body: '["a", "b"]' } }), [{ id: 'a' }, { id: 'b' }]);
    assert.deepEqual(await listing({ modelsStep: { status: 200, body: { models: [{ name: 'x' }] } } }), [{ id: 'x' }]);
  });

  const failures = [
    ['a web page', { fault: 'html' }, 'model-bad-response', /lists no models: an HTML page "Welcome"/],
    ['401', { status: 401, body: 'no' }, 'model-auth', /refused the key/],
    ['404', { status: 404, body: 'no' }, 'model-not-found', /base URL/],
    ['a hang', { fault: 'hang' }, 'model-timeout', /did not answer within 100 ms/],
    ['a reset', { fault: 'reset' }, 'model-unreachable', /lost before/],
    ['nothing', { status: 200, body: '' }, 'model-bad-response', /an empty answer/],
  ] as const;
  for (const [name, modelsStep, code, message] of failures) {
    test(`fails clearly: ${name}`, async () => {
      await assert.rejects(listing({ modelsStep }, name === 'a hang' ? 100 : undefined), (error) => {
        assert.ok(error instanceof ModelError);
        assert.match(error.message, message);
        assert.ok(error.fix);
        return error.code === code;
      });
    });
  }

  test('an abort ends it', async () => {
    const server = await startScriptedServer([], { modelsStep: { fault: 'hang' } });
    const controller = new AbortController();
    const asking = listModels({ baseUrl: server.baseUrl }, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await assert.rejects(asking, /enough/);
    await server.close();
  });

  test('which addresses are local', () => {
    const local = [
      'http://localhost:11434/v1',
      'http://127.0.0.1/v1',
      'http://[::1]:8080/v1',
      'http://192.168.1.5/v1',
      'http://10.0.0.1',
      'http://172.20.0.1',
      'http://nas.local/v1',
      'http://host.docker.internal/v1',
    ];
    const remote = [
      'https://api.openai.com/v1',
      'http://172.32.0.1',
      'http://11.0.0.1',
      'https://localhost.example.com',
      'nonsense',
    ];
    assert.deepEqual(
      local.filter((url) => !isLocalAddress(url)),
      [],
    );
    assert.deepEqual(remote.filter(isLocalAddress), []);
  });

  test('a shown URL has no secrets', () => {
    assert.equal(shownUrl('https://me:secret@host/v1/?key=secret#x'), 'https://host/v1');
    assert.equal(shownUrl('secret'), 'an address that is no URL');
  });
});
