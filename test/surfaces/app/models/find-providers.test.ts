import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { type Config, configSchema } from '#surfaces/app/home/config-schema.ts';
import { homeAt } from '#surfaces/app/home/home.ts';
import { fillVariables } from '#surfaces/app/home/variables.ts';
import { engineFolder, findLocalModels, findProviders, proxyProblem } from '#surfaces/app/models/find-providers.ts';
import { configuredProvider, firstChoice, type ModelGround, named } from '#surfaces/app/models/model-choice.ts';
import { type FoundProvider, PROVIDERS } from '#surfaces/app/models/provider-table.ts';
import { createTempHome } from '#testing/temp-home.ts';
import { verifies } from '../../../verifies.ts';
import { createStage } from '../app-fixture.ts';

function configOf(data: unknown): Config {
  return configSchema.parse(data);
}

const NOTHING = configOf({});

describe('finding providers', () => {
  verifies('core:home:found-keys-used', 'each known variable alone makes its provider usable, with the reason', () => {
    for (const row of PROVIDERS) {
      for (const variable of row.keyVariables) {
        const { providers, problems } = findProviders(NOTHING, { [variable]: 'a-key' });
        assert.deepEqual(problems, []);
        assert.equal(providers[0]?.name, row.name, variable);
        assert.equal(providers[0]?.apiKey, 'a-key');
        assert.equal(providers[0]?.reason, `${variable} is set`);
      }
    }
  });

  test('nothing set is nothing found', () => {
    assert.deepEqual(findProviders(NOTHING, { OPENAI_API_KEY: '', PATH: '/bin' }), { providers: [], problems: [] });
  });

  test('an own address needs no key, and has no default model of the maker', () => {
    const { providers } = findProviders(NOTHING, { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1/' });
    assert.equal(providers[0]?.baseUrl, 'http://127.0.0.1:9/v1');
    assert.equal(providers[0]?.defaultModel, undefined);
    assert.equal(providers[0]?.local, true);
    const both = findProviders(NOTHING, { OPENAI_BASE_URL: 'https://x.example/v1', OPENAI_API_KEY: 'k' });
    assert.equal(both.providers[0]?.reason, 'OPENAI_API_KEY and OPENAI_BASE_URL are set');
  });

  test('first hour start: a proxy that this Node cannot use is told', () => {
    const proxied = { https_proxy: 'proxy.example:3128' };
    assert.match(proxyProblem(proxied, '24.4.1') ?? '', /Node 24\.5 or later, and this is 24\.4\.1/);
    for (const node of ['24.5.0', '24.21.0', '25.0.0', undefined]) assert.equal(proxyProblem(proxied, node), undefined);
    assert.equal(proxyProblem({ NO_PROXY: '*' }, '24.4.1'), undefined);
  });

  test('first hour start: the proxies of the environment go with every provider', () => {
    const proxied = { https_proxy: 'proxy.example:3128', NO_PROXY: 'intern.example', OPENAI_API_KEY: 'k' };
    const { providers } = findProviders(configOf({ providers: { mine: { base_url: 'https://h.example' } } }), proxied);
    const proxies = { HTTPS_PROXY: 'http://proxy.example:3128', NO_PROXY: 'intern.example' };
    assert.deepEqual(
      providers.map((provider) => provider.proxies),
      [proxies, proxies],
    );
    const none = findProviders(NOTHING, { NO_PROXY: '*', OPENAI_API_KEY: 'k' });
    assert.equal(none.providers[0]?.proxies, undefined);
  });

  test('the configuration comes first, its references are filled', () => {
    const config = configOf({
      providers: { mine: { base_url: `\${WHERE}/v1`, api_key: `\${MY_KEY}`, default_model: 'm' } },
    });
    const { providers } = findProviders(config, { OPENAI_API_KEY: 'o', MY_KEY: 'k', WHERE: 'https://h.example' });
    assert.deepEqual(
      providers.map(({ name, baseUrl, apiKey }) => [name, baseUrl, apiKey]),
      [
        ['mine', 'https://h.example/v1', 'k'],
        ['openai', 'https://api.openai.com/v1', 'o'],
      ],
    );
  });

  verifies('core:bad-input:missing-key', 'a missing key names its variable and where to set it', () => {
    const config = configOf({
      providers: { anthropic: {}, mine: { base_url: 'https://h.example', api_key: `\${MY_KEY}` }, none: {} },
    });
    const { providers, problems } = findProviders(config, {});
    assert.deepEqual(providers, []);
    assert.match(problems[0]?.message ?? '', /ANTHROPIC_API_KEY is not set/);
    assert.match(problems[0]?.fix ?? '', /talaria setup --provider anthropic --key/);
    assert.match(problems[1]?.message ?? '', /MY_KEY is not set/);
    assert.match(problems[1]?.fix ?? '', /Set MY_KEY/);
    assert.match(problems[2]?.message ?? '', /providers\.none has no base_url/);
  });

  test('references are filled or refused by name, and nothing else is touched', () => {
    assert.deepEqual(fillVariables(`a \${A} $B {C}`, { A: '1' }), { ok: true, value: 'a 1 $B {C}' });
    const refused = fillVariables(`\${A}\${B}`, { A: '1' });
    assert.equal(!refused.ok && refused.detail, 'B is not set');
  });
});

describe('choosing the model', () => {
  const keys = { OPENAI_API_KEY: 'o', OPENROUTER_API_KEY: 'r' };
  const { providers } = findProviders(NOTHING, keys);
  const why = { reason: 'a test asks' };

  /** By what is known: `lists` by provider. */
  const choose = (
    name: string,
    found: readonly FoundProvider[],
    lists: Readonly<Record<string, readonly string[]>> = {},
  ) => {
    const choice = named(name, { providers: found, listed: (provider) => lists[provider.name] ?? [] }, why);
    return choice.ok ? `${choice.value.provider.name}: ${choice.value.model}` : `${choice.reason}: ${choice.detail}`;
  };

  test('without a wish the first provider is taken with its default, and nothing found is no choice', () => {
    assert.equal(firstChoice(providers)?.model, providers[0]?.defaultModel);
    assert.equal(firstChoice([]), undefined);
  });

  test('a map names endpoint and model at once, whatever the name looks like', () => {
    const config = configOf({ model: { default: 'openai/qwen', base_url: 'http://127.0.0.1:1/v1', api_key: `\${K}` } });
    const found = findProviders(config, { K: 'k', OPENAI_API_KEY: 'o' });
    const preferred = configuredProvider(config);
    const choice = named('openai/qwen', { providers: found.providers, listed: () => [] }, { ...why, preferred });
    assert.deepEqual(choice.ok && [choice.value.provider.name, choice.value.model], ['custom', 'openai/qwen']);
  });

  test('a known maker without a key is not sent to somebody else, but a router may serve it', () => {
    const only = findProviders(NOTHING, { DEEPSEEK_API_KEY: 'd' }).providers;
    assert.match(choose('anthropic/claude', only), /^missing-key: .*ANTHROPIC_API_KEY/);
    const router = findProviders(NOTHING, { OPENROUTER_API_KEY: 'r' }).providers;
    assert.equal(choose('anthropic/claude', router), 'openrouter: anthropic/claude');
  });

  test('what config.yaml sets up in vain is sent to nobody else', () => {
    const config = configOf({ providers: { mine: { base_url: 'http://h.example', api_key: `\${MY_KEY}` } } });
    const found = findProviders(config, { OPENROUTER_API_KEY: 'r' });
    const choice = named('mine/x', { ...found, listed: () => [] }, why);
    assert.match(choice.ok ? 'taken' : choice.detail, /mine cannot be used: MY_KEY is not set/);
  });

  test('first hour 3: a bare name goes where it is sure, and is refused where nobody is', () => {
    assert.match(choose('gpt-x', providers), /^no-model: .*openai\/gpt-x, openrouter\/gpt-x/);
    assert.equal(choose('gpt-5-mini', providers), 'openai: gpt-5-mini', 'the default of one is a name of it');
    assert.equal(choose('x-1', providers, { openrouter: ['x-1'], openai: ['y'] }), 'openrouter: x-1');
    assert.match(choose('x-1', providers, { openrouter: ['x-1'], openai: ['x-1'] }), /^no-model: .*Say one of/);
    assert.equal(choose('gpt-x', providers.slice(0, 1)), 'openai: gpt-x', 'with one provider there is no doubt');
    assert.equal(choose('openrouter', providers), 'openrouter: openrouter/auto');
    assert.match(choose('gpt-x', []), /^no-provider/);
    assert.match(choose('nosuch/model', providers.slice(0, 1)), /^no-provider/);
  });

  test('first hour 3: a name that the list lacks is refused with the nearest ones', () => {
    const lists = { openai: ['gpt-5-mini', 'gpt-5-nano', 'o4', 'whisper-1'] };
    assert.match(
      choose('openai/gpt-5-mni', providers, lists),
      /^no-model: openai has no model gpt-5-mni\. Nearest: openai\/gpt-5-mini, openai\/gpt-5-nano, /,
    );
    assert.match(choose('gpt-5-mni', providers.slice(0, 1), lists), /^no-model: .*Nearest: openai\/gpt-5-mini/);
    const claude = findProviders(NOTHING, { ANTHROPIC_API_KEY: 'a' }).providers;
    const dated = { anthropic: ['claude-opus-4-1-20250805'] };
    assert.equal(choose('anthropic/claude-opus-4-1', claude, dated), 'anthropic: claude-opus-4-1', 'a short form');
    assert.match(choose('anthropic/claude-opus-4', claude, dated), /^no-model/);
  });

  test('first hour 3: nearest names hold reflex, and of few models all; a list that has the name decides', () => {
    const lists = { openai: ['alpha', 'beta', 'gamma'] };
    const own = findProviders(NOTHING, { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }).providers;
    assert.match(choose('refle', own, lists), /Nearest: reflex/);
    assert.match(choose('openai/zzzzzz', own, lists), /Nearest: openai\/alpha, openai\/beta, openai\/gamma\.$/);
    assert.match(choose('alpha', providers, lists), /^openai: alpha$/);
    const both = findProviders(NOTHING, { OPENAI_API_KEY: 'o', OPENROUTER_API_KEY: 'r', GROQ_API_KEY: 'g' }).providers;
    assert.doesNotMatch(choose('zeta', both, lists), /openai\/zeta/, 'its list speaks against it');
  });

  test('a server of this machine may be named before it was found', () => {
    assert.equal(choose('ollama/qwen3:8b', providers), 'ollama: qwen3:8b');
  });
});

describe('model files', () => {
  const files = (t: TestContext, settings: unknown = {}, engine = true) => {
    const temp = createTempHome(t);
    temp.write('models/small.gguf', '');
    temp.write('models/large.gguf', '');
    const home = homeAt(temp.path);
    if (engine) mkdirSync(engineFolder(home), { recursive: true });
    const config = configOf(settings);
    const { providers } = findProviders(config, { OPENAI_API_KEY: 'o' }, findLocalModels(home, config));
    return { providers, ground: { providers, listed: () => [] } };
  };
  const pathOf = (name: string, ground: ModelGround) => {
    const choice = named(name, ground, { reason: 'a test asks' });
    if (!choice.ok) return choice.detail;
    return choice.value.provider.files?.find(({ model }) => model === choice.value.model)?.path ?? 'no file';
  };

  test('first hour 3: each file is a model of llama, and a name runs that file or none', (t) => {
    const { providers, ground } = files(t);
    assert.deepEqual(
      providers.map(({ name }) => name),
      ['openai', 'llama'],
    );
    for (const name of ['llama/small', 'small', 'small.gguf', 'llama/small.gguf'])
      assert.equal(pathOf(name, ground), 'small.gguf');
    assert.equal(pathOf('llama/large', ground), 'large.gguf');
    assert.match(
      pathOf('llama/smal', ground),
      /There is no model file for .*smal\. Nearest: llama\/small, llama\/large\./,
    );
    assert.equal(pathOf('llama', ground), 'large.gguf');
  });

  test('a section of config.yaml is another name for its file, and comes first', (t) => {
    const section = { kind: 'llama', path: 'small.gguf', context_length: 2048 };
    const { providers, ground } = files(t, { providers: { mine: section } });
    assert.equal(providers[0]?.name, 'llama');
    for (const name of ['mine', 'mine/small', 'llama/small', 'small', 'llama'])
      assert.equal(pathOf(name, ground), 'small.gguf', name);
    assert.equal(providers[0]?.files?.find(({ model }) => model === 'small')?.settings.context_length, 2048);
    assert.match(pathOf('mine/other', ground), /no model file/);
    const gone = files(t, { providers: { mine: { ...section, path: '/nowhere/gone.gguf' } } });
    assert.match(pathOf('mine', gone.ground), /there is no file/);
  });

  test('first hour 3: without the engine a file is listed with what is missing, and never taken by itself', (t) => {
    const { providers, ground } = files(t, {}, false);
    assert.match(pathOf('llama/small', ground), /the local engine is not installed: `talaria setup --local`/);
    assert.equal(firstChoice(providers.filter(({ files: local }) => local)), undefined);
  });
});

describe('providers of golems', () => {
  const why = { reason: 'a test asks' };

  test('who is paid by x402 is never the first choice, and says why when it is named without an address', async (t) => {
    const paid = findProviders(configOf({ providers: { bankr: { base_url: 'http://127.0.0.1:9/v1' } } }), {});
    assert.deepEqual([paid.providers[0]?.settings.payment, firstChoice(paid.providers)], ['x402', undefined]);
    const config = configOf({ providers: { bankr: { api_key: `\${K}` } } });
    const found = findProviders(config, { K: 'k' });
    assert.deepEqual(found.providers, []);
    const reason =
      'bankr is not configured: it is paid by x402, call by call, as only what Meta asks is; its base_url is wanted';
    assert.deepEqual(found.problems, [{ provider: 'bankr', message: reason, fix: 'Take another.' }]);
    for (const ground of [found, { providers: [], problems: [] }]) {
      const choice = named('bankr/m', { ...ground, listed: () => [] }, why);
      assert.match(choice.ok ? 'taken' : choice.detail, /is not configured: it is paid by x402.*Take another/);
    }
    const app = await createStage(t).open();
    const added = await app.addModel({ provider: 'bankr', key: 'k', model: 'm' }, new AbortController().signal);
    assert.match(added.ok ? 'added' : added.detail, /bankr is not configured/);
  });

  test('the local one is Ollama, found by its name alone; a key for Venice comes behind all others', () => {
    const choice = named('local-hermes/hermes:36b', { providers: [], listed: () => [] }, why);
    assert.deepEqual(choice.ok && [choice.value.provider.baseUrl, choice.value.provider.local, choice.value.model], [
      'http://127.0.0.1:11434/v1',
      true,
      'hermes:36b',
    ]);
    const { providers } = findProviders(NOTHING, { VENICE_API_KEY: 'v', HF_TOKEN: 'h' });
    assert.deepEqual(
      providers.map(({ name }) => name),
      ['huggingface', 'venice'],
    );
  });
});
