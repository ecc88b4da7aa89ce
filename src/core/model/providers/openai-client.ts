// Owns the bytes of a chat-completions request. Knows endpoints by host name.
// Invariant: a message always becomes the same bytes and `messages` comes last, so that each request of a conversation extends the
// one before; where marks are taken every text is in block form, marked or not.
import { newId, sha256 } from '#base/ids.ts';
import type { JsonObject } from '#base/json.ts';
import type { AssistantMessage, Message, ToolCallPart, ToolMessage, UserMessage } from '../message.ts';
import type { ModelClient, ModelEvent, ModelRequest } from '../model-client.ts';
import { modelTraits, replaysReasoning } from '../model-table.ts';
import { type Eyes, resultText, userBlocks } from '../pictures.ts';
import { authOf, type Exchange } from './http-request.ts';
import { applyCacheMarks, type CacheTtl } from './prompt-cache.ts';
import { type Endpoint, eyesOf, isLocalAddress, type ProviderClientOptions } from './provider-options.ts';
import { type SdkModel, type SdkStream, streamSdkCall } from './sdk-call.ts';

export interface BodyRules {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly cacheMarks: boolean;
  readonly cacheTtl: CacheTtl;
  /** Stored reasoning goes back as `reasoning_content`. */
  readonly replayReasoning: boolean;
  readonly eyes: Eyes;
}

/** Reasoning that such endpoints want back carries this replay data. */
const REASONING_FIELD = 'reasoning_content';

export interface ChatMessage {
  readonly role: string;
  readonly content: string | null | readonly object[];
  readonly [field: string]: unknown;
}

export function chatBody(request: ModelRequest, rules: BodyRules): Record<string, unknown> {
  const messages = chatMessages(request, rules);
  const tools = request.tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
  const openai = hostOf(rules.endpoint) === 'api.openai.com';
  // OpenAI itself refuses `max_tokens` for its newer models and routes by `prompt_cache_key`; others may not know either.
  const limit = openai ? 'max_completion_tokens' : 'max_tokens';
  return {
    model: rules.model,
    stream: true,
    stream_options: { include_usage: true },
    ...(request.maxOutputTokens === undefined ? {} : { [limit]: request.maxOutputTokens }),
    ...(openai && request.sessionId ? { prompt_cache_key: request.sessionId } : {}),
    ...(tools.length > 0 ? { tools } : {}),
    messages: rules.cacheMarks ? applyCacheMarks(messages.map(asBlocks), rules.cacheTtl) : messages,
  };
}

export function chatMessages(request: ModelRequest, rules: BodyRules): readonly ChatMessage[] {
  const callId = hostOf(rules.endpoint).endsWith('mistral.ai') ? mistralId : (id: string) => id;
  const system = request.system === '' ? [] : [{ role: 'system', content: request.system }];
  const rest: ChatMessage[] = [];
  let seen: UserMessage['parts'] = [];
  for (const [at, message] of request.messages.entries()) {
    const said = chatMessage(message, callId, rules);
    if (said) rest.push(said);
    // Results hold text alone here, and nothing may stand between those of one answer: their pictures come behind the last.
    if (message.role === 'tool' && rules.eyes.bytesOf) seen = [...seen, ...shownOf(message)];
    if (seen.length === 0 || request.messages[at + 1]?.role === 'tool') continue;
    rest.push({ role: 'user', content: userContent(seen, rules.eyes) });
    seen = [];
  }
  return [...system, ...rest];
}

function shownOf({ parts: [{ name, images = [] }] }: ToolMessage): UserMessage['parts'] {
  const head = { type: 'text', text: `[pictures of the result of ${name}]`, origin: 'observed' } as const;
  return images.length === 0 ? [] : [head, ...images];
}

function userContent(parts: UserMessage['parts'], eyes: Eyes): string | readonly object[] {
  const blocks = userBlocks(parts, eyes);
  const [only] = blocks;
  if (blocks.length < 2 && only?.type !== 'image') return only?.text ?? '';
  return blocks.map((block) =>
    block.type === 'text'
      ? block
      : { type: 'image_url', image_url: { url: `data:${block.mediaType};base64,${block.base64}` } },
  );
}

function chatMessage(message: Message, callId: (id: string) => string, rules: BodyRules): ChatMessage | undefined {
  switch (message.role) {
    case 'user': {
      const content = userContent(message.parts, rules.eyes);
      return content === '' ? undefined : { role: 'user', content };
    }
    case 'tool': {
      const [result] = message.parts;
      return { role: 'tool', tool_call_id: callId(result.callId), content: resultText(result, rules.eyes) };
    }
    case 'assistant':
      return assistantMessage(message, callId, rules.replayReasoning);
  }
}

