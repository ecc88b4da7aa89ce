/** What is known of models by name: strategy, window, marks, price. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NO_USAGE } from '#core/model/model-client.ts';
import {
  bareModelName,
  modelTraits,
  namesModel,
  PRICE_TABLE,
  PRICES_AS_OF,
  replaysReasoning,
  strategyFor,
} from '#core/model/model-table.ts';
import { priceCall } from '#core/model/providers/sdk-call.ts';
import { verifies } from '../../verifies.ts';

const TEXT = [
  'google/gemma-3-4b-it',
  'ollama/gemma2:9b',
  'ollama/gemma3',
  'llama/SmolLM2-135M-Instruct.Q4_1.gguf',
  'ollama/phi3:mini',
  'x/Phi-3.5-mini-instruct',
  'ollama/phi4',
  'meta/llama-2-7b-chat',
  'ollama/llama2',
  'ollama/llama3:8b',
  'mistralai/Mistral-7B-Instruct-v0.1',
  'ollama/tinyllama',
  'ollama/deepseek-r1:7b',
  'x/DeepSeek-R1-Distill-Qwen-1.5B',
  'x/vicuna-13b',
  'x/OLMo-2-7B',
];
const STRUCTURED = [
  'openai/gpt-5',
  'openai/gpt-4o',
  'anthropic/claude-sonnet-4-5',
  'ollama/qwen3:8b',
  'ollama/qwen2.5:7b-instruct',
  'x/Qwen3-Coder-30B-A3B-Instruct',
  'ollama/llama3.1:8b',
  'ollama/llama3.2',
  'x/Llama-3.3-70B-Instruct',
  'mistral/mistral-large-latest',
  'x/Mistral-7B-Instruct-v0.3',
  'deepseek/deepseek-chat',
  'deepseek/deepseek-reasoner',
  'x/deepseek-r1',
  'x/granite-3.3-8b-instruct',
  'x/functiongemma-270m',
  'x/Hermes-3-Llama-3.1-8B',
  'x/gpt-oss-20b',
  'nobody/has-heard-of-it',
  'stub/stub-model',
];

describe('strategy by name', () => {
  for (const id of TEXT)
    verifies('core:strategy:by-model-name', `${id} is text`, () => assert.equal(strategyFor(id), 'text'));
  for (const id of STRUCTURED)
    verifies('core:strategy:by-model-name', `${id} is structured`, () => assert.equal(strategyFor(id), 'structured'));

  verifies('core:strategy:by-model-name', 'the configuration wins', () => {
    assert.equal(strategyFor('ollama/gemma3:4b', { 'gemma3:4b': 'structured' }), 'structured');
    assert.equal(strategyFor('openai/gpt-5', { 'openai/*': 'text' }), 'text');
    assert.equal(strategyFor('openai/gpt-5', { '*gpt*5': 'text', 'gpt-5': 'structured' }), 'text');
    assert.equal(strategyFor('openai/gpt-5', { 'gpt-4': 'text' }), 'structured');
  });

  test('names', () => {
    assert.equal(bareModelName('openrouter/Qwen/Qwen3-8B:free'), 'qwen3-8b');
    assert.equal(bareModelName('ollama/deepseek-r1:7b'), 'deepseek-r1-7b');
    assert.equal(bareModelName('ollama/llama3.2:latest'), 'llama3.2');
    assert.ok(namesModel('a*a', 'x/aa'));
    assert.ok(!namesModel('a*a', 'x/a'));
  });
});

describe('traits', () => {
  test('windows by name, cautious when unknown', () => {
    assert.equal(modelTraits('anthropic/claude-sonnet-4-5').contextWindow, 200_000);
    assert.equal(modelTraits('openrouter/anthropic/claude-opus-4.8').contextWindow, 1_000_000);
    assert.equal(modelTraits('ollama/llama3.1:8b', { local: true }).contextWindow, 131_072);
    assert.equal(modelTraits('llama/SmolLM2-135M-Instruct').contextWindow, 8192);
    assert.equal(modelTraits('cloud/unknown').contextWindow, 32_768);
    assert.equal(modelTraits('ollama/unknown', { local: true }).contextWindow, 8192);
    assert.equal(modelTraits('cloud/unknown', { contextWindow: 64_000 }).contextWindow, 64_000);
  });

  test('marks only where they are taken', () => {
    assert.ok(modelTraits('anthropic/claude-sonnet-4-5').cacheMarks);
    assert.ok(modelTraits('openrouter/anthropic/claude-sonnet-4.5').cacheMarks);
    assert.ok(!modelTraits('openrouter/openai/gpt-5').cacheMarks);
    assert.ok(!modelTraits('openai/gpt-5').cacheMarks);
  });

  test('who wants reasoning back', () => {
    assert.ok(replaysReasoning('deepseek/deepseek-reasoner'));
    assert.ok(replaysReasoning('moonshot/kimi-k2-thinking'));
    assert.ok(!replaysReasoning('openai/gpt-5'));
    assert.ok(!replaysReasoning('ollama/qwen3:8b'));
  });
});

describe('price', () => {
  test('the table has a date, and its rows are in order: reading a cache is cheapest, writing an answer dearest', () => {
    assert.match(PRICES_AS_OF, /^20\d\d-\d\d$/);
    for (const { pattern, input, output, cached = input, cacheWrite = input } of PRICE_TABLE) {
      assert.ok(cached <= input && input <= cacheWrite && cacheWrite < output, String(pattern));
    }
  });

  const usage = {
    ...NO_USAGE,
    inputTokens: 1_000_000,
    cachedTokens: 400_000,
    cacheWriteTokens: 100_000,
    outputTokens: 200_000,
  };

  test('each kind of token at its own price', () => {
    // 500 K fresh at 3, 400 K read at 0.3, 100 K written at 3.75, 200 K out at 15.
    assert.equal(
      priceCall('anthropic/claude-sonnet-4-5-20250929', usage)?.toFixed(4),
      (1.5 + 0.12 + 0.375 + 3).toFixed(4),
    );
    assert.equal(
      priceCall('anthropic/claude-sonnet-4-5', usage, { hourCache: true })?.toFixed(4),
      (1.5 + 0.12 + 0.6 + 3).toFixed(4),
    );
    assert.equal(
      priceCall('openrouter/openai/gpt-5-mini', usage)?.toFixed(4),
      (0.6 * 0.25 + 0.4 * 0.025 + 0.2 * 2).toFixed(4),
    );
  });

  verifies(
    'core:model:cost-by-purpose',
    'unknown is null, never zero; local and reflex are free; the configuration wins',
    () => {
      assert.equal(priceCall('cloud/unknown', usage), null);
      assert.equal(priceCall('ollama/unknown', usage, { local: true }), 0);
      assert.equal(priceCall('reflex/1', usage), 0);
      assert.equal(priceCall('openrouter/x/y:free', usage), 0);
      assert.equal(priceCall('cloud/unknown', usage, { price: { input: 1, output: 2 } })?.toFixed(4), '1.4000');
    },
  );
});
