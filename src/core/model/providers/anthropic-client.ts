// Owns the ModelClient for endpoints that speak Anthropic's messages. Knows the dialect, not the transport.
// Invariant: thinking goes back only with the signature it came with, and cache marks only onto a copy of the prompt.
import { sha256 } from '#base/ids.ts';
import { isJsonObject, type JsonObject } from '#base/json.ts';
import type { AssistantMessage, Message, ReasoningPart, ToolMessage } from '../message.ts';
import type { ModelClient, ModelEvent, ModelRequest, ToolSchema } from '../model-client.ts';
import { answerLimit, modelTraits } from '../model-table.ts';
import { type Eyes, resultText, type UserBlock, userBlocks } from '../pictures.ts';
import { type CacheTtl, cacheMark, markedIndexes } from './prompt-cache.ts';
import { eyesOf, isLocalAddress, type ProviderClientOptions } from './provider-options.ts';
import {
  type ReasoningPiece,
  type SdkAssistantPart,
  type SdkMessage,
  type SdkModel,
  type SdkPrompt,
  type SdkTools,
  streamSdkCall,
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
        purpose: request.purpose,
        open: async (exchange) => {
          const { createAnthropic } = await import('@ai-sdk/anthropic');
          // A key is always given: the library would look for one in the environment otherwise.
          const { baseUrl: baseURL, apiKey = '', headers = {} } = endpoint;
          const provider = createAnthropic({ baseURL, apiKey, headers: { ...headers }, fetch: exchange.fetch });
          const library: SdkModel = provider.languageModel(model);
          const limit = request.maxOutputTokens ?? answerLimit(model, traits.contextWindow);
          const ttl = traits.cacheMarks ? (options.cacheTtl ?? '5m') : undefined;
          const call = callOptions(request, eyesOf(id, traits, options), { limit, ttl });
          return (await library.doStream({ ...call, abortSignal: exchange.signal })).stream;
        },
        replay,
        cutWithoutReason: true,
      },
      signal,
    );
  return { id, tier, traits, stream };
}

function callOptions(
  request: ModelRequest,
  eyes: Eyes,
  { limit, ttl }: { limit: number | undefined; ttl: CacheTtl | undefined },
) {
  const tools = toSdkTools(request.tools);
  const prompt = toSdkPrompt(request, eyes);
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

export function toSdkPrompt(request: ModelRequest, eyes: Eyes): SdkPrompt {
  const messages: SdkMessage[] = request.system === '' ? [] : [{ role: 'system', content: request.system }];
  for (const message of request.messages) {
    const translated = toSdkMessage(message, eyes);
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

function toSdkMessage(message: Message, eyes: Eyes): SdkMessage | undefined {
  switch (message.role) {
    case 'user': {
      const content = userBlocks(message.parts, eyes).map((block) => (block.type === 'text' ? block : filePart(block)));
      return content.length === 0 ? undefined : { role: 'user', content };
    }
    case 'assistant':
      return assistantMessage(message);
    case 'tool':
      return toolMessage(message, eyes);
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

function filePart({ mediaType, base64 }: Extract<UserBlock, { type: 'image' }>) {
  return { type: 'file' as const, mediaType, data: { type: 'data' as const, data: base64 } };
}

function toolMessage({ parts: [result] }: ToolMessage, eyes: Eyes): SdkMessage {
  const pictures = eyes.bytesOf && !result.isError ? userBlocks(result.images ?? [], eyes) : [];
  const value = resultText(result, eyes);
  const text = value === '' ? [] : [{ type: 'text' as const, text: value }];
  const shown = pictures.map((block) => (block.type === 'text' ? block : filePart(block)));
  return {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: callId(result.callId),
        toolName: result.name,
        output:
          shown.length > 0
            ? { type: 'content', value: [...text, ...shown] }
            : { type: result.isError ? 'error-text' : 'text', value },
      },
    ],
  };
}

/** Anthropic takes no dots or colons in ids, which other providers put there. */
function callId(id: string): string {
  return /^[\w-]{1,128}$/.test(id) ? id : `call_${sha256(id).slice(0, 24)}`;
}
