// Owns what of a conversation the owner typed in this turn (ADR 0023). Knows no tool and no peer.
// Invariant: only what was typed counts, never context, piped text or what a peer wrote.
import type { Message } from '#core/model/message.ts';

/** Everything typed since this turn began, oldest first; steers in mid-turn are the owner's too. */
export function ownerWords(history: readonly Message[]): readonly string[] {
  const start = Math.max(0, history.findLastIndex(beginsTurn));
  const typed = history
    .slice(start)
    .flatMap((message) =>
      message.role === 'user' ? message.parts.filter(({ origin, label }) => origin === 'owner' && isTyped(label)) : [],
    );
  return typed.map(({ text }) => text);
}

function beginsTurn(message: Message): boolean {
  return message.role === 'user' && message.parts.some(({ label }) => label === undefined || label === 'stdin');
}

function isTyped(label: string | undefined): boolean {
  return label === undefined || label === 'steer';
}
