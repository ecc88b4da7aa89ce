// Owns the ModelClient for endpoints that speak Anthropic's messages. Knows the dialect, not the transport.
// Invariant: thinking goes back only with the signature it came with, and cache marks only onto a copy of the prompt.
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { ModelClient, ModelEvent, ModelRequest } from '../model-client.ts';
import { answerLimit, modelTraits } from '../model-table.ts';
import { type CacheTtl, cacheMark, markedIndexes } from '../prompt-cache.ts';
import { isLocalAddress, type ProviderClientOptions } from './provider-options.ts';
import { streamSdkCall } from './sdk-call.ts';
import type { ReasoningPiece } from './sdk-events.ts';
import { toSdkPrompt, toSdkTools } from './sdk-prompt.ts';
import type { SdkPrompt } from './sdk-types.ts';

export function createAnthropicClient(options: ProviderClientOptions): ModelClient {
  const { endpoint, model, tier } = options;
  const id = `${endpoint.provider}/${model}`;
  const traits = modelTraits(id, { local: isLocalAddress(endpoint.baseUrl), cacheMarks: true, ...options.overrides });
  const stream = (request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> =>
    streamSdkCall(
      {
        id,
        traits,
        options,
        open: async (exchange) => {
          const { anthropicModel } = await import('./anthropic-sdk.ts');
          const library = anthropicModel({ endpoint, model, fetch: exchange.fetch });
          const limit = request.maxOutputTokens ?? answerLimit(model, traits.contextWindow);
          const call = callOptions(request, limit, traits.cacheMarks ? (options.cacheTtl ?? '5m') : undefined);
          return (await library.doStream({ ...call, abortSignal: exchange.signal })).stream;
        },
        replay,
        cutWithoutReason: true,
      },
      signal,
    );
  return { id, tier, traits, stream };
}

function callOptions(request: ModelRequest, limit: number | undefined, ttl: CacheTtl | undefined) {
  const tools = toSdkTools(request.tools);
  const prompt = toSdkPrompt(request);
  return {
    prompt: ttl === undefined ? prompt : withMarks(prompt, ttl),
    ...(tools ? { tools } : {}),
    ...(limit === undefined ? {} : { maxOutputTokens: limit }),
    // Arguments then arrive as JSON that the endpoint has checked.
    providerOptions: { anthropic: { toolStreaming: false } },
  };
}

function withMarks(prompt: SdkPrompt, ttl: CacheTtl): SdkPrompt {
  const marked = new Set(markedIndexes(prompt.map((message) => message.role)));
  const providerOptions = { anthropic: { cacheControl: cacheMark(ttl) } };
  return prompt.map((message, index) => (marked.has(index) ? { ...message, providerOptions } : message));
}

function replay({ providerMetadata }: ReasoningPiece): JsonObject | undefined {
  const own: unknown = providerMetadata?.anthropic;
  if (!isJsonObject(own)) return undefined;
  if (typeof own.signature === 'string') return { signature: own.signature };
  if (typeof own.redactedData === 'string') return { redactedData: own.redactedData };
  return undefined;
}
