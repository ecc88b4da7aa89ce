// Owns asking a model how ambiguous a request is and what it would ask back. Invariant: what is no number from 0 to 1 is no rating.
import { isJsonObject } from '#base/json.ts';
import { oneLine } from '#base/text.ts';
import type { InnerCall } from '../../call/inner-call.ts';
import type { ModelRating } from '../../run/prepare/ambiguity.ts';
import { extractJson } from '../../text/extract-json.ts';

export const RATE_SYSTEM_PROMPT =
  'You rate how ambiguous a request is. Reply with one JSON object and nothing else: {"ambiguity": NUMBER, "question": TEXT}: from 0 (clear) to 1 (nobody could tell what is wanted), and the one question that you would ask back.';

/** Characters. */
const LONGEST_QUESTION = 300;
const TIMEOUT_MS = 60_000;

export function ambiguityRater(
  inner: InnerCall,
  signal: AbortSignal,
): (request: string) => Promise<ModelRating | null> {
  return async (request) => {
    const prompt = JSON.stringify({ schema_version: 'talaria.rlm.rate_ambiguity.v1', request });
    const call = { call_id: 'rlm_call_rate_ambiguity', system: RATE_SYSTEM_PROMPT, prompt };
    const reply = await inner.call({ ...call, max_output_tokens: 256, timeout_ms: TIMEOUT_MS }, signal);
    const read = reply.ok ? extractJson(reply.value.completion) : null;
    if (!read?.ok || !isJsonObject(read.value)) return null;
    const { ambiguity: rating, question } = read.value;
    if (typeof rating !== 'number' || !(rating >= 0 && rating <= 1)) return null;
    return { rating, question: typeof question === 'string' ? oneLine(question, LONGEST_QUESTION) : '' };
  };
}
