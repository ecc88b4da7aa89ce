// Owns the ModelClient for every endpoint that speaks OpenAI's chat completions (OpenAI, OpenRouter, Ollama, llama.cpp, vLLM, …).
// Knows the dialect, not the transport. Invariant: the library is loaded at the first request; nothing here waits or retries.
import type { JsonObject } from '#base/json.ts';
import type { ModelClient, ModelEvent, ModelRequest } from '../model-client.ts';
import { modelTraits, replaysReasoning } from '../model-table.ts';
import { rewriteBody } from './openai-body.ts';
import { isLocalAddress, type ProviderClientOptions } from './provider-options.ts';
import { streamSdkCall } from './sdk-call.ts';
import { callIdFor, type Dialect, toSdkPrompt, toSdkTools } from './sdk-prompt.ts';

/** Reasoning that DeepSeek-like endpoints want back carries this replay data. */
const FIELD: JsonObject = { field: 'reasoning_content' };

export function createOpenAiClient(options: ProviderClientOptions): ModelClient {
  const { endpoint, model, tier, overrides } = options;
  const id = `${endpoint.provider}/${model}`;
  const traits = modelTraits(id, { local: isLocalAddress(endpoint.baseUrl), ...overrides });
  const wantsReasoning = overrides?.replayReasoning ?? replaysReasoning(id);
  const dialect: Dialect = {
    callId: callIdFor(isMistral(options) ? 'mistral' : 'any'),
    replayReasoning: (part) =>
      wantsReasoning && part.text !== '' && part.replay?.field === FIELD.field
        ? { type: 'reasoning', text: part.text }
        : undefined,
  };

  const stream = (request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> =>
    streamSdkCall(
      {
        id,
        traits,
        options,
        open: async (guarded) => {
          const { openAiModel } = await import('./openai-sdk.ts');
          return openAiModel({
            endpoint,
            model,
            fetch: guarded,
            rewriteBody: (body) =>
              rewriteBody(body, {
                endpoint,
                cacheMarks: traits.cacheMarks,
                cacheTtl: options.cacheTtl ?? '5m',
                ...(request.sessionId ? { sessionId: request.sessionId } : {}),
              }),
          });
        },
        call: callOptions(request, dialect),
        replay: (piece) => (wantsReasoning && piece.type === 'reasoning-end' ? FIELD : undefined),
        cutWithoutReason: false,
      },
      signal,
    );
  return { id, tier, traits, stream };
}

function callOptions(request: ModelRequest, dialect: Dialect) {
  const tools = toSdkTools(request.tools);
  return {
    prompt: toSdkPrompt(request, dialect),
    ...(tools ? { tools } : {}),
    ...(request.maxOutputTokens === undefined ? {} : { maxOutputTokens: request.maxOutputTokens }),
  };
}

function isMistral({ endpoint }: ProviderClientOptions): boolean {
  return URL.parse(endpoint.baseUrl)?.hostname.endsWith('mistral.ai') ?? false;
}
