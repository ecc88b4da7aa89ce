import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Config, configSchema } from '#surfaces/app/home/config-schema.ts';
import { fillVariables, findProviders } from '#surfaces/app/models/find-providers.ts';
import { chooseModel } from '#surfaces/app/models/model-choice.ts';
import { PROVIDERS } from '#surfaces/app/models/provider-table.ts';
import { verifies } from '../../../verifies.ts';

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

  verifies(
    'core:model:choice-order',
    'flag, then configuration, then the default of the provider, then its list',
    () => {
      const config = configOf({ model: 'openrouter/some/model' });
      const flagged = chooseModel(config, providers, 'openai/gpt-x');
      assert.deepEqual(flagged.ok && [flagged.value?.provider.name, flagged.value?.model], ['openai', 'gpt-x']);
      const configured = chooseModel(config, providers);
      assert.deepEqual(configured.ok && [configured.value?.provider.name, configured.value?.model], [
        'openrouter',
        'some/model',
      ]);
      const byDefault = chooseModel(NOTHING, providers);
      assert.equal(byDefault.ok && byDefault.value?.model, providers[0]?.defaultModel);
      const unlisted = findProviders(NOTHING, { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }).providers;
      const listed = chooseModel(NOTHING, unlisted);
      assert.equal(listed.ok && listed.value?.model, undefined);
    },
  );

  test('nothing found and nothing wished is no choice', () => {
    assert.deepEqual(chooseModel(NOTHING, []), { ok: true, value: undefined });
  });

  test('a map names endpoint and model at once', () => {
    const config = configOf({ model: { default: 'qwen', base_url: 'http://127.0.0.1:1/v1', api_key: `\${K}` } });
    const found = findProviders(config, { K: 'k', OPENAI_API_KEY: 'o' });
    const chosen = chooseModel(config, found.providers);
    assert.deepEqual(chosen.ok && [chosen.value?.provider.name, chosen.value?.model], ['custom', 'qwen']);
  });

  test('a known maker without a key is not sent to somebody else, but a router may serve it', () => {
    const only = findProviders(NOTHING, { DEEPSEEK_API_KEY: 'd' }).providers;
    const refused = chooseModel(NOTHING, only, 'anthropic/claude');
    assert.equal(!refused.ok && refused.reason, 'missing-key');
    assert.match(!refused.ok ? refused.detail : '', /ANTHROPIC_API_KEY/);
    const routed = chooseModel(
      NOTHING,
      findProviders(NOTHING, { OPENROUTER_API_KEY: 'r' }).providers,
      'anthropic/claude',
    );
    assert.deepEqual(routed.ok && [routed.value?.provider.name, routed.value?.model], [
      'openrouter',
      'anthropic/claude',
    ]);
  });

  test('a bare name is a model of the first provider; a bare provider is its default', () => {
    const bare = chooseModel(NOTHING, providers, 'gpt-x');
    assert.deepEqual(bare.ok && [bare.value?.provider.name, bare.value?.model], ['openai', 'gpt-x']);
    const provider = chooseModel(NOTHING, providers, 'openrouter');
    assert.deepEqual(provider.ok && [provider.value?.provider.name, provider.value?.model], [
      'openrouter',
      'openrouter/auto',
    ]);
    const none = chooseModel(NOTHING, [], 'gpt-x');
    assert.equal(!none.ok && none.reason, 'no-provider');
  });
});
