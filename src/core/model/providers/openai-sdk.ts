// Owns the one static import of the OpenAI-compatible provider library, as a reader of answers: the request is ours and already on
// its way. Loaded while the endpoint thinks, not before. Knows no request. Invariant: each reader gets the answer that it brought.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { newId } from '#base/ids.ts';
import type { SdkStream } from './sdk-types.ts';

const TICKET = 'x-answer';
const answers = new Map<string, Promise<Response>>();

/** Made once: it compiles its schemas when it is made. It never asks anybody; the answer is handed over in place of a fetch. */
const reader = createOpenAICompatible({
  name: 'openaiCompatible',
  baseURL: 'http://sent.invalid',
  fetch: (_url, init) => {
    const ticket = String(new Map(Object.entries(init?.headers ?? {})).get(TICKET));
    const answer = answers.get(ticket) ?? Promise.reject(new Error('no answer was handed over'));
    answers.delete(ticket);
    return answer;
  },
}).chatModel('sent');

/** The parts of a streamed chat completion. Rejects with whatever `answer` rejects with. */
export async function readChatCompletion(answer: Promise<Response>, signal: AbortSignal): Promise<SdkStream> {
  const ticket = newId('answer');
  answers.set(ticket, answer);
  try {
    const { stream } = await reader.doStream({ prompt: [], abortSignal: signal, headers: { [TICKET]: ticket } });
    return stream;
  } finally {
    answers.delete(ticket);
  }
}
