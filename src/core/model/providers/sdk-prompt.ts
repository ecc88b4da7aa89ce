// Owns the translation of our request into the provider library's prompt. Knows the two dialects' differences as data.
// Invariant: a message always becomes the same bytes, so each request of a conversation extends the one before.
import { sha256 } from '#base/ids.ts';
import type { AssistantMessage, Message, ReasoningPart, TextPart, ToolCallPart, ToolMessage } from '../message.ts';
import type { ModelRequest, ToolSchema } from '../model-client.ts';
import type { SdkAssistantPart, SdkMessage, SdkPrompt, SdkTools } from './sdk-types.ts';

export interface Dialect {
  /** Reasoning parts that this provider wants back, as library options; undefined leaves the part out. */
  readonly replayReasoning: (part: ReasoningPart) => SdkAssistantPart | undefined;
  /** A call id in a form that the provider takes. */
  readonly callId: (id: string) => string;
}

export function toSdkPrompt(request: ModelRequest, dialect: Dialect): SdkPrompt {
  const messages: SdkMessage[] = request.system === '' ? [] : [{ role: 'system', content: request.system }];
  for (const message of request.messages) {
    const translated = toSdkMessage(message, dialect);
    if (translated) messages.push(translated);
  }
  return messages;
}

export function toSdkTools(tools: readonly ToolSchema[]): SdkTools | undefined {
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

/** The one text that a user message is sent as: all its parts, in order, a blank line between. */
export function userText(parts: readonly TextPart[]): string {
  return parts
    .map((part) => part.text)
    .filter((text) => text !== '')
    .join('\n\n');
}

function toSdkMessage(message: Message, dialect: Dialect): SdkMessage | undefined {
  switch (message.role) {
    case 'user': {
      const text = userText(message.parts);
      return text === '' ? undefined : { role: 'user', content: [{ type: 'text', text }] };
    }
    case 'assistant':
      return assistantMessage(message, dialect);
    case 'tool':
      return toolMessage(message, dialect);
  }
}

function assistantMessage(message: AssistantMessage, dialect: Dialect): SdkMessage | undefined {
  const content: SdkAssistantPart[] = [];
  for (const part of message.parts) {
    if (part.type === 'text' && part.text !== '') content.push({ type: 'text', text: part.text });
    if (part.type === 'tool-call') content.push(callPart(part, message, dialect));
    if (part.type === 'reasoning') {
      const kept = dialect.replayReasoning(part);
      if (kept) content.push(kept);
    }
  }
  return content.some((part) => part.type !== 'reasoning') ? { role: 'assistant', content } : undefined;
}

function callPart(part: ToolCallPart, message: AssistantMessage, dialect: Dialect): SdkAssistantPart {
  const signature = thoughtSignature(part, message);
  return {
    type: 'tool-call',
    toolCallId: dialect.callId(part.callId),
    toolName: part.name,
    input: part.arguments,
    ...(signature === undefined ? {} : { providerOptions: { google: { thoughtSignature: signature } } }),
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

function toolMessage({ parts: [result] }: ToolMessage, dialect: Dialect): SdkMessage {
  return {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: dialect.callId(result.callId),
        toolName: result.name,
        output: { type: result.isError ? 'error-text' : 'text', value: result.text },
      },
    ],
  };
}

const MISTRAL_ID = /^[A-Za-z0-9]{9}$/;

/** Mistral takes ids of exactly nine letters and digits; Anthropic no dots or colons; the rest takes anything. */
export function callIdFor(kind: 'any' | 'anthropic' | 'mistral'): (id: string) => string {
  if (kind === 'mistral') return (id) => (MISTRAL_ID.test(id) ? id : sha256(id).slice(0, 9));
  if (kind === 'anthropic') return (id) => (/^[\w-]{1,128}$/.test(id) ? id : `call_${sha256(id).slice(0, 24)}`);
  return (id) => id;
}
