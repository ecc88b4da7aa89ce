import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { userMessage } from '#core/model/message.ts';
import { type ModelClient, ModelError, type ModelEvent } from '#core/model/model-client.ts';
import { createReflexClient } from '#core/reflex/reflex-client.ts';
import { loadConfig } from '#surfaces/app/home/config.ts';
import { configSchema } from '#surfaces/app/home/config-schema.ts';
import { homeAt } from '#surfaces/app/home/home.ts';
import { readEnvFile } from '#surfaces/app/home/variables.ts';
import { addModel } from '#surfaces/app/models/add-model.ts';
import { goesFirst, reflexFirst } from '#surfaces/app/models/build-client.ts';
import {
  createLocalModels,
  createModelLists,
  findLocalModels,
  findProviders,
} from '#surfaces/app/models/find-providers.ts';
import { openModelDesk } from '#surfaces/app/models/model-desk.ts';
import { createScriptedModel } from '#testing/scripted-model.ts';
import { startScriptedServer } from '#testing/scripted-server.ts';
import { createTempHome, type TempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';

const { signal } = new AbortController();
const reflex = createReflexClient([]);

function surroundingsOf(temp: TempHome, config: unknown = {}) {
  const home = homeAt(temp.path);
  return {
    home,
    config: configSchema.parse(config),
    clock: systemClock,
    lists: createModelLists(home.cache, systemClock),
    locals: createLocalModels(home),
  };
}

async function deskOf(temp: TempHome, setup: { config?: unknown; variables?: Record<string, string>; flag?: string }) {
  const surroundings = surroundingsOf(temp, setup.config);
  const local = findLocalModels(surroundings.home, surroundings.config);
  const found = findProviders(surroundings.config, setup.variables ?? {}, local);
  const notices: string[] = [];
  const later: (() => Promise<unknown>)[] = [];
  const desk = await openModelDesk(
    {
      surroundings,
      ...found,
      reflex,
      ...(setup.flag ? { flag: setup.flag } : {}),
      notice: (text) => notices.push(text),
      later: (_, work) => later.push(work),
    },
    signal,
  );
  return { desk, notices, later, surroundings };
}

async function answerOf(model: ModelClient): Promise<readonly ModelEvent[]> {
  const request = { system: '', messages: [userMessage('hello')], tools: [], purpose: 'answer' } as const;
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request, signal)) events.push(event);
  return events;
}

