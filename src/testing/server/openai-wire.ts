// Owns the answers of the scripted server in OpenAI's chat-completions event stream. Knows no HTTP.
import type { FinishReason } from '#core/model/model-client.ts';
import { argumentsText, replyChunks, SERVER_USAGE, type ServerAnswer } from './server-step.ts';

const FINISH: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  refusal: 'content_filter',
  other: 'unknown',
};

/** The events of a whole answer, each one complete with its blank line. The last two carry usage and `[DONE]`. */
export function openAiEvents(answer: ServerAnswer, model: string, nextId: () => string): readonly string[] {
  const base = { id: 'chatcmpl-scripted', object: 'chat.completion.chunk', created: 1_700_000_000, model };
  const chunk = (delta: object, finish: string | null = null) =>
    event({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] });
  const events = [chunk({ role: 'assistant', content: '' })];
  if (answer.reasoning) events.push(...pieces(answer.reasoning).map((text) => chunk({ reasoning_content: text })));
  for (const text of replyChunks(answer.reply)) events.push(chunk({ content: text }));
  for (const [index, call] of (answer.calls ?? []).entries()) {
    const text = argumentsText(call);
    const cut = Math.ceil(text.length / 2);
    const opening = { name: call.name, arguments: text.slice(0, cut) };
    events.push(chunk({ tool_calls: [{ index, id: call.callId ?? nextId(), type: 'function', function: opening }] }));
    events.push(chunk({ tool_calls: [{ index, function: { arguments: text.slice(cut) } }] }));
  }
  events.push(chunk({}, FINISH[answer.finish ?? (answer.calls?.length ? 'tool-calls' : 'stop')]));
  if (answer.usage !== null) events.push(event({ ...base, choices: [], usage: openAiUsage(answer) }));
  return [...events, 'data: [DONE]\n\n'];
}

function openAiUsage(answer: ServerAnswer): object {
  const usage = { ...SERVER_USAGE, ...answer.usage };
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

function pieces(text: string): readonly string[] {
  return text.match(/\S*\s*/g)?.filter((piece) => piece !== '') ?? [];
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
