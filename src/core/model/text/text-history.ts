// Owns how a conversation reads for a model without tool calling: calls as tagged text, results as user messages.
// Knows no parser, but what it renders is what the parser reads back. Invariant: roles alternate; equal messages give equal bytes.
import type { JsonObject } from '#base/json.ts';
import type { AssistantMessage, Message, ToolMessage, UserMessage } from '../message.ts';

/** One call as text; the text parser reads it as the same call. */
export function renderToolCall(name: string, args: JsonObject): string {
  // Tags inside arguments would end the block early; JSON has another spelling for `<`.
  const json = JSON.stringify({ name, arguments: args }).replaceAll('<', '\\u003c');
  return `<tool_call>${json}</tool_call>`;
}

/** The messages with no tool part left in them, neighbours of one role joined. */
export function toTextHistory(messages: readonly Message[]): readonly Message[] {
  const joined: (UserMessage | AssistantMessage)[] = [];
  for (const message of messages) {
    const plain = toPlain(message);
    if (!plain) continue;
    const last = joined.at(-1);
    if (last?.role === 'user' && plain.role === 'user') joined[joined.length - 1] = joinUser(last, plain);
    else if (last?.role === 'assistant' && plain.role === 'assistant')
      joined[joined.length - 1] = joinAssistant(last, plain);
    else joined.push(plain);
  }
  return joined;
}

function toPlain(message: Message): UserMessage | AssistantMessage | undefined {
  switch (message.role) {
    case 'user':
      return message;
    case 'tool':
      return resultMessage(message);
    case 'assistant':
      return assistantText(message);
  }
}

function resultMessage({ parts: [result] }: ToolMessage): UserMessage {
  const text = `[Tool Result: ${result.name}]\n${result.text === '' ? '(no output)' : result.text}`;
  return { role: 'user', parts: [{ type: 'text', text, origin: result.origin }] };
}

/** Text and calls as one text part; reasoning stays a part of its own, for the provider to send or to leave out. */
function assistantText(message: AssistantMessage): AssistantMessage | undefined {
  const texts: string[] = [];
  for (const part of message.parts) {
    if (part.type === 'text') texts.push(part.text.trim());
    if (part.type === 'tool-call') texts.push(part.malformed ?? renderToolCall(part.name, part.arguments));
  }
  const text = texts.filter((piece) => piece !== '').join('\n');
  if (text === '') return undefined;
  const reasoning = message.parts.filter((part) => part.type === 'reasoning');
  return { ...message, parts: [...reasoning, { type: 'text', text, origin: 'model' }] };
}

function joinUser(first: UserMessage, second: UserMessage): UserMessage {
  return { role: 'user', parts: [...first.parts, ...second.parts] };
}

function joinAssistant(first: AssistantMessage, second: AssistantMessage): AssistantMessage {
  const text = [first, second].map(textOf).join('\n\n');
  const reasoning = [...first.parts, ...second.parts].filter((part) => part.type === 'reasoning');
  return { ...second, parts: [...reasoning, { type: 'text', text, origin: 'model' }] };
}

function textOf(message: AssistantMessage): string {
  return message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
