// Owns what a summary of compressed messages is: sections that a model words, exact values that nobody words, and where the originals are.
// Invariant: it stands in a user message of its own, as a part labelled `summary`, foreign when foreign words were in
// what it stands for (they may speak through it), else the model's: never the owner's word.
import type { Message, UserMessage } from '#core/model/message.ts';

/** What a model writes; `Files` begins with what tools recorded. */
export const WORDED = ['Goal', 'Done', 'Active state', 'Open', 'Decisions', 'Files'] as const;
/** What is gathered mechanically, word for word. */
export const EXACT = ['Tasks', 'Said', 'Errors', 'Paths', 'Links', 'Ids', 'Names', 'Values'] as const;

export type WordedSection = (typeof WORDED)[number];
export type ExactSection = (typeof EXACT)[number];
export type SectionName = WordedSection | ExactSection;

/** Lines of each section; the exact ones of the last five kinds are single values, most useful first. */
export type Sections = Readonly<Partial<Record<SectionName, readonly string[]>>>;

/** Messages of one session, by their ids. */
export interface Stretch {
  readonly sessionId: string;
  readonly fromId: number;
  readonly toId: number;
  readonly messages: number;
}

/** Which messages a summary stands for. */
export interface Coverage {
  /** Oldest first; several when the session was forked from another that had been compressed. */
  readonly stretches: readonly Stretch[];
  /** Turns that began in them. */
  readonly turns: number;
  readonly compressions: number;
}

export interface Summary {
  readonly coverage: Coverage;
  readonly sections: Sections;
}

export function summaryMessage(text: string, origin: 'model' | 'foreign' = 'model'): UserMessage {
  return { role: 'user', parts: [{ type: 'text', text, origin, label: 'summary' }] };
}

export function isSummary(message: Message): boolean {
  return summaryText(message) !== undefined;
}

/** The text of the summary that a message carries. */
export function summaryText(message: Message): string | undefined {
  if (message.role !== 'user') return undefined;
  return message.parts.find((part) => part.label === 'summary')?.text;
}
