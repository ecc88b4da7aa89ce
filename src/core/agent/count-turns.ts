// Owns counting the turns of a conversation by its messages. Knows no store. Invariant: a turn counts once, by the message that began it.
import type { Message } from '#core/model/message.ts';

/** Turns that these messages show: each begins with a user message that somebody gave, not with context or a steer alone. */
export function countTurns(messages: readonly Message[]): number {
  return messages.filter(isTurnStart).length;
}

function isTurnStart(message: Message): boolean {
  return message.role === 'user' && message.parts.some((part) => part.label === undefined);
}
