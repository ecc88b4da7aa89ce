// Owns the ModelClient for every endpoint that speaks OpenAI's chat completions (OpenAI, OpenRouter, Ollama, llama.cpp, vLLM, …).
// Knows the dialect, not the transport. Invariant: the request leaves before the library that reads the answer is loaded;
// nothing here waits or retries.
import type { JsonObject } from '#base/json.ts';
import type { ModelClient, ModelEvent, ModelRequest } from '../model-client.ts';
import { modelTraits, replaysReasoning } from '../model-table.ts';
import type { Exchange } from './guarded-fetch.ts';
import { type BodyRules, chatBody, REASONING_FIELD } from './openai-body.ts';
import { type Endpoint, isLocalAddress, type ProviderClientOptions } from './provider-options.ts';
import { streamSdkCall } from './sdk-call.ts';
import type { SdkStream } from './sdk-types.ts';

const FIELD: JsonObject = { field: REASONING_FIELD };

export function createOpenAiClient(options: ProviderClientOptions): ModelClient {
  const { endpoint, model, tier, overrides, cacheTtl = '5m' } = options;
  const id = `${endpoint.provider}/${model}`;
  const traits = modelTraits(id, { local: isLocalAddress(endpoint.baseUrl), ...overrides });
  const replayReasoning = overrides?.replayReasoning ?? replaysReasoning(id);
  const rules: BodyRules = { endpoint, model, cacheMarks: traits.cacheMarks, cacheTtl, replayReasoning };

  const stream = (request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> =>
    streamSdkCall(
      {
        id,
        traits,
        options,
        open: (exchange) => openChat(exchange, endpoint, JSON.stringify(chatBody(request, rules))),
        replay: (piece) => (replayReasoning && piece.type === 'reasoning-end' ? FIELD : undefined),
        cutWithoutReason: false,
      },
      signal,
    );
  return { id, tier, traits, stream };
}

let library: Promise<typeof import('./openai-sdk.ts')> | undefined;

async function openChat(exchange: Exchange, endpoint: Endpoint, body: string): Promise<SdkStream> {
  const answer = exchange.fetch(`${endpoint.baseUrl.replace(/\/+$/, '')}/chat/completions`, {
    method: 'POST',
    headers: headersFor(endpoint),
    body,
  });
  // Loading the library blocks the thread: let the request leave first.
  if (!library) await Promise.race([answer, exchange.sent]);
  library ??= import('./openai-sdk.ts');
  const [{ readChatCompletion }] = await Promise.all([library, answer]);
  return readChatCompletion(answer, exchange.signal);
}

function headersFor({ apiKey, headers }: Endpoint): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'talaria',
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    ...headers,
  };
}
