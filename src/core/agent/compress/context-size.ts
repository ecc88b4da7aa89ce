// Owns how many tokens messages and prompts are reckoned to take, without a tokenizer. Pure.
// Invariant: the size of a conversation is the sum of its messages, so that it can be kept up by addition.
import { estimateTokens } from '#base/text.ts';
import type { Message, Part } from '#core/model/message.ts';
import type { FrozenPrompt } from '../session-store.ts';

/** What the frame of a message takes beside its words. */
const FRAME_TOKENS = 4;

/** Messages never change, so each is reckoned once. */
const known = new WeakMap<Message, number>();

export function messageTokens(message: Message): number {
  const before = known.get(message);
  if (before !== undefined) return before;
  const tokens = message.parts.reduce((sum, part) => sum + estimateTokens(partText(part)), FRAME_TOKENS);
  known.set(message, tokens);
  return tokens;
}

/** Never less than `messageTokens`: no text takes more tokens than it has UTF-16 units. Costs no reading of the text. */
export function mostMessageTokens(message: Message): number {
  return message.parts.reduce((sum, part) => sum + partText(part).length, FRAME_TOKENS);
}

/** Never less than `promptTokens`. */
export function mostPromptTokens({ system, tools }: FrozenPrompt): number {
  return system.length + JSON.stringify(tools).length;
}

/** System text and tool schemas. */
export function promptTokens({ system, tools }: FrozenPrompt): number {
  return estimateTokens(system) + estimateTokens(JSON.stringify(tools));
}

/** A provider's count over our estimate of the same request; undefined when they are so far apart that it counted something else, e.g. what was not cached. */
export function countFactor(counted: number, estimated: number): number | undefined {
  const factor = counted / Math.max(1, estimated);
  return factor >= 0.5 && factor <= 4 ? factor : undefined;
}

function partText(part: Part): string {
  if (part.type === 'tool-call') return `${part.name} ${part.malformed ?? JSON.stringify(part.arguments)}`;
  return part.text;
}