/** A port on which nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

describe('the model desk', () => {
  test('config.yaml may choose the reflex, whatever else is set up', async (t) => {
    for (const model of ['reflex', { default: 'reflex/1' }]) {
      const { desk, notices } = await deskOf(createTempHome(t), {
        config: { model },
        variables: { OPENAI_API_KEY: 'k' },
      });
      assert.deepEqual([desk.info().id, desk.info().reason], ['reflex/1', 'config.yaml names it']);
      assert.deepEqual(notices, []);
    }
  });

  test('without any provider the reflex answers and says so', async (t) => {
    const { desk } = await deskOf(createTempHome(t), {});
    assert.equal(desk.info().id, 'reflex/1');
    assert.equal(desk.info().tier, 'T0');
    assert.match(desk.info().reason, /no model is set up/);
  });

  verifies(
    'core:model:choice-order',
    'the first id of the list is used, cached, and asked for beside the next time',
    async (t) => {
      const temp = createTempHome(t);
      const server = await startScriptedServer([], { models: ['first-model', 'second-model'], context: t });
      const variables = { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'key-of-test' };
      const first = await deskOf(temp, { variables });
      assert.equal(first.desk.info().id, 'openai/first-model');
      assert.equal(first.later.length, 0);
      const second = await deskOf(temp, { variables });
      assert.equal(second.desk.info().id, 'openai/first-model');
      assert.equal(second.later.length, 0, 'a fresh list is not asked for again');
      temp.write('cache/models.json', temp.read('cache/models.json').replace(/"at":\d+/, '"at":1'));
      const third = await deskOf(temp, { variables });
      assert.equal(third.later.length, 1);
      await third.later[0]?.();
      assert.equal(third.surroundings.lists.isStale(server.baseUrl), false);
      assert.deepEqual(
        second.desk.list().map((model) => model.id),
        ['openai/first-model', 'openai/second-model', 'reflex/1'],
      );
    },
  );

  verifies('core:bad-input:wrong-base-url', 'an address where nobody answers is named, with what to do', async (t) => {
    const baseUrl = `http://127.0.0.1:${await freePort()}/v1`;
    const { desk, notices } = await deskOf(createTempHome(t), { variables: { OPENAI_BASE_URL: baseUrl } });
    assert.match(notices[0] ?? '', new RegExp(`nothing answers at ${baseUrl}`));
    assert.match(notices[0] ?? '', /--model openai\//);
    assert.equal(desk.info().id, 'openai/default');
  });

  verifies(
    'core:model:chosen-or-nobody',
    'first hour 3: a provider that fails is the failure, and nobody answers in its place',
    async (t) => {
      const temp = createTempHome(t);
      const server = await startScriptedServer([{ status: 401, body: { error: { message: 'bad key' } } }], {
        context: t,
      });
      const variables = { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'k' };
      const { desk } = await deskOf(temp, { variables, flag: 'openai/x', config: { tiers: { T2: ['openai/other'] } } });
      await assert.rejects(answerOf(desk.current()), { code: 'model-auth' });
      assert.equal(desk.info().id, 'openai/x');
    },
  );

  test('first hour 3: a list of config.yaml falls through, and says so', async (t) => {
    const body = { error: { message: 'bad key' } };
    const server = await startScriptedServer([{ status: 401, body }, 'from the second'], { context: t });
    const config = { tiers: { T2: ['openai/first', 'openai/second'] } };
    const variables = { OPENAI_BASE_URL: server.baseUrl };
    const { desk } = await deskOf(createTempHome(t), { variables, config });
    assert.match(desk.info().reason, /tiers\.T2/);
    const events = await answerOf(desk.current());
    const fallback = events.find((event) => event.type === 'fallback');
    assert.ok(fallback?.type === 'fallback' && /tiers\.T2 of config\.yaml goes on/.test(fallback.reason));
    assert.equal(fallback.to, 'openai/second');
  });

  test('small work stays with T1 where that is strict', async (t) => {
    const server = await startScriptedServer([{ status: 401, body: { error: { message: 'bad key' } } }], {
      context: t,
    });
    const variables = { OPENAI_BASE_URL: server.baseUrl };
    const tiers = { T1: ['openai/small'], T2: ['openai/large'], strict: true };
    const { desk } = await deskOf(createTempHome(t), { variables, config: { tiers } });
    await assert.rejects(answerOf(desk.forTier('T1')), { code: 'model-auth' });
    const { desk: none } = await deskOf(createTempHome(t), { variables, config: { tiers: { ...tiers, T1: [] } } });
    await assert.rejects(answerOf(none.forTier('T1')), { code: 'model-none' });
  });

  test('first hour 3: a model of config.yaml without its key stays the model, and each call says what is missing', async (t) => {
    for (const config of [
      { model: 'anthropic/claude-x' },
      { model: { default: 'claude-x', provider: 'anthropic' } },
      { providers: { anthropic: {} } },
    ]) {
      const { desk } = await deskOf(createTempHome(t), { config });
      assert.equal(desk.info().tier, 'T2');
      assert.match(desk.info().reason, /cannot answer: .*ANTHROPIC_API_KEY/);
      await assert.rejects(answerOf(desk.current()), { code: 'model-none', message: /ANTHROPIC_API_KEY/ });
    }
    const { desk } = await deskOf(createTempHome(t), {
      config: { model: 'anthropic/claude-x' },
      variables: { OPENAI_API_KEY: 'k' },
    });
    assert.equal(desk.info().id, 'anthropic/claude-x', 'another key does not answer for it');
    const switched = await desk.switchTo('reflex', signal);
    assert.equal(switched.ok && switched.value.id, 'reflex/1');
  });

  test('switching goes to reflex and back, and refuses what is not there', async (t) => {
    const server = await startScriptedServer([], { models: ['a', 'b', 'c-large'], context: t });
    const variables = { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'k' };
    const { desk } = await deskOf(createTempHome(t), { variables, flag: 'openai/a' });
    const away = await desk.switchTo('reflex', signal);
    assert.equal(away.ok && away.value.id, 'reflex/1');
    const back = await desk.switchTo('openai/b', signal);
    assert.equal(back.ok && back.value.id, 'openai/b');
    const bare = await desk.switchTo('c-large', signal);
    assert.equal(bare.ok && bare.value.id, 'openai/c-large');
    const refused = await desk.switchTo('groq/claude', signal);
    assert.equal(!refused.ok && refused.reason, 'missing-key');
    const unknown = await desk.switchTo('c-lrage', signal);
    assert.match(unknown.ok ? 'taken' : unknown.detail, /Nearest: openai\/c-large/);
    assert.equal(desk.info().id, 'openai/c-large');
  });

  test('first hour 3: at the start a name goes as typed, unless the list that is known speaks against it', async (t) => {
    const temp = createTempHome(t);
    const server = await startScriptedServer([], { models: ['model-one', 'model-two'], context: t });
    const variables = { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'k' };
    const typed = await deskOf(temp, { variables, flag: 'openai/model-thre' });
    assert.equal(typed.desk.info().id, 'openai/model-thre');
    assert.deepEqual(typed.surroundings.lists.cached(server.baseUrl), [], 'no network before the first request');
    await deskOf(temp, { variables });
    await assert.rejects(deskOf(temp, { variables, flag: 'openai/model-twoo' }), {
      code: 'no-model',
      message: /openai has no model model-twoo\. Nearest: openai\/model-two/,
    });
    temp.write('cache/models.json', temp.read('cache/models.json').replace('model-two', 'model-old'));
    const fresh = await deskOf(temp, { variables, flag: 'openai/model-two' });
    assert.equal(fresh.desk.info().id, 'openai/model-two', 'the list was asked for once more');
  });

  test('first hour 3: where the endpoint alone knows, its 404 is shown with the nearest names', async (t) => {
    const missing = { status: 404, body: { error: { message: 'The model `model-on` does not exist' } } };
    const server = await startScriptedServer([missing], { models: ['model-one'], context: t });
    const variables = { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'k' };
    const { desk } = await deskOf(createTempHome(t), { variables, flag: 'openai/model-on' });
    await assert.rejects(answerOf(desk.current()), (error: unknown) => {
      assert.ok(error instanceof ModelError);
      return error.code === 'model-not-found' && /Nearest: openai\/model-one\./.test(error.fix ?? '');
    });
  });

  test('tiers of the configuration are cascades, and the model that answers does the rest', async (t) => {
    const config = { model: 'openai/big', tiers: { T1: ['openai/small'], T2: ['openai/other'] } };
    const variables = { OPENAI_API_KEY: 'k' };
    const { desk } = await deskOf(createTempHome(t), { config, variables });
    assert.equal(desk.info().id, 'openai/big');
    assert.equal(desk.forTier('T1').id, 'openai/small');
    assert.equal(desk.forTier('T0').id, 'reflex/1');
    const plain = await deskOf(createTempHome(t), { config: { model: 'openai/big' }, variables });
    assert.equal(plain.desk.forTier('T1').id, 'openai/big');
    await plain.desk.switchTo('reflex', signal);
    assert.equal(plain.desk.forTier('T1').id, 'reflex/1');
  });

  test('first hour 3: local files are listed beside a key, with what is missing', async (t) => {
    const temp = createTempHome(t);
    temp.write('models/small.gguf', '');
    const { desk } = await deskOf(temp, { variables: { OPENAI_API_KEY: 'k' } });
    const row = desk.list().find(({ id }) => id === 'llama/small');
    assert.match(
      row?.reason ?? '',
      /small\.gguf lies in .*; the local engine is not installed: `talaria setup --local`/,
    );
    await assert.rejects(deskOf(temp, { flag: 'llama/small' }), { message: /talaria setup --local/ });
  });

  test('no cache folder appears when nothing was asked', async (t) => {
    const temp = createTempHome(t);
    await deskOf(temp, { variables: { OPENAI_API_KEY: 'k' } });
    assert.deepEqual(readdirSync(temp.path), []);
  });
});

describe('adding a model', () => {
  verifies(
    ['core:cli:setup-without-terminal', 'core:home:secrets-in-env-only'],
    'a key that answers is kept in .env, the rest in config.yaml',
    async (t) => {
      const temp = createTempHome(t);
      const server = await startScriptedServer(['ok'], { models: ['little'], context: t });
      const surroundings = surroundingsOf(temp);
      const added = await addModel({ baseUrl: server.baseUrl, key: 'sentinel-key-0001' }, { surroundings }, signal);
      assert.ok(added.ok, JSON.stringify(added));
      assert.equal(added.value.model, 'little');
      assert.deepEqual(Object.values(readEnvFile(surroundings.home.env)), ['sentinel-key-0001']);
      assert.equal(temp.read('config.yaml').includes('sentinel'), false);
      const { config } = await loadConfig(surroundings.home.config);
      const found = findProviders(config, readEnvFile(surroundings.home.env));
      assert.equal(found.providers[0]?.apiKey, 'sentinel-key-0001');
      assert.equal(found.providers[0]?.baseUrl, server.baseUrl);
      assert.equal(config.model, `${added.value.provider.name}/little`);
    },
  );

  test('a key that is refused leaves nothing behind', async (t) => {
    const temp = createTempHome(t);
    const server = await startScriptedServer([{ status: 401, body: { error: { message: 'bad key' } } }], {
      context: t,
    });
    const surroundings = surroundingsOf(temp);
    const added = await addModel(
      { baseUrl: server.baseUrl, key: 'sentinel-key-0002', model: 'm' },
      { surroundings },
      signal,
    );
    assert.equal(!added.ok && added.reason, 'model-failed');
    assert.equal(!added.ok && added.detail.includes('sentinel'), false);
    assert.equal(readdirSync(temp.path).includes('.env'), false);
    assert.equal(readdirSync(temp.path).includes('config.yaml'), false);
  });

  test('what cannot be placed is refused with the way out', async (t) => {
    const surroundings = surroundingsOf(createTempHome(t));
    const reasons = async (addition: Parameters<typeof addModel>[0]) => {
      const added = await addModel(addition, { surroundings }, signal);
      return added.ok ? 'ok' : added.reason;
    };
    assert.equal(await reasons({ key: 'who knows' }), 'no-provider');
    assert.equal(await reasons({ provider: 'openai' }), 'missing-key');
    assert.equal(await reasons({ provider: 'mine', key: 'k' }), 'no-provider');
    assert.equal(await reasons({ baseUrl: 'not an address' }), 'no-provider');
    assert.equal(await reasons({ provider: 'No Name!', baseUrl: 'http://127.0.0.1:1' }), 'no-provider');
  });
});

describe('lists of models', () => {
  test('answers that are no list are refused, never thrown', async (t) => {
    const lists = createModelLists(join(createTempHome(t).path, 'cache'), systemClock);
    const provider = findProviders(configSchema.parse({}), { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }).providers[0];
    assert.ok(provider);
    for (const body of ['<html>', '[]', '{"data": 3}', '']) {
      const server = await startScriptedServer([], { modelsStep: { status: 200, body }, context: t });
      const listed = await lists.fetch({ ...provider, baseUrl: server.baseUrl }, signal);
      assert.ok(!listed.ok || listed.value.length === 0, body);
    }
    const gone = await lists.fetch({ ...provider, baseUrl: `http://127.0.0.1:${await freePort()}` }, signal);
    assert.equal(!gone.ok && gone.reason, 'model-unreachable');
  });

  test('where nothing can be kept it is asked all the same', async (t) => {
    const temp = createTempHome(t);
    temp.write('cache', 'no folder');
    const server = await startScriptedServer([], { context: t });
    const lists = createModelLists(join(temp.path, 'cache'), systemClock);
    const provider = findProviders(configSchema.parse({}), { OPENAI_BASE_URL: server.baseUrl }).providers[0];
    assert.ok(provider);
    assert.equal((await lists.fetch(provider, signal)).ok, true);
    assert.deepEqual(lists.cached(server.baseUrl), []);
  });

  test('a broken cache is an empty one', (t) => {
    const temp = createTempHome(t);
    temp.write('cache/models.json', '{"http');
    temp.write('cache/local-endpoints.json', '[]');
    const lists = createModelLists(join(temp.path, 'cache'), systemClock);
    assert.deepEqual(lists.cached('http://x'), []);
    assert.equal(lists.cachedLocal(), undefined);
  });
});

describe('reflex first', () => {
  test('beside models of this machine under 4B, by the size in their name, unless the owner says otherwise', () => {
    const beside = (id: string, local = true, wish?: boolean) =>
      goesFirst(wish, {
        id,
        tier: 'T2',
        traits: { contextWindow: 1, toolCalling: 'structured', cacheMarks: false, local },
      });
    for (const id of ['local/smollm2-135m-instruct', 'ollama/llama3.2:3b', 'local/Qwen2.5-1.5B-Instruct-Q4_K_M'])
      assert.equal(beside(id), true, id);
    for (const id of ['ollama/llama3.1:8b', 'local/mixtral-8x7b', 'local/some-model', 'ollama/qwen3:4b'])
      assert.equal(beside(id), false, id);
    assert.equal(beside('openrouter/llama-3.2-1b', false), false);
    assert.deepEqual([beside('openai/gpt-5', false, true), beside('ollama/llama3.2:3b', true, false)], [true, false]);
  });

  const call = { type: 'tool-call', callId: 'c1', name: 'terminal', arguments: {} } as const;

  test('what the rules cover is free, all else goes to the model', async (t) => {
    const acting = createScriptedModel([{ calls: [call] }, 'a refusal', 'done so'], {
      id: 'reflex/1',
      tier: 'T0',
      context: t,
    });
    const model = createScriptedModel(['the model answers'], { context: t });
    const both = reflexFirst(acting, model);
    const ask = async (messages: Parameters<typeof both.stream>[0]['messages']) => {
      const events = [];
      for await (const event of both.stream({ system: '', messages, tools: [], purpose: 'answer' }, signal))
        events.push(event);
      if (events.some((event) => event.type === 'tool-call')) return 'call';
      return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
    };
    assert.equal(await ask([userMessage('run x')]), 'call');
    assert.equal(await ask([userMessage('explain x')]), 'the model answers');
    const own = { role: 'assistant', model: 'reflex/1', parts: [{ ...call, origin: 'model' }] } as const;
    assert.equal(await ask([userMessage('run x'), own]), 'done so');
  });
});
