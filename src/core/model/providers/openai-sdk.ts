// Owns the one static import of the OpenAI-compatible provider library; this file is loaded at the first request and not before.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { Endpoint } from './provider-options.ts';
import type { SdkModel } from './sdk-types.ts';

export interface OpenAiSdkSettings {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly fetch: typeof fetch;
  readonly rewriteBody: (body: Record<string, unknown>) => Record<string, unknown>;
}

export function openAiModel({ endpoint, model, fetch, rewriteBody }: OpenAiSdkSettings): SdkModel {
  const provider = createOpenAICompatible({
    name: 'openaiCompatible',
    baseURL: endpoint.baseUrl,
    includeUsage: true,
    fetch,
    transformRequestBody: (body) => rewriteBody(body),
    ...(endpoint.apiKey ? { apiKey: endpoint.apiKey } : {}),
    ...(endpoint.headers ? { headers: { ...endpoint.headers } } : {}),
  });
  return provider.chatModel(model);
}
