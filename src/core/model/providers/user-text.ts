// Owns the one form in which a user message is sent, for every provider. Pure.
import type { TextPart } from '../message.ts';

/** All parts of a user message, in order, a blank line between. */
export function userText(parts: readonly TextPart[]): string {
  return parts
    .map((part) => part.text)
    .filter((text) => text !== '')
    .join('\n\n');
}
