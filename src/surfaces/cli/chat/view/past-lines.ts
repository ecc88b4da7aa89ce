// Owns what is shown of a session that is gone on with: its last messages, tool calls in one line each. Knows no screen.
// Invariant: a pure function; every line is safe to print.
import type { Message, TextPart } from '#core/model/message.ts';
import { type EventLine, resultLine, withoutEdges, writesMarkdown } from '../../event-lines.ts';
import { oneLine, plain } from '../../terminal-text.ts';

export type PastLine = EventLine | { readonly kind: 'owner'; readonly text: string };

const SHOWN = 12;
const LONGEST = 4_000;

export function pastLines(messages: readonly Message[]): readonly PastLine[] {
  const earlier = messages.length - SHOWN;
  const lines = messages.slice(-SHOWN).flatMap(messageLines);
  if (earlier <= 0) return lines;
  return [{ kind: 'notice', text: `${earlier} earlier messages: /sessions show` }, ...lines];
}

function messageLines(message: Message): readonly PastLine[] {
  switch (message.role) {
    case 'user':
      return textLines(message.parts.map(ownersPart), 'owner');
    case 'assistant':
      return message.parts.flatMap((part): readonly PastLine[] => {
        if (part.type === 'text') return textLines([part.text], writesMarkdown(message.model) ? 'answer' : 'output');
        if (part.type !== 'tool-call') return [];
        return [{ kind: 'tool', text: oneLine(`${part.name} ${JSON.stringify(part.arguments)}`, 200) }];
      });
    case 'tool':
      return message.parts.map(resultLine);
  }
}

/** A part that nobody typed is named only: a file by its first line, which says which. */
function ownersPart({ text, label }: TextPart): string {
  if (label === undefined || label === 'steer') return text;
  return label === 'file' ? (text.split('\n', 1)[0] ?? '') : `[${label}]`;
}

function textLines(texts: readonly string[], kind: 'owner' | 'answer' | 'output'): readonly PastLine[] {
  const text = withoutEdges(plain(texts.join('\n')));
  if (text === '') return [];
  return [{ kind, text: text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}\n…` }];
}
