// Owns the translation of our request into the provider library's prompt, in Anthropic's terms.
// Invariant: a message always becomes the same bytes, so each request of a conversation extends the one before; thinking goes back
// only with the signature it came with.
import { sha256 } from '#base/ids.ts';
import type { AssistantMessage, Message, ReasoningPart, ToolMessage } from '../message.ts';
import type { ModelRequest, ToolSchema } from '../model-client.ts';
import type { SdkAssistantPart, SdkMessage, SdkPrompt, SdkTools } from './sdk-types.ts';
import { userText } from './user-text.ts';

export function toSdkPrompt(request: ModelRequest): SdkPrompt {
  const messages: SdkMessage[] = request.system === '' ? [] : [{ role: 'system', content: request.system }];
  for (const message of request.messages) {
    const translated = toSdkMessage(message);
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
