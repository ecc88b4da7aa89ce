// Owns the answer by rule to a sub-call of `rlm ask` (`talaria.rlm.sub.v1`): the passages of the piece that fit the question, as claims.
// Invariant: every claim stands in the piece; without a piece, or when nothing fits, there is none.
import type { JsonObject } from '#base/json.ts';
import { pickQuotes } from '../rank/pick-quotes.ts';
import { textAt } from '../read/read-fields.ts';
import { readQuestion } from '../read/read-question.ts';

export function answerSub(input: JsonObject): string {
  const quotes = pickQuotes(readQuestion(textAt(input, 'question')), textAt(input, 'piece'));
  const claims = quotes.map(({ text }) => ({ text }));
  return JSON.stringify({ answer: quotes.map(({ text }) => text).join('\n'), claims });
}
