// Owns the answers of the scripted server in Anthropic's messages event stream. Knows no HTTP.
import type { FinishReason } from '#core/model/model-client.ts';
import { argumentsText, replyChunks, SERVER_USAGE, type ServerAnswer } from './server-step.ts';

const STOP: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  refusal: 'refusal',
  other: 'pause_turn',
};

/** The events of a whole answer, each one complete with its blank line. The last two are `message_delta` and `message_stop`. */
export function anthropicEvents(answer: ServerAnswer, model: string, nextId: () => string): readonly string[] {
  const usage = { ...SERVER_USAGE, ...answer.usage };
  const counted = {
    input_tokens: usage.inputTokens - usage.cachedTokens - usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cachedTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    output_tokens: usage.outputTokens,
  };
  const message = { id: 'msg_scripted', type: 'message', role: 'assistant', model, content: [] };
  const start = { ...message, stop_reason: null, stop_sequence: null, usage: { ...counted, output_tokens: 1 } };
  const events = [event('message_start', { message: start })];
  for (const [index, block] of blocksOf(answer, nextId).entries()) {
    events.push(event('content_block_start', { index, content_block: block.start }));
    for (const delta of block.deltas) events.push(event('content_block_delta', { index, delta }));
    events.push(event('content_block_stop', { index }));
  }
  const reason = STOP[answer.finish ?? (answer.calls?.length ? 'tool-calls' : 'stop')];
  events.push(event('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage: counted }));
  return [...events, event('message_stop', {})];
}

interface Block {
  readonly start: object;
  readonly deltas: readonly object[];
}

function blocksOf(answer: ServerAnswer, nextId: () => string): readonly Block[] {
  const blocks: Block[] = [];
  if (answer.reasoning) {
    const signature = { type: 'signature_delta', signature: answer.signature ?? 'c2lnbmVk' };
    blocks.push({
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [{ type: 'thinking_delta', thinking: answer.reasoning }, signature],
    });
  }
  const chunks = replyChunks(answer.reply);
  if (chunks.length > 0) {
    blocks.push({ start: { type: 'text', text: '' }, deltas: chunks.map((text) => ({ type: 'text_delta', text })) });
  }
  for (const call of answer.calls ?? []) {
    const text = argumentsText(call);
    const cut = Math.ceil(text.length / 2);
    blocks.push({
      start: { type: 'tool_use', id: call.callId ?? nextId(), name: call.name, input: {} },
      deltas: [text.slice(0, cut), text.slice(cut)].map((json) => ({ type: 'input_json_delta', partial_json: json })),
    });
  }
  return blocks;
}

function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