/** Undefined for an answer that was cut before anything came: endpoints refuse empty ones. */
function assistantMessage(
  message: AssistantMessage,
  callId: (id: string) => string,
  replay: boolean,
): ChatMessage | undefined {
  const text = message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const calls = message.parts
    .filter((part) => part.type === 'tool-call')
    .map((part) => chatCall(part, message, callId));
  if (text === '' && calls.length === 0) return undefined;
  const reasoning = replay ? replayedReasoning(message) : '';
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(reasoning === '' ? {} : { [REASONING_FIELD]: reasoning }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

function replayedReasoning(message: AssistantMessage): string {
  return message.parts
    .map((part) => (part.type === 'reasoning' && part.replay?.field === REASONING_FIELD ? part.text : ''))
    .join('');
}

function chatCall(part: ToolCallPart, message: AssistantMessage, callId: (id: string) => string): object {
  const signature = thoughtSignature(part, message);
  return {
    id: callId(part.callId),
    type: 'function',
    function: { name: part.name, arguments: JSON.stringify(part.arguments) },
    ...(signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }),
  };
}

/** Gemini wants the signature of a thought back beside the call that followed from it. */
function thoughtSignature(call: ToolCallPart, message: AssistantMessage): string | undefined {
  for (const part of message.parts) {
    const replay = part.type === 'reasoning' ? part.replay : undefined;
    if (replay?.callId === call.callId && typeof replay.thoughtSignature === 'string') return replay.thoughtSignature;
  }
  return undefined;
}

/** Mistral takes ids of exactly nine letters and digits. */
function mistralId(id: string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : sha256(id).slice(0, 9);
}

function hostOf(endpoint: Endpoint): string {
  return URL.parse(endpoint.baseUrl)?.hostname ?? '';
}

function asBlocks(message: ChatMessage): ChatMessage {
  const { content } = message;
  if (typeof content !== 'string' || content === '') return message;
  return { ...message, content: [{ type: 'text', text: content }] };
}

// The ModelClient for every endpoint that speaks OpenAI's chat completions (OpenAI, OpenRouter, Ollama, llama.cpp, vLLM, …).
// Knows the dialect, not the transport. Invariant: the request leaves before the library that reads the answer is loaded;
// nothing here waits or retries.

const FIELD: JsonObject = { field: REASONING_FIELD };

export function createOpenAiClient(options: ProviderClientOptions): ModelClient {
  const { endpoint, model, tier, overrides, cacheTtl = '5m' } = options;
  const id = `${endpoint.provider}/${model}`;
  const traits = modelTraits(id, { local: isLocalAddress(endpoint.baseUrl), ...overrides });
  const replayReasoning = overrides?.replayReasoning ?? replaysReasoning(id);
  const { cacheMarks } = traits;
  const rules: BodyRules = {
    endpoint,
    model,
    cacheMarks,
    cacheTtl,
    replayReasoning,
    eyes: eyesOf(id, traits, options),
  };

  const stream = (request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> =>
    streamSdkCall(
      {
        id,
        traits,
        options,
        purpose: request.purpose,
        open: (exchange) => openChat(exchange, endpoint, JSON.stringify(chatBody(request, rules))),
        replay: (piece) => (replayReasoning && piece.type === 'reasoning-end' ? FIELD : undefined),
        cutWithoutReason: false,
      },
      signal,
    );
  return { id, tier, traits, stream };
}

async function openChat(exchange: Exchange, endpoint: Endpoint, body: string): Promise<SdkStream> {
  const answer = exchange.fetch(`${endpoint.baseUrl.replace(/\/+$/, '')}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...authOf(endpoint) },
    body,
  });
  // Loading the library blocks the thread: let the request leave first.
  if (!reader) await Promise.race([answer, exchange.sent]);
  reader ??= loadReader();
  const [library] = await Promise.all([reader, answer]);
  const ticket = newId('answer');
  answers.set(ticket, answer);
  try {
    return (await library.doStream({ prompt: [], abortSignal: exchange.signal, headers: { [TICKET]: ticket } })).stream;
  } finally {
    answers.delete(ticket);
  }
}

const TICKET = 'x-answer';
const answers = new Map<string, Promise<Response>>();
/** The library as a reader of answers, made once: it never asks anybody, and gets the answer that a ticket stands for in place of a fetch. */
let reader: Promise<SdkModel> | undefined;

async function loadReader(): Promise<SdkModel> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const take = (ticket: string) => answers.get(ticket) ?? Promise.reject(new Error('no answer was handed over'));
  const provider = createOpenAICompatible({
    name: 'openaiCompatible',
    baseURL: 'http://sent.invalid',
    fetch: (_url, init) => take(String(new Map(Object.entries(init?.headers ?? {})).get(TICKET))),
  });
  return provider.chatModel('sent');
}
