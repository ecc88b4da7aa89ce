// Owns the generated corpus of the recall bench: the LoCoMo sessions again and again, every third word replaced by another word of the
// corpus, a fifth of the messages with one of 20,000 rare tags. Invariant: the same count gives the same messages and questions.
import type { Conversation, Turn } from './locomo-data.ts';

export interface GeneratedMessage {
  readonly sessionId: string;
  readonly role: 'user';
  readonly speaker: string;
  readonly content: string;
  readonly timestamp: number;
}

const TAGS = 20_000;
const TAG_EVERY = 5;
const DAY_MS = 86_400_000;

/** Deterministic numbers in [0, 1) (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** The first `count` messages, session after session, copy after copy. */
export function* generateMessages(conversations: readonly Conversation[], count: number): Generator<GeneratedMessage> {
  const random = seeded(20_260_101);
  const turns = conversations.flatMap((conversation) =>
    conversation.turns.map((turn) => ({ ...turn, sessionId: `${conversation.id}_${turn.sessionId}` })),
  );
  const words = turns.flatMap((turn) => turn.content.split(' '));
  for (let made = 0; made < count; made += 1) {
    const turn = turns[made % turns.length] as Turn;
    const copy = Math.floor(made / turns.length);
    yield {
      sessionId: `${turn.sessionId}_${copy}`,
      role: 'user',
      speaker: turn.speaker,
      content: withTag(replaceWords(turn.content, words, random), random),
      timestamp: turn.timestamp + copy * DAY_MS,
    };
  }
}

function replaceWords(text: string, words: readonly string[], random: () => number): string {
  const start = Math.floor(random() * 3);
  const replaced = text.split(' ').map((word, at) => {
    return at % 3 === start ? (words[Math.floor(random() * words.length)] ?? word) : word;
  });
  return replaced.join(' ');
}

function withTag(text: string, random: () => number): string {
  if (random() >= 1 / TAG_EVERY) return text;
  return `${text} ${tagName(Math.floor(random() * TAGS))}`;
}

function tagName(number: number): string {
  return `tag${String(number).padStart(5, '0')}`;
}

/** LoCoMo questions of all categories in turn; every tenth names a rare tag as well. */
export function generateQuestions(conversations: readonly Conversation[], count: number): readonly string[] {
  const random = seeded(7);
  const texts = conversations.flatMap((conversation) => conversation.questions.map((question) => question.text));
  return Array.from({ length: count }, (_, at) => {
    const text = texts[at % texts.length] ?? '';
    return at % 10 === 9 ? `${text} ${tagName(Math.floor(random() * TAGS))}` : text;
  });
}
