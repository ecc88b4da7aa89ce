// Owns the ModelClient for endpoints that speak Anthropic's messages. Knows the dialect, not the transport.
// Invariant: thinking goes back only with the signature it came with, and cache marks only onto a copy of the prompt.
import { sha256 } from '#base/ids.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { AssistantMessage, Message, ReasoningPart, ToolMessage } from '../message.ts';
import type { ModelClient, ModelEvent, ModelRequest, ToolSchema } from '../model-client.ts';
import { answerLimit, modelTraits } from '../model-table.ts';
import { type CacheTtl, cacheMark, markedIndexes } from './prompt-cache.ts';
import { isLocalAddress, type ProviderClientOptions } from './provider-options.ts';
import {
  type ReasoningPiece,
  type SdkAssistantPart,
  type SdkMessage,
  type SdkModel,
  type SdkPrompt,
  type SdkTools,
  streamSdkCall,
  userText,
} from './sdk-call.ts';

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
          const { createAnthropic } = await import('@ai-sdk/anthropic');
          // A key is always given: the library would look for one in the environment otherwise.
          const { baseUrl: baseURL, apiKey = '', headers = {} } = endpoint;
          const provider = createAnthropic({ baseURL, apiKey, headers: { ...headers }, fetch: exchange.fetch });
          const library: SdkModel = provider.languageModel(model);
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

// The translation of our request into the provider library's prompt, in Anthropic's terms.
// Invariant: a message always becomes the same bytes, so each request of a conversation extends the one before; thinking goes back
// only with the signature it came with.

export function toSdkPrompt(request: ModelRequest): SdkPrompt {
  const messages: SdkMessage[] = request.system === '' ? [] : [{ role: 'system', content: request.system }];
  for (const message of request.messages) {
    const translated = toSdkMessage(message);
    if (translated) messages.push(translated);
  }
  return messages;
}

function toSdkTools(tools: readonly ToolSchema[]): SdkTools | undefined {
  if (tools.length === 0) return undefined;
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    inputSchema: structuredClone(parameters) as SdkTools[number] extends infer Tool
      ? Tool extends { inputSchema: infer Schema }
        ? Schema
        : never
      : never,
  }));
}

function toSdkMessage(message: Message): SdkMessage | undefined {
  switch (message.role) {
    case 'user': {
      const text = userText(message.parts);
      return text === '' ? undefined : { role: 'user', content: [{ type: 'text', text }] };
    }
    case 'assistant':
      return assistantMessage(message);
    case 'tool':
      return toolMessage(message);
  }
}

function assistantMessage(message: AssistantMessage): SdkMessage | undefined {
  const content = message.parts.flatMap((part): SdkAssistantPart[] => {
    if (part.type === 'reasoning') return signedReasoning(part);
    if (part.type === 'text') return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    return [{ type: 'tool-call', toolCallId: callId(part.callId), toolName: part.name, input: part.arguments }];
  });
  return content.some((part) => part.type !== 'reasoning') ? { role: 'assistant', content } : undefined;
}

function signedReasoning(part: ReasoningPart): SdkAssistantPart[] {
  const { signature, redactedData } = part.replay ?? {};
  if (typeof signature === 'string') {
    return [{ type: 'reasoning', text: part.text, providerOptions: { anthropic: { signature } } }];
  }
  if (typeof redactedData === 'string') {
    return [{ type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData } } }];
  }
  return [];
}

function toolMessage({ parts: [result] }: ToolMessage): SdkMessage {
  return {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: callId(result.callId),
        toolName: result.name,
        output: { type: result.isError ? 'error-text' : 'text', value: result.text },
      },
    ],
  };
}

/** Anthropic takes no dots or colons in ids, which other providers put there. */
function callId(id: string): string {
  return /^[\w-]{1,128}$/.test(id) ? id : `call_${sha256(id).slice(0, 24)}`;
}
