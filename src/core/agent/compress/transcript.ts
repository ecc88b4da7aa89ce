// Owns how messages are shown to the summarising model: one entry a message with its id, long texts cut at both ends. Pure.
// Invariant: the whole fits its budget, and every message is there, if only with its first words.
import { estimateTokens, headTail } from '#base/text.ts';
import type { Message, Part } from '#core/model/message.ts';
import type { StoredMessage } from '../session-store.ts';

/** Characters of one message: what was said, and what tools printed. */
const FULL = { said: 2_400, printed: 800 };
const SMALLEST = 60;

export function renderTranscript(messages: readonly StoredMessage[], tokens: number): string {
  for (let share = 1; ; share /= 2) {
    const said = Math.max(SMALLEST, Math.floor(FULL.said * share));
    const printed = Math.max(SMALLEST, Math.floor(FULL.printed * share));
    const text = messages.map((stored) => entryOf(stored, { said, printed })).join('\n');
    if (estimateTokens(text) <= tokens) return text;
    if (said === SMALLEST) return headTail(text, tokens * 2, tokens * 2);
  }
}

function entryOf({ id, message }: StoredMessage, limit: typeof FULL): string {
  const pieces = message.parts.map((part) => pieceOf(part, limit)).filter((piece) => piece !== '');
  return `#${id} ${speakerOf(message)}: ${pieces.join('\n')}`;
}

function speakerOf(message: Message): string {
  if (message.role !== 'user') return message.role === 'tool' ? `result of ${message.parts[0].name}` : 'agent';
  return message.parts.some((part) => part.origin === 'owner') ? 'owner' : 'input';
}

function pieceOf(part: Part, limit: typeof FULL): string {
  switch (part.type) {
    case 'reasoning':
      return '';
    case 'tool-call':
      return `[calls ${part.name} ${cut(part.malformed ?? JSON.stringify(part.arguments), limit.printed)}]`;
    case 'tool-result':
      return `${part.isError ? '[failed] ' : ''}${cut(part.text, limit.printed)}`;
    case 'text':
      return part.label === 'context' || part.label === 'notice' ? '' : cut(part.text, limit.said);
  }
}

function cut(text: string, limit: number): string {
  return headTail(text, Math.ceil(limit * 0.7), Math.floor(limit * 0.3));
}
