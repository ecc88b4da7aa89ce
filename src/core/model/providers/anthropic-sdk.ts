// Owns the one static import of the Anthropic provider library; this file is loaded at the first request and not before.
import { createAnthropic } from '@ai-sdk/anthropic';
import type { Endpoint } from './provider-options.ts';
import type { SdkModel } from './sdk-types.ts';

export interface AnthropicSdkSettings {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly fetch: typeof fetch;
}

export function anthropicModel({ endpoint, model, fetch }: AnthropicSdkSettings): SdkModel {
  const provider = createAnthropic({
    baseURL: endpoint.baseUrl,
    // Always given: the library would look for one in the environment otherwise.
    apiKey: endpoint.apiKey ?? '',
    fetch,
    ...(endpoint.headers ? { headers: { ...endpoint.headers } } : {}),
  });
  return provider.languageModel(model);
}
