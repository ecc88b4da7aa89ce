// Owns the list of messages that a review may cite: `#id role: first words`. Pure.
// Invariant: newest messages are kept when room is short; every line names a stored message of this session; no context, no notice.
import { estimateTokens, sliceText } from '#base/text.ts';
import type { StoredMessage } from '#core/agent/session-store.ts';
import { type Message, messageText, toolCalls } from '#core/model/message.ts';

const SHOWN = 160;
/** Share of a window that the list may take. */
const SHARE = 0.08;
const MOST_TOKENS = 6_000;

export function citableMessages(messages: readonly StoredMessage[], window: number): string {
  const room = Math.min(MOST_TOKENS, Math.floor(window * SHARE));
  const lines: string[] = [];
  let used = 0;
  for (const { id, message } of messages.toReversed()) {
    const line = lineOf(id, message);
    used += line === undefined ? 0 : estimateTokens(line) + 1;
    if (used > room) break;
    if (line !== undefined) lines.unshift(line);
  }
  return lines.length === 0 ? '' : `Messages that can be cited (number, who, first words):\n${lines.join('\n')}`;
}

function lineOf(id: number, message: Message): string | undefined {
  const text = wordsOf(message).replace(/\s+/g, ' ').trim();
  return text === '' ? undefined : `#${id} ${whoOf(message)}: ${sliceText(text, SHOWN)}`;
}

function wordsOf(message: Message): string {
  const calls = toolCalls(message).map((call) => `${call.name} ${JSON.stringify(call.arguments)}`);
  return [messageText(message), ...calls].join(' ');
}

function whoOf(message: Message): string {
  if (message.role !== 'tool') return message.role;
  const [{ name, isError, observed }] = message.parts;
  const exit = observed.exitCode === undefined ? '' : ` exit ${observed.exitCode}`;
  return `tool ${name}${exit}${isError ? ' failed' : ''}`;
}
