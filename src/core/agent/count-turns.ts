// Owns counting the turns of a conversation by its messages. Knows no store. Invariant: a turn counts once, by the message that began it,
// also when that message is one of those that a summary stands for.
import type { Message } from '#core/model/message.ts';
import { summaryText } from './compress/summary.ts';
import { turnsOf } from './compress/summary-text.ts';

export function countTurns(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + turnsIn(message), 0);
}

/** Each turn begins with a user message that somebody gave: not with context, a steer or a summary alone. */
export function isTurnStart(message: Message): boolean {
  return message.role === 'user' && message.parts.some((part) => part.label === undefined);
}

function turnsIn(message: Message): number {
  const summary = summaryText(message);
  if (summary !== undefined) return turnsOf(summary);
  return isTurnStart(message) ? 1 : 0;
}
