/** What the inference tables of a golem.toml become. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { GOLEM_PROVIDERS, golemInference } from '#core/model/providers/golem-providers.ts';

const KEYS = { VENICE_API_KEY: 'v', OPENROUTER_API_KEY: 'r', ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o' };
const LOCAL = { endpoint: 'http://localhost:11434/v1', model: 'hermes', tier: 'T2' } as const;

type Tables = Parameters<typeof golemInference>[0];
type Table = NonNullable<Tables['providers']>[number];
const small = (name: string): Table => ({ name, model: 'm', tier: 'T1' });
const large = (name: string): Table => ({ name, model: 'm', tier: 'T2' });

describe('inference of a golem', () => {
  const cases: Readonly<Record<string, [Tables, object]>> = {
    'without tables nobody is asked': [{}, { providers: {}, tiers: { T1: [], T2: [] }, unused: [] }],
    'the order is the same whatever was written, others last': [
      { 'local-hermes': LOCAL, providers: ['mine', 'openai', 'openrouter', 'anthropic', 'venice'].map(large) },
      {
        tiers: { T1: [], T2: ['local-hermes/hermes', 'venice/m', 'openrouter/m', 'anthropic/m', 'openai/m', 'mine/m'] },
      },
    ],
    'what is for T2 is never asked for T1': [
      { providers: ['openai', 'anthropic', 'bankr', 'openrouter', 'venice'].map(small) },
      {
        tiers: { T1: ['venice/m', 'openrouter/m'], T2: [] },
        unused: ['bankr', 'anthropic', 'openai'].map((name) => `${name} is for T2, and never asked for T1.`),
      },
    ],
    'who is paid by x402 waits for somebody who can': [
      { providers: [large('bardo-gateway'), large('bankr')] },
      {
        tiers: { T1: [], T2: [] },
        unused: ['bankr', 'bardo-gateway'].map(
          (name) =>
            `${name} is not configured: it is paid by x402, call by call, as only what Meta asks is; its base_url is wanted.`,
        ),
      },
    ],
    'a key is named, never copied, and one that is not set is told': [
      {
        providers: [
          { ...large('venice'), api_key: '${MY_KEY}' },
          { ...large('mine'), endpoint: 'http://h/v1', api_key: '${VENICE_API_KEY}' },
          { ...large('groq'), model: 'g', endpoint: 'http://h/v1' },
        ],
      },
      {
        providers: {
          mine: { base_url: 'http://h/v1', api_key: '${VENICE_API_KEY}', default_model: 'm' },
          groq: { base_url: 'http://h/v1', default_model: 'g' },
        },
        unused: ['venice cannot be used: MY_KEY is not set.'],
      },
    ],
    'two models of one provider share its section; two endpoints do not': [
      {
        providers: [
          { ...small('venice'), model: 'little' },
          large('venice'),
          { ...large('venice'), model: 'x', endpoint: 'http://h/v1' },
        ],
      },
      {
        providers: { venice: { default_model: 'little' } },
        tiers: { T1: ['venice/little'], T2: ['venice/m'] },
        unused: ['venice stands there with two endpoints or keys: give the second one another name.'],
      },
    ],
  };
  for (const [name, [tables, expected]] of Object.entries(cases))
    test(name, () => {
      assert.partialDeepStrictEqual(golemInference(tables, KEYS), expected);
    });

  test('the order is the stated one, and without its key nobody of it is asked', () => {
    assert.deepEqual(
      GOLEM_PROVIDERS.map(({ name, tiers }) => `${name} ${tiers}`),
      [
        ...['local-hermes T1,T2', 'venice T1,T2', 'bankr T2', 'bardo-gateway T1,T2', 'openrouter T1,T2'],
        ...['anthropic T2', 'openai T2'],
      ],
    );
    const { tiers } = golemInference({ providers: GOLEM_PROVIDERS.map(({ name }) => large(name)) }, {});
    assert.deepEqual(tiers.T2, ['local-hermes/m']);
  });
});
