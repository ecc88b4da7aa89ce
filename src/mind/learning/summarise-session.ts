// Owns the summary of one found session for recall (seed 001 ch 9): one call of a small model. Invariant: without a language model there is none.

import { type Clock, localDay } from '#base/clock.ts';
import { newId } from '#base/ids.ts';
import { contentStems } from '#base/text/words.ts';
import { estimateTokens, sliceText } from '#base/text.ts';
import type { SessionStore, StoredMessage } from '#core/agent/session-store.ts';
import { messageText } from '#core/model/message.ts';
import { type ModelClient, ModelError, type ModelRequest } from '#core/model/model-client.ts';
import { missingValue, sourceValues } from '#mind/evidence/trace-guard/hard-values.ts';
import type { SummariseSession } from '#mind/sessions/session-search-tool.ts';

export const RECALL_PROMPT = `Summarise what this stored conversation says about the question, and nothing else. At most five short sentences: what was asked or done, what was decided, numbers, names, commands and paths as they stand there, what stayed open. End every sentence with the ids of the messages that it rests on, like this: The port was set to 4010 [#12, #15]. Ids are the numbers before each message. If it says nothing about the question, answer "Nothing."`;

const MOST_TOKENS = 12_000;
/** Share of the model's window that the conversation may take. */
const SHARE = 0.5;
const SHOWN = 800;
const ANSWER_TOKENS = 500;

export function createSummariser({
  store,
  messagesOf,
  model,
  clock,
}: {
  readonly store: Pick<SessionStore, 'recordSpans'>;
  /** All messages of a session, oldest first. */
  readonly messagesOf: (sessionId: string) => readonly StoredMessage[];
  /** A small model; undefined: none is there. */
  readonly model: () => ModelClient | undefined;
  readonly clock: Clock;
}): SummariseSession {
  return async ({ query, sessionId, askedIn }, signal) => {
    const client = model();
    if (client === undefined || client.tier === 'T0') return undefined;
    const messages = messagesOf(sessionId).filter(({ message }) => messageText(message) !== '');
    const shown = relevant(messages, query, Math.min(MOST_TOKENS, client.traits.contextWindow * SHARE));
    const request = requestFor(query, shown);
    const from = { startedAt: clock.now(), monotonic: clock.monotonic() };
    const answer = await ask(client, request, signal);
    if (answer === undefined) return undefined;
    const { usage, cost, model: name, tier } = answer.finish;
    const base = { id: newId('span'), sessionId: askedIn, turn: 0, kind: 'step', name, status: 'ok' } as const;
    const spent = {
      startedAt: from.startedAt,
      ms: clock.monotonic() - from.monotonic,
      purpose: 'recall',
      tier,
      usage,
      cost,
    } as const;
    await store.recordSpans([{ ...base, ...spent }]);
    const { sentences, dropped } = citedSentences(answer.text, shown);
    if (sentences.length === 0) return undefined;
    const text = sentences
      .map((one) => `${one.text.replace(/[.\s]+$/, '')} [${one.ids.map((id) => `#${id}`).join(', ')}].`)
      .join(' ');
    return { topic: `${query}, ${dayOf(shown, sentences[0]?.ids[0])}`, text, dropped };
  };
}

function requestFor(query: string, shown: readonly StoredMessage[]): ModelRequest {
  const lines = shown.map(({ id, message }) => `#${id} ${message.role}: ${sliceText(messageText(message), SHOWN)}`);
  const text = `Question: ${query}\n\nConversation:\n${lines.join('\n')}`;
  return {
    system: RECALL_PROMPT,
    messages: [{ role: 'user', parts: [{ type: 'text', text, origin: 'foreign' }] }],
    tools: [],
    purpose: 'recall',
    maxOutputTokens: ANSWER_TOKENS,
  };
}

/** Undefined when the model failed: recall does without it. */
async function ask(client: ModelClient, request: ModelRequest, signal: AbortSignal) {
  let text = '';
  try {
    for await (const event of client.stream(request, signal)) {
      if (event.type === 'text-delta') text += event.text;
      if (event.type === 'retry' || event.type === 'fallback') text = '';
      if (event.type === 'finish') return { text, finish: event };
    }
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
  }
  return undefined;
}

/** Messages that share words with the question, with their neighbours, as many as there is room for; in order. */
function relevant(messages: readonly StoredMessage[], query: string, room: number): readonly StoredMessage[] {
  const wanted = new Set(contentStems(query));
  const score = ({ message }: StoredMessage) =>
    contentStems(messageText(message)).filter((stem) => wanted.has(stem)).length;
  const scores = messages.map(score);
  const near = (index: number) =>
    Math.max(scores[index] ?? 0, ((scores[index - 1] ?? 0) + (scores[index + 1] ?? 0)) / 2);
  const order = messages.map((_, index) => index).sort((a, b) => near(b) - near(a) || a - b);
  const chosen = new Set<number>();
  let used = 0;
  for (const index of order) {
    const stored = messages[index];
    used += stored === undefined ? 0 : estimateTokens(sliceText(messageText(stored.message), SHOWN)) + 8;
    if (used > room) break;
    chosen.add(index);
  }
  return messages.filter((_, index) => chosen.has(index));
}

function dayOf(shown: readonly StoredMessage[], id: number | undefined): string {
  return localDay(shown.find((one) => one.id === id)?.at ?? shown[0]?.at ?? 0);
}

interface CitingSentence {
  readonly text: string;
  readonly ids: readonly number[];
}

const MOST_SENTENCES = 6;
const LONGEST_ANSWER = 4_000;
/** Words up to the ids behind them; what follows no id cites nothing. */
const CITED = /([^[\]\n]{3,}?)\s*((?:\[\s*#\d+(?:\s*[,;]\s*#?\d+)*\s*\]\s*)+)[.]?|([^[\]\n]{3,})/g;

/** Sentences whose messages are there and hold their hard values. */
function citedSentences(
  answer: string,
  messages: readonly StoredMessage[],
): { readonly sentences: readonly CitingSentence[]; readonly dropped: number } {
  const said = [...sliceText(answer, LONGEST_ANSWER).matchAll(CITED)].map(
    ([, cited, ids, uncited = '']): CitingSentence => {
      const text = (cited ?? uncited).replace(/^[\s\-*•.]+/, '').trim();
      return { text, ids: [...(ids ?? '').matchAll(/\d+/g)].map(([id]) => Number(id)) };
    },
  );
  const found = said.filter(({ text }) => /\p{L}/u.test(text));
  const sentences = found.filter((one) => holds(one, messages)).slice(0, MOST_SENTENCES);
  return { sentences, dropped: found.length - sentences.length };
}

function holds({ text, ids }: CitingSentence, messages: readonly StoredMessage[]): boolean {
  const cited = ids.map((id) => messages.find((one) => one.id === id));
  const texts = cited.flatMap((stored) => (stored === undefined ? [] : [messageText(stored.message)]));
  return ids.length > 0 && texts.length === ids.length && missingValue(text, sourceValues(texts)) === undefined;
}
