// Owns the one static import of the OpenAI-compatible provider library, as a reader of answers: the request is ours and already on
// its way. Loaded while the endpoint thinks, not before. Knows no request.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { SdkStream } from './sdk-types.ts';

/** The parts of a streamed chat completion. Rejects with whatever `answer` rejects with. */
export async function readChatCompletion(answer: Promise<Response>, signal: AbortSignal): Promise<SdkStream> {
  const provider = createOpenAICompatible({
    name: 'openaiCompatible',
    // Never asked: the answer is handed over in place of a fetch.
    baseURL: 'http://sent.invalid',
    fetch: () => answer,
  });
  const { stream } = await provider.chatModel('sent').doStream({ prompt: [], abortSignal: signal });
  return stream;
}
