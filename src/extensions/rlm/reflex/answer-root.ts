// Owns the answer by rule to the root of `rlm ask` (`talaria.rlm.repl.v1`): code that searches, asks sub-calls and finishes with quotations.
// Invariant: total on any object; the code cites a handle for each sentence and writes no sentence of its own but a count.
import type { JsonObject } from '#base/json.ts';
import { countCode, countedPhrase } from './count-code.ts';
import { quoteCode } from './quote-code.ts';
import { fieldAt, objectsAt, textAt } from './read-fields.ts';

export function answerRoot(input: JsonObject): string {
  if (fieldAt(input, 'task') === 'final_answer') return JSON.stringify({ answer: quotedHandles(input) });
  const question = textAt(input, 'question');
  const failed = objectsAt(input, 'history').some((step) => textAt(step, 'failure') !== '');
  const phrase = failed ? null : countedPhrase(question);
  const code = phrase === null ? quoteCode(question, { withSubCalls: !failed }) : countCode(phrase);
  return ['```js', code, '```'].join('\n');
}

const MOST_QUOTED = 6;

/** No code runs any more: what handles hold whole is quoted. */
function quotedHandles(input: JsonObject): readonly JsonObject[] {
  return objectsAt(input, 'handles')
    .filter((handle) => fieldAt(handle, 'kind') === 'child' && !textAt(handle, 'text').endsWith('…'))
    .slice(-MOST_QUOTED)
    .map((handle) => ({ text: textAt(handle, 'text'), handles: [textAt(handle, 'id')] }));
}
