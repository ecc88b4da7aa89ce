// Owns the table of known providers (variable, address, model when none is named) and the shape of one that was found. Knows no network.
// Invariants: the order of the rows is the order in which found keys are used, local endpoints come before paid ones only when nothing else is
// set (a golem has an order of its own: core/model/providers/golem-providers.ts); a key is never part of a text.
import type { Proxies } from '#core/model/providers/provider-options.ts';
import type { ProviderConfig } from '../home/config-schema.ts';

export interface ProviderRow {
  readonly name: string;
  readonly kind: 'openai' | 'anthropic';
  /** Variables that may hold the key, first one first. */
  readonly keyVariables: readonly string[];
  readonly baseUrl: string;
  /** Variable that overrides the address. */
  readonly baseUrlVariable?: string;
  readonly defaultModel?: string;
  /** Offers models of other providers under `maker/model` names. */
  readonly aggregator?: true;
  /** A call at a time, from a purse: asked for what Meta asks alone, where `base_url` is set. */
  readonly paidBy?: 'x402';
  /** Where a person gets a key. */
  readonly keysAt: string;
}

export const PROVIDERS: readonly ProviderRow[] = [
  {
    name: 'openai',
    kind: 'openai',
    keyVariables: ['OPENAI_API_KEY'],
    baseUrl: 'https://api.openai.com/v1',
    baseUrlVariable: 'OPENAI_BASE_URL',
    defaultModel: 'gpt-5-mini',
    keysAt: 'https://platform.openai.com/api-keys',
  },
  {
    name: 'anthropic',
    kind: 'anthropic',
    keyVariables: ['ANTHROPIC_API_KEY'],
    baseUrl: 'https://api.anthropic.com/v1',
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    defaultModel: 'claude-sonnet-4-5',
    keysAt: 'https://console.anthropic.com/settings/keys',
  },
  {
    name: 'openrouter',
    kind: 'openai',
    keyVariables: ['OPENROUTER_API_KEY'],
    baseUrl: 'https://openrouter.ai/api/v1',
    defaultModel: 'openrouter/auto',
    aggregator: true,
    keysAt: 'https://openrouter.ai/keys',
  },
  {
    name: 'gemini',
    kind: 'openai',
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    defaultModel: 'gemini-2.5-flash',
    keysAt: 'https://aistudio.google.com/apikey',
  },
  {
    name: 'deepseek',
    kind: 'openai',
    keyVariables: ['DEEPSEEK_API_KEY'],
    baseUrl: 'https://api.deepseek.com/v1',
    defaultModel: 'deepseek-chat',
    keysAt: 'https://platform.deepseek.com/api_keys',
  },
  {
    name: 'mistral',
    kind: 'openai',
    keyVariables: ['MISTRAL_API_KEY'],
    baseUrl: 'https://api.mistral.ai/v1',
    defaultModel: 'mistral-medium-latest',
    keysAt: 'https://console.mistral.ai/api-keys',
  },
  {
    name: 'groq',
    kind: 'openai',
    keyVariables: ['GROQ_API_KEY'],
    baseUrl: 'https://api.groq.com/openai/v1',
    defaultModel: 'llama-3.3-70b-versatile',
    aggregator: true,
    keysAt: 'https://console.groq.com/keys',
  },
  {
    name: 'xai',
    kind: 'openai',
    keyVariables: ['XAI_API_KEY'],
    baseUrl: 'https://api.x.ai/v1',
    defaultModel: 'grok-4',
    keysAt: 'https://console.x.ai',
  },
  {
    name: 'together',
    kind: 'openai',
    keyVariables: ['TOGETHER_API_KEY'],
    baseUrl: 'https://api.together.xyz/v1',
    aggregator: true,
    keysAt: 'https://api.together.ai/settings/api-keys',
  },
  {
    name: 'fireworks',
    kind: 'openai',
    keyVariables: ['FIREWORKS_API_KEY'],
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    aggregator: true,
    keysAt: 'https://fireworks.ai/account/api-keys',
  },
  {
    name: 'cerebras',
    kind: 'openai',
    keyVariables: ['CEREBRAS_API_KEY'],
    baseUrl: 'https://api.cerebras.ai/v1',
    keysAt: 'https://cloud.cerebras.ai',
  },
  {
    name: 'moonshot',
    kind: 'openai',
    keyVariables: ['MOONSHOT_API_KEY'],
    baseUrl: 'https://api.moonshot.ai/v1',
    keysAt: 'https://platform.moonshot.ai/console/api-keys',
  },
  {
    name: 'zai',
    kind: 'openai',
    keyVariables: ['ZAI_API_KEY', 'GLM_API_KEY'],
    baseUrl: 'https://api.z.ai/api/paas/v4',
    keysAt: 'https://z.ai/manage-apikey/apikey-list',
  },
  {
    name: 'huggingface',
    kind: 'openai',
    keyVariables: ['HF_TOKEN'],
    baseUrl: 'https://router.huggingface.co/v1',
    aggregator: true,
    keysAt: 'https://huggingface.co/settings/tokens',
  },
  {
    name: 'venice',
    kind: 'openai',
    keyVariables: ['VENICE_API_KEY'],
    baseUrl: 'https://api.venice.ai/api/v1',
    keysAt: 'https://venice.ai/settings/api',
  },
  { name: 'bankr', kind: 'openai', keyVariables: [], baseUrl: '', paidBy: 'x402', keysAt: '' },
  { name: 'bardo-gateway', kind: 'openai', keyVariables: [], baseUrl: '', paidBy: 'x402', keysAt: '' },
];

export interface LocalRow {
  readonly name: string;
  /** As a person calls it. */
  readonly title: string;
  readonly baseUrl: string;
  /** Another name of a server that has a row: found only by who names it. */
  readonly isAlias?: true;
}

/** Servers that people run on their own machine, at their default ports. */
export const LOCAL_ENDPOINTS: readonly LocalRow[] = [
  { name: 'ollama', title: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1' },
  { name: 'llama-cpp', title: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1' },
  { name: 'vllm', title: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1' },
  { name: 'lm-studio', title: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1' },
  { name: 'local-hermes', title: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', isAlias: true },
];

export function providerRow(name: string): ProviderRow | undefined {
  return PROVIDERS.find((row) => row.name === name);
}

export interface FoundProvider {
  readonly name: string;
  readonly kind: 'openai' | 'anthropic' | 'llama';
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** Variable that the key came from or should be put in. */
  readonly keyVariable?: string;
  readonly defaultModel?: string;
  /** Takes `maker/model` names of other providers. */
  readonly aggregator: boolean;
  /** On this machine. */
  readonly local: boolean;
  /** Ways out that the environment names. */
  readonly proxies?: Proxies;
  /** Why it is used: `OPENAI_API_KEY is set`. */
  readonly reason: string;
  /** What config.yaml says about it. */
  readonly settings: ProviderConfig;
  /** Of `llama` alone: all models that it has. */
  readonly files?: readonly LocalFile[];
}

/** A GGUF file. */
export interface LocalFile {
  readonly model: string;
  /** Relative paths start in the home's `models`. */
  readonly path: string;
  /** Whole names that mean it: `llama/<model>`, and those of its section in config.yaml. */
  readonly names: readonly string[];
  readonly reason: string;
  readonly settings: ProviderConfig;
  /** Why it cannot answer now. */
  readonly missing?: string;
}
