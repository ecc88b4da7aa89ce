// Owns cutting a conversation into turns, and the owner's own words in each. Knows no rule. Pure.
// Invariant: the turns joined again are the messages; a steer or a notice in mid-turn begins no turn.
import type { Message } from '#core/model/message.ts';

/** Messages of one turn; the first one is the line that began it, except in a history that was cut. */
export type Turn = readonly Message[];

export function splitTurns(messages: readonly Message[]): readonly Turn[] {
  const turns: Message[][] = [];
  for (const message of messages) {
    const current = turns.at(-1);
    if (current === undefined || startsTurn(message)) turns.push([message]);
    else current.push(message);
  }
  return turns;
}

function startsTurn(message: Message): boolean {
  return message.role === 'user' && message.parts.some(({ label }) => label === undefined || label === 'stdin');
}

/** What the owner typed in this message: no context, no piped text, no words of programs. */
export function ownerWords(message: Message | undefined): string {
  if (message?.role !== 'user') return '';
  return message.parts
    .filter(({ origin, label }) => origin === 'owner' && (label === undefined || label === 'steer'))
    .map(({ text }) => text)
    .join('\n')
    .trim();
}
