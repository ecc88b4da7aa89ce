// Owns how many tokens messages and prompts are reckoned to take, without a tokenizer. Pure.
// Invariant: the size of a conversation is the sum of its messages, so that it can be kept up by addition.
import { estimateTokens } from '#base/text.ts';
import type { Message, Part } from '#core/model/message.ts';
import type { FrozenPrompt } from '../session-store.ts';

/** What the frame of a message takes beside its words. */
const FRAME_TOKENS = 4;

export function messageTokens(message: Message): number {
  return message.parts.reduce((sum, part) => sum + estimateTokens(partText(part)), FRAME_TOKENS);
}

/** System text and tool schemas. */
export function promptTokens({ system, tools }: FrozenPrompt): number {
  return estimateTokens(system) + estimateTokens(JSON.stringify(tools));
}

function partText(part: Part): string {
  if (part.type === 'tool-call') return `${part.name} ${part.malformed ?? JSON.stringify(part.arguments)}`;
  return part.text;
}
