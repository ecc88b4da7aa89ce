import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { userMessage } from '#core/model/message.ts';
import { createReflexClient } from '#core/reflex/reflex-client.ts';
import { loadConfig } from '#surfaces/app/home/config.ts';
import { configSchema } from '#surfaces/app/home/config-schema.ts';
import { readEnvFile } from '#surfaces/app/home/env-file.ts';
import { homeAt } from '#surfaces/app/home/home.ts';
import { addModel } from '#surfaces/app/models/add-model.ts';
import { findProviders } from '#surfaces/app/models/find-providers.ts';
import { createLocalModels } from '#surfaces/app/models/local-models.ts';
import { openModelDesk } from '#surfaces/app/models/model-desk.ts';
import { createModelLists } from '#surfaces/app/models/model-lists.ts';
import { reflexFirst } from '#surfaces/app/models/reflex-first.ts';
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
  const { providers } = findProviders(surroundings.config, setup.variables ?? {});
  const notices: string[] = [];
  const later: (() => Promise<unknown>)[] = [];
  const desk = await openModelDesk(
    {
      surroundings,
      providers,
      reflex,
      ...(setup.flag ? { flag: setup.flag } : {}),
      notice: (text) => notices.push(text),
      later: (_, work) => later.push(work),
    },
    signal,
  );
  return { desk, notices, later, surroundings };
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

  verifies('core:model:fallback-reflex', 'when the provider fails the reflex takes over, announced', async (t) => {
    const temp = createTempHome(t);
    const server = await startScriptedServer([{ status: 401, body: { error: { message: 'bad key' } } }], {
      context: t,
    });
    const { desk } = await deskOf(temp, {
      variables: { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: 'k' },
      flag: 'openai/x',
    });
    const events = [];
    const request = { system: '', messages: [userMessage('hello')], tools: [], purpose: 'answer' } as const;
    for await (const event of desk.current().stream(request, signal)) events.push(event);
    const fallback = events.find((event) => event.type === 'fallback');
    assert.equal(fallback?.type === 'fallback' && fallback.to, 'reflex/1');
    const finish = events.at(-1);
    assert.equal(finish?.type === 'finish' && finish.tier, 'T0');
  });

  test('switching goes to reflex and back, and refuses what is not there', async (t) => {
    const { desk } = await deskOf(createTempHome(t), { variables: { OPENAI_API_KEY: 'k' }, flag: 'openai/a' });
    const away = await desk.switchTo('reflex', signal);
    assert.equal(away.ok && away.value.id, 'reflex/1');
    const back = await desk.switchTo('openai/b', signal);
    assert.equal(back.ok && back.value.id, 'openai/b');
    const bare = await desk.switchTo('c', signal);
    assert.equal(bare.ok && bare.value.id, 'openai/c');
    const refused = await desk.switchTo('anthropic/claude', signal);
    assert.equal(!refused.ok && refused.reason, 'missing-key');
    assert.equal(desk.info().id, 'openai/c');
  });

  test('tiers of the configuration are cascades, the chosen model is the last resort before reflex', async (t) => {
    const config = { model: 'openai/big', tiers: { T1: ['openai/small'], T2: ['openai/other'] } };
    const { desk } = await deskOf(createTempHome(t), { config, variables: { OPENAI_API_KEY: 'k' } });
    assert.equal(desk.info().id, 'openai/big');
    assert.equal(desk.forTier('T1').id, 'openai/small');
    assert.equal(desk.forTier('T0').id, 'reflex/1');
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
